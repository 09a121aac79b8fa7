/// Sends one request and returns one response.
///
/// ## Choose one
/// ``PlatformTransport`` sends over the network on every platform; `StubTransport`, of the module `InterceptorsStubs`, answers in
/// memory, for tests. A chain of interceptors that ends in a transport is itself a transport.
///
/// ## Use one
/// Pass the transport to a client or a chain, or call it directly:
///
/// ```swift
/// let transport: some Transport = .platform()
/// let response = try await transport.send(HTTPRequest(url: url))
/// ```
///
/// ## Implement one
/// ```swift
/// struct EchoTransport: Transport {
///     func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
///         try request.validate()
///         return HTTPResponse(status: 200, body: request.body, url: request.url)
///     }
/// }
/// ```
/// An implementation must:
/// - call ``HTTPRequest/validate()`` before sending anything or opening a connection, and refuse requests it can't fulfill,
///   security settings first;
/// - follow no redirect, keep no cache, store no cookie, and retry only an idempotent request whose kept-alive connection was
///   closed before any byte of the response;
/// - report a truncated response as ``HTTPErrorCode/truncated``;
/// - decode the content codings it asked for, and then remove `Content-Encoding` and `Content-Length`;
/// - honor ``HTTPContext/timeouts`` and ``HTTPContext/responseBody``, or document the exceptions;
/// - call ``HTTPBody/discard()`` on the request's body if it starts reading the body and doesn't reach the end;
/// - set ``HTTPResponse/url``;
/// - set ``HTTPContext/trailers`` on the response and call ``HTTPContext/interim``, or document that it does neither;
/// - end each call exactly once, and a cancelled call immediately with `CancellationError`;
/// - throw ``TransportError`` for its own failures.
public protocol Transport: Sendable {
    /// Sends a request and returns its final response, whatever the status.
    ///
    /// - Throws: ``TransportError``, or `CancellationError` if the task is cancelled.
    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse
}
