import Foundation
import Interceptors
import Synchronization

// The interceptors of the article WritingInterceptors.md, unchanged.

// example: language
struct LanguageInterceptor: Interceptor {
    let language: String

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        request.headers[.acceptLanguage] = language
        return try await next(request)
    }
}
// end

// example: byteCount
struct ByteCountInterceptor: Interceptor {
    let count: @Sendable (Int) -> Void

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        var response = try await next(request)
        if let bytes = response.body.data {
            count(bytes.count)
        } else {
            response.body = response.body.wrapped(length: response.body.length) { [count] body in
                body.map { chunk in
                    count(chunk.count)
                    return chunk
                }
            }
        }
        return response
    }
}
// end

// example: unixLines
struct UnixLinesInterceptor: PlacedInterceptor {
    var placement: [ChainRole] { [.changesResponse] }

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        var response = try await next(request)
        let isBuffered = response.body.data != nil
        response.headers.remove(.contentLength)
        response.body = response.body.wrapped { UnixLines(body: $0) }
        if isBuffered { response.body = HTTPBody(try await response.body.collect(upTo: .max)) }
        return response
    }
}

struct UnixLines: AsyncSequence, Sendable {
    let body: HTTPBody

    func makeAsyncIterator() -> Iterator { Iterator(source: body.makeAsyncIterator()) }

    struct Iterator: AsyncIteratorProtocol {
        var source: HTTPBody.AsyncIterator
        var endsWithReturn = false  // a chunk may end between \r and \n

        mutating func next() async throws -> Data? {
            guard let chunk = try await source.next() else {
                defer { endsWithReturn = false }
                return endsWithReturn ? Data("\r".utf8) : nil
            }
            var result = Data()
            for byte in chunk {
                if endsWithReturn, byte != 10 { result.append(13) }
                endsWithReturn = byte == 13
                if byte != 13 { result.append(byte) }
            }
            return result
        }
    }
}
// end

// example: pace
final class PaceInterceptor: PlacedInterceptor {
    private struct Line {
        var nextStart = Duration.zero
        var lastID = 0
        var waiting: [(id: Int, turn: AsyncStream<Void>.Continuation)] = []
    }

    private let interval: Duration
    private let time: TimeSource
    private let elapsed: @Sendable () -> Duration
    private let line = Mutex(Line())

    var placement: [ChainRole] { [.limitsRate, .waits, .keepsOrder] }

    init(every interval: Duration, time: TimeSource = .system) {
        self.interval = interval
        self.time = time
        elapsed = time.startMeasuring()
    }

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await waitForStart()
        return try await next(request)
    }

    private func waitForStart() async throws {
        let (isFirst, turn) = AsyncStream<Void>.makeStream()
        let (id, first) = line.withLock { line in
            line.lastID += 1
            line.waiting.append((line.lastID, turn))
            return (line.lastID, line.waiting.first?.turn)
        }
        first?.finish()
        defer { leave(id) }  // also when the call is cancelled
        for await _ in isFirst {}  // ends when this call is the first, or is cancelled
        try Task.checkCancellation()
        let wait = line.withLock(\.nextStart) - elapsed()
        if wait > .zero { try await time.clock.sleep(for: wait) }
        line.withLock { $0.nextStart = elapsed() + interval }
    }

    private func leave(_ id: Int) {
        let first = line.withLock { line in
            line.waiting.removeAll { $0.id == id }
            return line.waiting.first?.turn
        }
        first?.finish()
    }
}
// end

// example: doorKey
struct DoorKeyInterceptor: PlacedInterceptor, CustomStringConvertible {
    let user: String?  // nil while nobody is signed in
    let key: String
    let origin: Origin  // Origin(url)

    var placement: [ChainRole] { [.addsCredentials(in: "X-Door")] }
    var description: String { "doorKey" }  // a struct's own description would show the key

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        try request.identifyCaller(by: "doorKey", as: user)  // by: this interceptor; as: the user
        if user != nil, Origin(request.url) == origin { request.headers["X-Door"] = key }
        return try await next(request)
    }
}
// end
