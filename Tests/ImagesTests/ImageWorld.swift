import Foundation
import InterceptorsImages
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization

/// An image of these tests: the text of its content.
struct Picture: Sendable, Hashable {
    let text: String
}

struct NoPicture: Error {}

/// A variant with a property that changes the image.
struct Thumbnail: ImageVariant {
    let side: Int

    func image(from content: Data) throws -> Picture {
        Picture(text: String(decoding: content.prefix(side), as: UTF8.self))
    }
}

let base = URL(string: "https://img.example.com/v1")!

extension ImageLoader where Image == Picture {
    /// A loader of pictures, each of which costs the length of its text.
    convenience init(
        _ transport: any Transport,
        _ interceptors: [any Interceptor] = [],
        limit: Int = 1000,
        bodyLimit: Int = 1000,
        maxDecodings: Int = 2,
        decode: @escaping @Sendable (Data) throws -> Picture = { Picture(text: String(decoding: $0, as: UTF8.self)) }
    ) {
        self.init(
            Client(baseURL: base, interceptors: interceptors, transport: transport),
            limit: limit,
            bodyLimit: bodyLimit,
            maxDecodings: maxDecodings,
            decode: decode,
            cost: \.text.utf8.count
        )
    }
}

/// A server that answers each exchange with its path, when the test says so.
final class HeldServer: Transport {
    private struct Held: Sendable {
        let path: String
        let gate: Gate
        var isCancelled = false
        var isAnswered = false
    }

    private let held = Mutex<[Held]>([])
    private let arrivals = Tally()

    /// The paths of all requests, in order.
    var paths: [String] { held.withLock { $0.map(\.path) } }
    /// The numbers of the exchanges that were cancelled.
    var cancelled: [Int] { held.withLock { held in held.indices.filter { held[$0].isCancelled } } }
    /// The numbers of the exchanges that go on.
    var running: [Int] {
        held.withLock { held in held.indices.filter { !held[$0].isCancelled && !held[$0].isAnswered } }
    }

    /// Waits until this many requests have arrived.
    func reached(_ count: Int) async { await arrivals.reached(count) }

    func answer(_ number: Int) { held.withLock { $0[number].gate }.open() }

    func answerAll() { for gate in held.withLock({ $0.map(\.gate) }) { gate.open() } }

    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        let (path, url) = (request.url.path, request.url)
        let gate = Gate()
        let number = held.withLock { held in
            held.append(Held(path: path, gate: gate))
            return held.count - 1
        }
        arrivals.count()
        await gate.opened()
        let isCancelled = Task.isCancelled
        held.withLock { held in
            held[number].isCancelled = isCancelled
            held[number].isAnswered = !isCancelled
        }
        if isCancelled { throw CancellationError() }
        return HTTPResponse(status: 200, body: HTTPBody("\(number) \(path)"), url: url)
    }
}

/// A loader over a held server, whose tasks run in an order that a seed decides, on the test's thread.
struct ImageWorld {
    let server = HeldServer()
    let loader: ImageLoader<Picture>
    let queue: JobQueue

    init(seed: UInt64 = 0, limit: Int = 1000, decode: (@Sendable (Data) throws -> Picture)? = nil) throws {
        queue = try JobQueue(seed: seed)
        if let decode {
            loader = ImageLoader(server, limit: limit, decode: decode)
        } else {
            loader = ImageLoader(server, limit: limit)
        }
    }

    typealias Asker = Task<LoadedImage<Picture>, any Error>

    /// Asks for an image in a new task, without running it.
    func ask(_ path: String, as variant: (any ImageVariant<Picture>)? = nil) -> Asker {
        queue.enter { Task { [loader] in try await loader.image(at: RequestTarget(text: path), as: variant) } }
    }

    /// Runs every task as far as it gets.
    func run() { queue.runAll() }

    /// Cancels a task on the queue's thread.
    func cancel(_ asker: Asker) { queue.enter { asker.cancel() } }

    /// Lets the server answer, and runs every task.
    func answerAll() {
        queue.enter { server.answerAll() }
        queue.runAll()
    }

    /// Loads an image into memory.
    func fill(_ path: String) {
        _ = ask(path)
        run()
        answerAll()
    }
}
