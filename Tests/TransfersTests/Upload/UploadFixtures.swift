import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsUploadServer

@testable import InterceptorsTransfers

extension TimeSource {
    /// No wait between two attempts.
    static var hasty: TimeSource { .leaping }
}

extension UploadResuming {
    static var hastyDraft: Self { .draft.trying(time: .hasty) }
    static var hastyTus: Self { .tus.trying(time: .hasty) }
    static var bothProtocols: [Self] { [hastyDraft, hastyTus] }

    var isTus: Bool { kind == .tus }
}

/// Letters in a fixed order.
func uploadContent(_ count: Int) -> Data { Data((0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) }) }

/// Content in pieces of seven bytes, from any offset.
func piecewise(_ content: Data) -> HTTPBody {
    .seekable(length: Int64(content.count)) { offset in
        AsyncStream(Data.self) { continuation in
            var rest = content.dropFirst(Int(offset))
            while !rest.isEmpty {
                continuation.yield(Data(rest.prefix(7)))
                rest = rest.dropFirst(7)
            }
            continuation.finish()
        }
    }
}

extension Client {
    /// Uploads content in pieces of seven bytes.
    @discardableResult
    func uploadPieces(
        _ content: Data,
        method: HTTPRequest.Method = .post,
        resuming: UploadResuming,
        headers: HTTPFields = [:],
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> HTTPResponse {
        try await upload(
            .stream(piecewise(content), type: "text/plain"),
            to: "/files",
            method: method,
            resuming: resuming,
            headers: headers,
            progress: progress
        )
    }
}

/// A transport that sees the requests as a chain sends them.
struct InterceptingTransport: Transport {
    let answer: @Sendable (HTTPRequest) async throws -> HTTPResponse

    init(_ answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) { self.answer = answer }

    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse { try await answer(request) }
}

extension UploadServer {
    /// A client of this server without a network.
    func client(_ interceptors: [any Interceptor] = []) -> Client {
        Client(baseURL: URL(string: "https://api.example.com/v1"), interceptors: interceptors, transport: self)
    }

    static func lying(_ lie: Lie, faults: [Fault] = []) -> UploadServer {
        with(faults: faults) { $0.lie = lie }
    }

    static func with(faults: [Fault] = [], _ change: (inout Behavior) -> Void) -> UploadServer {
        var behavior = Behavior()
        change(&behavior)
        return UploadServer(behavior, faults: faults)
    }
}
