import Foundation
import InterceptorsTesting
import InterceptorsTransport
import Testing

/// A request to a server on loopback.
func makeRequest(
    _ server: MockServer,
    _ path: String = "/",
    _ method: HTTPRequest.Method = .get,
    fields: HTTPFields = [:],
    body: HTTPBody = .empty,
    responseBody: ResponseBodyMode = .buffered,
    timeouts: Timeouts? = nil
) throws -> HTTPRequest {
    let url = try #require(URL(string: server.url.absoluteString + path))
    var request = HTTPRequest(method: method, url: url, headers: fields, body: body)
    request.context.responseBody = responseBody
    request.context.timeouts = timeouts
    return request
}

/// The content of a response as text.
func content(of response: HTTPResponse) async throws -> String {
    String(decoding: try await response.body.collect(upTo: 64 << 20), as: UTF8.self)
}

/// The ``TransportError`` with which a call ends.
func failure(_ call: () async throws -> some Any) async throws -> TransportError {
    let error = await #expect(throws: TransportError.self) { _ = try await call() }
    return try #require(error)
}

/// These texts as chunks, followed by the end or an error.
func chunks(_ texts: String..., failure: (any Error)? = nil) -> AsyncThrowingStream<Data, any Error> {
    AsyncThrowingStream { continuation in
        for text in texts { continuation.yield(Data(text)) }
        continuation.finish(throwing: failure)
    }
}

extension Data {
    init(_ text: String) { self.init(text.utf8) }
}
