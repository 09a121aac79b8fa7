internal import AsyncHTTPClient
internal import Foundation
internal import Interceptors
internal import NIOHTTP1

extension HTTPClientRequest {
    init(_ request: HTTPRequest, _ upload: Upload) {
        self.init(url: String(request.url.absoluteString.prefix { $0 != "#" }))
        method = HTTPMethod(rawValue: request.method.rawValue)
        headers = HTTPHeaders(request.headers.map { ($0.name.rawName, $0.value) })
        if !request.headers.contains(.acceptEncoding) { headers.add(name: "Accept-Encoding", value: "identity") }
        body = upload.content
    }
}

extension HTTPRequest {
    /// Whether a second sending has the effect of one (RFC 9110 §9.2.2).
    var canBeSentAgain: Bool {
        body.isRestartable && (method.isIdempotent || headers.contains(.idempotencyKey))
    }
}

/// The head of a response, without its content.
struct ResponseHead: Sendable {
    let version: NIOHTTP1.HTTPVersion
    let status: HTTPResponseStatus
    let headers: HTTPHeaders

    init(_ response: HTTPClientResponse) {
        version = response.version
        status = response.status
        headers = response.headers
    }

    /// The length of the content, if it is known (RFC 9112 §6.3).
    func contentLength(answering method: HTTPRequest.Method) -> Int64? {
        if method == .head || status.code == 204 || status.code == 304 { return 0 }
        guard !headers.contains(name: "Transfer-Encoding") else { return nil }
        return headers.first(name: "Content-Length").flatMap { Int64($0) }
    }
}

extension HTTPFields {
    init(_ headers: HTTPHeaders) {
        self.init(headers.lazy.map { HTTPField(unchecked: HTTPField.Name(stringLiteral: $0.name), $0.value) })
    }
}

extension HTTPResponse.Status {
    init?(_ head: ResponseHead) {
        self.init(code: Int(head.status.code), reasonPhrase: head.version.major < 2 ? head.status.reasonPhrase : nil)
    }
}

extension Interceptors.HTTPVersion {
    init(_ version: NIOHTTP1.HTTPVersion) {
        self.init(rawValue: version.major < 2 ? "HTTP/\(version.major).\(version.minor)" : "HTTP/\(version.major)")
    }
}
