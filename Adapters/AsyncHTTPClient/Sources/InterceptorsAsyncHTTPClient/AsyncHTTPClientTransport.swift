public import AsyncHTTPClient
internal import Foundation
public import Interceptors
public import NIOCore

/// Sends requests with AsyncHTTPClient, on SwiftNIO.
///
/// ```swift
/// let client = Client(baseURL: url, interceptors: chain, transport: .asyncHTTPClient())
/// ```
/// A transport has a client with its connections: make one and share it. It ends its connections when nothing refers to it and
/// no streamed body is being read; ``shutDown()`` ends them at once.
///
/// ## Settings
/// The closure `configure` changes the client's configuration, for example its TLS, its proxy and the size of its pool. The
/// transport then sets what its promises need: no redirects are followed, nothing is decompressed, a connection that can't be
/// made isn't tried again, and AsyncHTTPClient's own time limits are off, because the transport has its own. AsyncHTTPClient's
/// spans are off unless the closure sets a tracer.
///
/// ## Time limits
/// The ``Timeouts`` of the request's context apply, otherwise the transport's, measured by the clock of its `time`. `connect` ends
/// when the request gets an HTTP/1 connection or, over HTTP/2, with the first byte sent or received. A connection attempt goes on
/// for up to ten minutes after its call ended.
///
/// ## Requests
/// - A request is sent again if the kept-alive HTTP/1 connection it was sent on was closed before any byte of the response, and
///   its method is idempotent or it has an `Idempotency-Key`. AsyncHTTPClient doesn't tell whether an HTTP/2 connection was used
///   before, so there such a request fails with ``HTTPErrorCode/connectionLost``.
/// - A request without `Accept-Encoding` asks for `identity`, because AsyncHTTPClient doesn't report compressed content that ends
///   too soon. With the field, content arrives as it was sent.
/// - `CONNECT`, and `TRACE` with content, fail with ``HTTPErrorCode/unsupported``. `Expect: 100-continue` is sent, but the
///   content doesn't wait for the answer.
///
/// ## Responses
/// - Bodies stream both ways with backpressure: about one chunk waits for its reader.
/// - SwiftNIO replaces bytes of a field that aren't UTF-8, gives a known status its registered phrase, and limits the head of a
///   response to 80 KB. Trailer fields are dropped.
/// - The response has ``HTTPContext/connection`` with the HTTP version, but no ``HTTPContext/timings``.
///
/// ## TLS
/// The settings are NIOSSL's, in `configure`. ``TLSConfiguration`` of this package can't be passed, so none of it can be ignored:
/// for pins, use `CurlTransport` or `URLSessionTransport`.
public final class AsyncHTTPClientTransport: Transport {
    private let engine: Engine
    private let timeouts: Timeouts
    private let time: TimeSource

    /// Creates a transport with a new client. No connection is made.
    ///
    /// - Parameters:
    ///   - eventLoopGroup: runs the connections.
    ///   - timeouts: the time limits for requests whose context sets none; by default a silence of 60 seconds.
    ///   - time: its clock measures the time limits.
    ///   - configure: changes the configuration of the client.
    public init(
        eventLoopGroup: any EventLoopGroup = HTTPClient.defaultEventLoopGroup,
        timeouts: Timeouts = Timeouts(),
        time: TimeSource = .system,
        configure: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) {
        engine = Engine(eventLoopGroup, configure)
        self.timeouts = timeouts
        self.time = time
    }

    /// Sends a request and returns its response.
    ///
    /// - Throws: ``TransportError``, or `CancellationError` at once when the task is cancelled.
    public func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        let request = request
        try request.validate()
        guard request.body.isReadable else { throw TransportError.bodyNotReplayable(request: request) }
        guard request.method != .connect, request.method != .trace || request.body.isEmpty else {
            throw TransportError(
                .unsupported,
                "AsyncHTTPClient can't send CONNECT, nor TRACE with content.",
                request: request
            )
        }
        try Task.checkCancellation()
        let exchange = Exchange(request, engine, request.context.timeouts ?? timeouts, time)
        exchange.start()
        let head = try await exchange.head()
        guard let status = HTTPResponse.Status(head) else {
            exchange.end(.failure(CancellationError()))
            let message = "\(head.status) is not the status of a response."
            throw TransportError(.invalidResponse, message, request: request)
        }
        var response = HTTPResponse(status: status, headers: HTTPFields(head.headers), url: request.url)
        response.context.connection = HTTPConnectionInfo(httpVersion: HTTPVersion(head.version))
        response.body = try await body(of: head, exchange, request)
        return response
    }

    private func body(of head: ResponseHead, _ exchange: Exchange, _ request: HTTPRequest) async throws -> HTTPBody {
        let length = head.contentLength(answering: request.method)
        // The exchange goes on to its end by itself, so that its connection can be used again.
        if length == 0 { return .empty }
        let chunks = ResponseChunks(exchange: exchange)
        let stream = HTTPBody.oneShot(chunks) { exchange.end(.failure(CancellationError())) }
        guard let limit = request.context.responseBody.bufferLimit else {
            return length.map { .oneShot(stream, length: $0) } ?? stream
        }
        do {
            if let length, length > Int64(limit) { throw tooLarge(limit) }
            var bytes = Data()
            bytes.reserveCapacity(Int(min(length ?? 0, 1 << 20)))
            for try await chunk in stream {
                guard chunk.count <= limit - bytes.count else { throw tooLarge(limit) }
                bytes.append(chunk)
            }
            return HTTPBody(bytes)
        } catch {
            stream.discard()
            throw error
        }
        func tooLarge(_ limit: Int) -> TransportError {
            TransportError(.bodyTooLarge, "The body is longer than the limit of \(limit) bytes.", request: request)
        }
    }

    /// Shuts the transport down: each call in flight fails, and all connections end. Later calls fail.
    public func shutDown() async { await engine.shutDown() }
}

extension Transport where Self == AsyncHTTPClientTransport {
    /// Sends over the network with AsyncHTTPClient: see ``AsyncHTTPClientTransport``.
    public static func asyncHTTPClient(
        eventLoopGroup: any EventLoopGroup = HTTPClient.defaultEventLoopGroup,
        timeouts: Timeouts = Timeouts(),
        time: TimeSource = .system,
        configure: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) -> Self {
        Self(eventLoopGroup: eventLoopGroup, timeouts: timeouts, time: time, configure: configure)
    }
}
