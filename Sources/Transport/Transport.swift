/// Sends one request and gives one response.
///
/// ## Choose one
/// ``URLSessionTransport`` sends over the network, on every platform; ``StubTransport`` answers in memory, for tests. A
/// chain of interceptors that ends in a transport is itself one.
///
/// ## Use one
/// Hand it to a client or a chain, or call it:
///
/// ```swift
/// let transport = URLSessionTransport()
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
/// An implementation promises:
/// - to call ``HTTPRequest/validate()`` before it sends anything or opens a connection, and to refuse what it can't do,
///   security settings first;
/// - to follow no redirect, keep no cache, store no cookie, and to retry nothing but an idempotent request that met a
///   kept-alive connection closed before any byte of the response;
/// - to report a truncated response as ``TransportError/Code/truncated``;
/// - to decode the content codings that it asked for, and then to remove `Content-Encoding` and `Content-Length`;
/// - to honour ``HTTPContext/timeouts`` and ``HTTPContext/responseBody``, or to document what it doesn't;
/// - to call ``HTTPBody/discard()`` on the request's body if it has begun to read it and doesn't come to its end;
/// - to set ``HTTPResponse/url``;
/// - to end each call once, and a cancelled one at once with `CancellationError`;
/// - to throw ``TransportError`` for its own failures.
public protocol Transport: Sendable {
    /// Sends a request and gives its final response, whatever the status.
    ///
    /// - Throws: ``TransportError``, or `CancellationError` if the task is cancelled.
    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse
}
