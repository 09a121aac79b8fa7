import Foundation
import InterceptorsTesting
import InterceptorsTransport
import Testing

func stubRequest(
    _ path: String = "/",
    _ method: HTTPRequest.Method = .get,
    body: HTTPBody = .empty
) throws -> HTTPRequest {
    HTTPRequest(method: method, url: try #require(URL(string: "https://api.example.com" + path)), body: body)
}

func stubText(_ response: HTTPResponse) async throws -> String {
    String(decoding: try await response.body.collect(upTo: 1 << 20), as: UTF8.self)
}

struct Offline: Error, Equatable {}
