#if os(Linux)
internal import CInterceptorsCurl
internal import Foundation
internal import Synchronization

/// Owns the loops and the settings of one transport. Streamed bodies keep the engine alive beyond the transport.
final class CurlEngine: Sendable {
    /// The loop for every request that ``http1Loop()`` isn't for.
    let loop: CurlLoop
    private let http1 = Mutex<(loop: CurlLoop?, isStopped: Bool)>((nil, false))
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
        loop = try Self.makeLoop(configuration, tls, configuration.time.stopwatch())
    }

    private static func makeLoop(
        _ configuration: CurlTransport.Configuration,
        _ tls: CurlTLS,
        _ clock: Stopwatch
    ) throws -> CurlLoop {
        let sockets = OpenSockets()
        let pool = EasyHandlePool { easy in
            setCommon(easy, configuration)
            sockets.use(in: easy)
            tls.prepare(easy)
        }
        return try CurlLoop(limits: configuration.connectionLimits, clock: clock, pool: pool, sockets: sockets)
    }

    /// The loop whose connections speak HTTP/1.1 only, made when it is first needed. It has another multi handle, because
    /// libcurl may send a request for HTTP/1.1 over a kept HTTP/2 connection, and remembers one version for each host.
    private func http1Loop() throws -> CurlLoop {
        try http1.withLock { http1 in
            if let loop = http1.loop { return loop }
            guard !http1.isStopped else { throw TransportError.shutDown }
            var configuration = configuration
            configuration.versions = .http1
            let made = try Self.makeLoop(configuration, tls, loop.clock)
            http1.loop = made
            return made
        }
    }

    private func loop(for request: HTTPRequest) throws -> CurlLoop {
        try configuration.versions.mayShare(request) ? loop : http1Loop()
    }

    private var allLoops: [CurlLoop] { [loop] + http1.withLock { $0.loop.map { [$0] } ?? [] } }

    /// Makes the threads end every transfer and then themselves. Returns at once; see ``ended()``.
    func stop() {
        http1.withLock { $0.isStopped = true }
        for loop in allLoops { loop.stop() }
    }

    /// Returns when the threads have ended.
    func ended() async {
        for loop in allLoops { await loop.ended() }
    }

    func retain() { users.withLock { $0 += 1 } }

    /// Ends one use, by the transport or by a streamed body. The last one stops the loop.
    func release() {
        let isLast = users.withLock { users in
            users -= 1
            return users == 0
        }
        if isLast { stop() }
    }

    /// Sends a request and returns its response.
    ///
    /// A second exchange follows in two cases, if the body can be read again: after a 417, without the expectation (RFC 9110
    /// §15.5.18); and after each connection that libcurl tried turned out to be ending, for a request that may be repeated.
    /// Another one follows if libcurl chose a retired connection, on which nothing was sent.
    func response(to request: HTTPRequest) async throws -> HTTPResponse {
        let start = loop.clock.elapsed()
        var (request, calledAt, hasStartedOver, isAfresh) = (request, nil as Duration?, false, false)
        var loop = try loop(for: request)
        while true {
            do {
                let response = try await exchange(request, on: loop, calledAt: calledAt, isAfresh: isAfresh)
                guard response.status == 417, request.expectsContinue, request.body.isRestartable else {
                    return response
                }
                response.body.discard()
                request.headers.remove(.expect)
                isAfresh = true
            } catch let error as TransportError where error.code == .staleConnection {
                guard request.canBeSentAgain, !hasStartedOver else { throw error }
                (hasStartedOver, isAfresh) = (true, true)
            } catch let error as TransportError where error.code == .retiredConnection {
                // HTTP/1.1 may have a kept connection. A caller who insists on HTTP/2 gets a new one.
                if configuration.versions == .negotiated, loop === self.loop {
                    loop = try http1Loop()
                } else {
                    isAfresh = true
                }
            }
            calledAt = start
        }
    }

    /// - Parameters:
    ///   - calledAt: the start of the call, if this is not its first exchange. The limit of the whole call counts from this time.
    ///   - isAfresh: whether the exchange must use a new connection.
    private func exchange(
        _ request: HTTPRequest,
        on loop: CurlLoop,
        calledAt: Duration?,
        isAfresh: Bool
    ) async throws -> HTTPResponse {
        guard request.body.isReadable else { throw TransportError.bodyNotReplayable(request: request) }
        // The body is announced as empty and sent without reading. A file may have grown and a stream may have bytes after
        // all, so check.
        try await request.checkEmptySource(within: timeouts(of: request), on: loop.clock)
        let transfer = try makeTransfer(request, on: loop, calledAt: calledAt, isAfresh: isAfresh)
        transfer.upload?.begin(request.body) { [loop, weak transfer] in
            if let transfer { loop.send(.unpause(transfer)) }
        }
        let reply = try await reply(of: transfer, on: loop, to: request.url, interim: request.context.interim)
        return try response(from: reply, to: request)
    }

    // The closure for interim heads runs on this task. Called by the loop's thread, it could run after the call was cancelled.
    private func reply(
        of transfer: CurlTransfer,
        on loop: CurlLoop,
        to url: URL,
        interim: (@Sendable (HTTPResponse) -> Void)?
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
                    guard let head = WireHead(parsing: bytes), head.status.isInterim else { continue }
                    interim?(HTTPResponse(status: head.status, headers: head.fields, url: url))
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
            headers: head.fields,
            body: reply.body,
            url: request.url
        )
        response.context.setFacts(reply.timings, reply.connection, reply.trailers)
        return response
    }
}

extension HTTPRequest {
    /// Whether the content is sent only after the server has asked for it (RFC 9110 §10.1.1).
    var expectsContinue: Bool {
        guard !body.isEmpty, headers.contains(.expect) else { return false }
        return headers[values: .expect].contains { $0.lowercased().contains("100-continue") }
    }

    /// Whether a second sending has the effect of one (RFC 9110 §9.2.2).
    var isRepeatable: Bool { method.isIdempotent || headers.contains(.idempotencyKey) }

    fileprivate var canBeSentAgain: Bool { isRepeatable && body.isRestartable }
}
#endif
