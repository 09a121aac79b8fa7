import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization

@testable import InterceptorsTransfers

let apiURL = URL(string: "https://api.example.com/v1")!
let filmURL = URL(string: "https://api.example.com/v1/film")!

/// Receives ends, as an app does.
final class EndList: Sendable {
    private let list = Mutex<[BackgroundTransfer.End]>([])
    private let tally = Tally()

    var ends: [BackgroundTransfer.End] { list.withLock { $0 } }

    func add(_ end: BackgroundTransfer.End) {
        list.withLock { $0.append(end) }
        tally.count()
    }

    /// Waits until this many ends were delivered.
    func reached(_ count: Int) async -> [BackgroundTransfer.End] {
        await tally.reached(count)
        return ends
    }
}

/// The app's side of a test: a folder, and one object for each launch.
final class TransferWorld: Sendable {
    let folder: TemporaryFolder
    let identifier = UUID().uuidString
    let stub = StubTransport()
    let ends = EndList()
    let problems = Mutex<[any Error]>([])

    init() throws { folder = try TemporaryFolder() }

    var records: URL { folder.file("records") }
    var file: URL { folder.file("film.mp4") }

    /// The names of the files in the folder of the records.
    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: records.path).sorted()) ?? [] }

    /// The content of the destination.
    var content: String? { (try? Data(contentsOf: file)).map { String(decoding: $0, as: UTF8.self) } }

    func launch(
        _ interceptors: [any Interceptor] = [],
        over transport: (any Transport)? = nil,
        maxTransfers: Int = 4,
        maxAttempts: Int = 3,
        renewing: (@Sendable (BackgroundTransfer.End) async throws -> HTTPRequest?)? = nil,
        onEnd: (@Sendable (BackgroundTransfer.End) async -> Void)? = nil
    ) throws -> BackgroundTransfers {
        try BackgroundTransfers(
            identifier,
            preparing: Client(baseURL: apiURL, interceptors: interceptors, transport: stub),
            session: .inProcess(over: transport, maxTransfers: maxTransfers),
            folder: records,
            maxAttempts: maxAttempts,
            renewing: renewing,
            report: { [self] problem in problems.withLock { $0.append(problem) } },
            onEnd: { [self] end in
                await onEnd?(end)
                ends.add(end)
            }
        )
    }
}

/// Answers nothing until the test says so.
final class HeldTransport: Transport {
    let arrivals = Tally()
    private let gate = Gate()

    func answer() { gate.open() }

    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        let url = request.url
        arrivals.count()
        await gate.opened()
        try Task.checkCancellation()
        return HTTPResponse(status: 200, body: "held", url: url)
    }
}

func request(_ url: URL = filmURL, _ method: HTTPRequest.Method = .get, _ body: HTTPBody = .empty) -> HTTPRequest {
    HTTPRequest(method: method, url: url, body: body)
}
