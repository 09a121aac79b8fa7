public import Foundation

/// The answer of a ``StubTransport`` to one request.
///
/// ```swift
/// .json(#"{"id":42}"#)
/// .json(#"{"error":"busy"}"#, status: 503, headers: [.retryAfter: "2"]).delayed(by: .seconds(1))
/// .failure(TransportError(.timedOut, "Silence."))
/// ```
/// The factories have the names and the labels of `MockResponse`, the answer of the module `TransportTesting`'s server. Fields
/// in `headers:` replace the `Content-Type` that a factory would add.
public struct StubAnswer: Sendable {
    typealias Make = @Sendable (_ request: HTTPRequest, _ pace: StubPace) async throws -> HTTPResponse

    let make: Make
    private(set) var delay: Duration = .zero
    let summary: String

    init(_ summary: String, make: @escaping Make) {
        self.summary = summary
        self.make = make
    }

    /// This answer after an additional wait on the transport's clock.
    ///
    /// The wait ends early if the task is cancelled or a time limit of the request passes.
    public func delayed(by duration: Duration) -> Self {
        var answer = self
        answer.delay += duration
        return answer
    }
}

extension StubAnswer {
    /// A response with a status and, if given, fields and content.
    ///
    /// - Parameters:
    ///   - status: the status.
    ///   - headers: the fields.
    ///   - body: nothing, bytes, a file or a stream.
    public static func status(
        _ status: HTTPResponse.Status,
        headers: HTTPFields = [:],
        body: HTTPBody = .empty
    ) -> Self {
        Self("\(status), \(body)") { _, _ in HTTPResponse(status: status, headerFields: headers, body: body) }
    }

    /// A response with text in UTF-8, of the type `text/plain; charset=utf-8`.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - status: the status.
    ///   - headers: the fields, which take precedence over a factory's `Content-Type`.
    public static func text(
        _ text: String,
        status: HTTPResponse.Status = 200,
        headers: HTTPFields = [:]
    ) -> Self {
        data(Data(text.utf8), contentType: "text/plain; charset=utf-8", status: status, headers: headers)
    }

    /// A response with JSON text, sent exactly as given. The text isn't parsed, so it may be malformed on purpose.
    ///
    /// - Parameters:
    ///   - text: the JSON text.
    ///   - status: the status.
    ///   - headers: the fields, which take precedence over a factory's `Content-Type`.
    public static func json(
        _ text: String,
        status: HTTPResponse.Status = 200,
        headers: HTTPFields = [:]
    ) -> Self {
        data(Data(text.utf8), contentType: "application/json", status: status, headers: headers)
    }

    /// A response with a value encoded as JSON. The value is encoded immediately; if that fails, the answered request throws
    /// the encoder's error.
    ///
    /// - Parameters:
    ///   - value: the value to encode.
    ///   - encoder: the encoder. By default it sorts keys, so that the bytes are the same each time.
    ///   - status: the status.
    ///   - headers: the fields, which take precedence over a factory's `Content-Type`.
    public static func json(
        encoding value: some Encodable,
        encoder: JSONEncoder? = nil,
        status: HTTPResponse.Status = 200,
        headers: HTTPFields = [:]
    ) -> Self {
        do {
            let bytes = try StubContent.json(value, encoder)
            return data(bytes, contentType: "application/json", status: status, headers: headers)
        } catch {
            return failure(error)
        }
    }

    /// A response with bytes. It has a `Content-Type` only if one is given.
    ///
    /// - Parameters:
    ///   - bytes: the content.
    ///   - contentType: the media type, if any.
    ///   - status: the status.
    ///   - headers: the fields, which take precedence over a factory's `Content-Type`.
    public static func data(
        _ bytes: Data,
        contentType: String? = nil,
        status: HTTPResponse.Status = 200,
        headers: HTTPFields = [:]
    ) -> Self {
        Self.status(status, headers: StubContent.fields(headers, contentType), body: HTTPBody(bytes))
    }

    /// A response with the content of a file, read when a request is answered. If the file can't be read, the request fails
    /// with ``HTTPErrorCode/unreadableFile``.
    ///
    /// - Parameters:
    ///   - url: the file's URL.
    ///   - contentType: the media type. By default derived from a common file extension, and otherwise left out.
    ///   - status: the status.
    ///   - headers: the fields, which take precedence over a factory's `Content-Type`.
    public static func file(
        _ url: URL,
        contentType: String? = nil,
        status: HTTPResponse.Status = 200,
        headers: HTTPFields = [:]
    ) -> Self {
        let fields = StubContent.fields(headers, contentType ?? StubContent.type(of: url))
        return Self("\(status), file \(url.lastPathComponent)") { _, _ in
            HTTPResponse(status: status, headerFields: fields, body: try HTTPBody(file: url))
        }
    }

