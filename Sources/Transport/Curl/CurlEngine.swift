#if os(Linux)
internal import CCurl
internal import Foundation
internal import Synchronization

/// Owns the loop, the spare handles and the settings of one transport. Streamed bodies keep the engine alive beyond the
/// transport.
final class CurlEngine: Sendable {
    let loop: CurlLoop
    let pool: EasyHandlePool
    private let sockets = OpenSockets()
    let blocks = BlockPool()
    let configuration: CurlTransport.Configuration
    let tls: CurlTLS
    private let users = Mutex(1)

    init(_ configuration: CurlTransport.Configuration, load: CurlLibrary.Loader) throws {
        try load()
        let tls = try CurlTLS(configuration.tls)
        self.tls = tls
        var configuration = configuration
        // libcurl would otherwise look up each proxy variable for each request.
        if configuration.proxy == .environment, !CurlTransport.Proxy.environmentNamesAny { configuration.proxy = .none }
        try configuration.proxy.check()
        self.configuration = configuration
        pool = EasyHandlePool { [configuration, sockets] easy in
            Self.setCommon(easy, configuration)
            sockets.use(in: easy)
            tls.prepare(easy)
        }
        loop = try CurlLoop(
            limits: configuration.connectionLimits,
            clock: configuration.time.stopwatch(),
            pool: pool,
            sockets: sockets
        )
    }

    func retain() { users.withLock { $0 += 1 } }

    /// Ends one use, by the transport or by a streamed body. The last one stops the loop.
    func release() {
        let isLast = users.withLock { users in
            users -= 1
            return users == 0
        }
        if isLast { loop.stop() }
    }

    /// Sends a request and returns its response.
    ///
    /// A second exchange follows in two cases, if the body can be read again: after a 417, without the expectation (RFC 9110
    /// §15.5.18); and after each connection that libcurl tried turned out to be ending, for a request that may be repeated.
    func response(to request: HTTPRequest) async throws -> HTTPResponse {
        let start = loop.clock.elapsed()
        var (request, calledAt, hasStartedOver) = (request, nil as Duration?, false)
        while true {
            do {
                let response = try await exchange(request, againSince: calledAt)
                guard response.status == 417, request.expectsContinue, request.body.isRestartable else {
                    return response
                }
                response.body.discard()
                request.headerFields.remove(.expect)
            } catch let error as TransportError where error.code == .staleConnection {
                guard request.canBeSentAgain, !hasStartedOver else { throw error }
                hasStartedOver = true
            }
            calledAt = start
        }
    }

    /// - Parameter calledAt: the start of the call, if this is not its first exchange. The exchange then uses a new
    ///   connection, and the limit of the whole call counts from this time.
    private func exchange(_ request: HTTPRequest, againSince calledAt: Duration?) async throws -> HTTPResponse {
        guard request.body.isReadable else { throw TransportError.bodyNotReplayable(request: request) }
        // The body is announced as empty and sent without reading, unless trailers follow. A file may have grown and a stream
        // may have bytes after all, so check.
        if request.context.requestTrailers == nil {
            try await request.checkEmptySource(within: timeouts(of: request), on: loop.clock)
        }
        let transfer = try makeTransfer(request, calledAt: calledAt)
        transfer.upload?.begin(request.body) { [loop, weak transfer] in
            if let transfer { loop.send(.unpause(transfer)) }
        }
        return try response(
            from: try await reply(of: transfer, to: request.url, interim: request.context.interim),
            to: request
        )
    }

    // The closure for interim heads runs on this task. Called by the loop's thread, it could run after the call was cancelled.
    private func reply(
        of transfer: CurlTransfer,
        to url: URL,
        interim: (@Sendable (InterimResponse) -> Void)?
    ) async throws -> CurlReply {
        try await withTaskCancellationHandler {
            // CurlTransfer resumes each continuation exactly once: its mutex hands the continuation to one caller only.
            var reply: CurlReply? = try await withUnsafeThrowingContinuation { continuation in
                transfer.setContinuation(continuation)
                loop.send(.start(transfer))
            }
            while true {
                if let reply { return reply }
                for bytes in transfer.takeInterims() {
                    try Task.checkCancellation()
                    guard var head = InterimResponse(parsing: bytes) else { continue }
                    head.url = url
                    interim?(head)
                }
                reply = try await withUnsafeThrowingContinuation { transfer.setContinuation($0) }
            }
        } onCancel: {
            // The caller continues at once. The loop closes the connection when it reads the command.
            transfer.finish(.failure(CancellationError()))
            loop.send(.cancel(transfer))
        }
    }

    private func response(from reply: CurlReply, to request: HTTPRequest) throws -> HTTPResponse {
        guard var head = WireHead(parsing: reply.head) else {
            reply.body.discard()
            throw TransportError(.invalidResponse, "The head of the response can't be read.")
        }
        if reply.isDecoded {
            head.fields.remove(.contentEncoding)
            head.fields.remove(.contentLength)
        }
        var response = HTTPResponse(
            status: head.status,
            headerFields: head.fields,
            body: reply.body,
            url: request.url
        )
        response.context.setFacts(reply.timings, reply.connection, reply.trailers)
        return response
    }
}

extension InterimResponse {
    /// Reads a head from the wire. Returns `nil` if it has no status line, or a status that isn't interim.
    fileprivate init?(parsing bytes: [UInt8]) {
        guard let head = WireHead(parsing: bytes) else { return nil }
        self.init(status: head.status, headerFields: head.fields)
    }
}

extension HTTPRequest {
    /// Whether the content is sent only after the server has asked for it (RFC 9110 §10.1.1).
    var expectsContinue: Bool {
        guard !body.isEmpty, headerFields.contains(.expect) else { return false }
        return headerFields[values: .expect].contains { $0.lowercased().contains("100-continue") }
    }

    /// Whether a second sending has the effect of one (RFC 9110 §9.2.2).
    var isRepeatable: Bool { method.isIdempotent || headerFields.contains(.idempotencyKey) }

    fileprivate var canBeSentAgain: Bool { isRepeatable && body.isRestartable }
}
#endif