    /// A response with content of unknown length in chunks, as a server would stream it.
    ///
    /// - Parameters:
    ///   - chunks: the chunks of a streamed response. A buffered response joins them.
    ///   - pause: the wait before each chunk after the first, on the transport's clock. To wait before the first too, begin
    ///     with an empty chunk.
    ///   - error: an error after the last chunk, in place of the content's normal end, such as
    ///     ``HTTPErrorCode/truncated``.
    ///   - status: the status.
    ///   - headers: the fields.
    public static func stream(
        _ chunks: [Data],
        every pause: Duration? = nil,
        thenFailing error: (any Error)? = nil,
        status: HTTPResponse.Status = 200,
        headers: HTTPFields = [:]
    ) -> Self {
        Self("\(status), a stream of \(chunks.count) chunks") { _, pace in
            let stream = StubChunks(chunks: chunks, pause: pause ?? .zero, failure: error, pace: pace)
            return HTTPResponse(status: status, headerFields: headers, body: .restartable { stream })
        }
    }

    /// An error instead of a response. The call throws it unchanged.
    public static func failure(_ error: any Error) -> Self {
        Self("failure \(type(of: error))") { _, _ in throw error }
    }

    /// Neither a response nor an error: the call waits until it is cancelled or a time limit of its request passes.
    public static var neverAnswer: Self {
        Self("never") { _, pace in
            try await pace.limit {
                let (silence, end) = AsyncStream.makeStream(of: Never.self)
                defer { end.finish() }
                for await _ in silence {}
                throw CancellationError()
            }
        }
    }

    /// The response or error of a closure, which is called for each request that is answered.
    ///
    /// If the request's time limit passes or the call is cancelled, the task that runs the closure is cancelled.
    public static func answer(_ body: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) -> Self {
        Self("a closure") { request, pace in try await pace.limit { try await body(request) } }
    }

    /// The answer that a closure chooses for each request.
    static func choosing(_ choose: @escaping @Sendable (HTTPRequest) async throws -> StubAnswer) -> Self {
        Self("a closure") { request, pace in
            var pace = pace
            let answer = try await pace.limit { try await choose(request) }
            try await pace.wait(answer.delay)
            return try await answer.make(request, pace)
        }
    }
}

/// The waits of one exchange, on its transport's clock and within its request's time limits.
struct StubPace: Sendable {
    let clock: any Clock<Duration>
    let timeouts: Timeouts?
    let request: HTTPRequest
    private var elapsed: Duration = .zero

    init(clock: any Clock<Duration>, request: HTTPRequest) {
        self.clock = clock
        self.timeouts = request.context.timeouts
        self.request = request
    }

    private var limit: Duration? {
        [timeouts?.idle, timeouts?.total.map { $0 - elapsed }].compactMap(\.self).min()
    }

    mutating func wait(_ duration: Duration) async throws {
        guard duration > .zero else { return }
        if let limit, limit < duration { try await end(after: limit) }
        try await clock.sleep(for: duration)
        elapsed += duration
    }

    /// Returns the closure's value, unless a time limit passes first.
    func limit<Value: Sendable>(_ make: @escaping @Sendable () async throws -> Value) async throws -> Value {
        guard let limit else { return try await make() }
        return try await withThrowingTaskGroup(of: Value.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await make() }
            group.addTask { try await end(after: limit) }
            while let value = try await group.next() { return value }
            throw CancellationError()
        }
    }

    private func end(after limit: Duration) async throws -> Never {
        try await clock.sleep(for: max(.zero, limit))
        throw TransportError(
            .timedOut,
            "The stub's answer takes longer than the request's time limit.",
            request: request
        )
    }
}

/// Chunks with a wait between them.
private struct StubChunks: AsyncSequence, Sendable {
    let chunks: [Data]
    let pause: Duration
    let failure: (any Error)?
    let pace: StubPace

    func makeAsyncIterator() -> Iterator { Iterator(stream: self, pace: pace) }

    struct Iterator: AsyncIteratorProtocol {
        let stream: StubChunks
        var pace: StubPace
        var index = 0

        mutating func next() async throws -> Data? { try await next(isolation: #isolation) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
            try Task.checkCancellation()
            guard index < stream.chunks.count else {
                if let failure = stream.failure { throw failure }
                return nil
            }
            if index > 0 { try await pace.wait(stream.pause) }
            index += 1
            return stream.chunks[index - 1]
        }
    }
}
