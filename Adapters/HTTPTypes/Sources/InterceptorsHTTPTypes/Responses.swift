public import Foundation
public import HTTPTypes
public import Interceptors

extension HTTPTypes.HTTPResponse.Status {
    /// Converts a status, with its reason phrase. Control characters in the phrase become spaces.
    public init(_ status: Interceptors.HTTPResponse.Status) {
        self.init(code: status.code, reasonPhrase: status.reasonPhrase)
    }
}

extension Interceptors.HTTPResponse.Status {
    /// Converts a status, with its reason phrase. Returns `nil` for a code below 100, which HTTP doesn't have.
    public init?(_ status: HTTPTypes.HTTPResponse.Status) {
        self.init(code: status.code, reasonPhrase: status.reasonPhrase)
    }
}

extension HTTPTypes.HTTPResponse {
    /// Converts a response. Its body, URL and context have no counterpart: take them from the original.
    ///
    /// - Throws: ``TransportError`` with the code `invalidRequest` for a field that can't be sent. A transport
    ///   returns no such field, but an interceptor may add one.
    public init(_ response: Interceptors.HTTPResponse) throws {
        self.init(
            status: Status(response.status),
            headerFields: try HTTPTypes.HTTPFields(response.headers)
        )
    }
}

extension Interceptors.HTTPResponse {
    /// Converts a response, with the values that swift-http-types doesn't have.
    ///
    /// - Parameters:
    ///   - response: the final response.
    ///   - body: the content.
    ///   - url: the URL of the request.
    ///   - context: the context.
    /// - Throws: ``TransportError`` with the code `invalidResponse` for a status that isn't final: below 200.
    public init(
        _ response: HTTPTypes.HTTPResponse,
        body: HTTPBody = .empty,
        url: URL? = nil,
        context: HTTPContext = HTTPContext()
    ) throws {
        guard response.status.code >= 200, let status = Status(response.status) else {
            throw TransportError(.invalidResponse, "\(response.status.code) is not the status of a final response.")
        }
        self.init(
            status: status,
            headers: Interceptors.HTTPFields(response.headerFields),
            body: body,
            url: url,
            context: context
        )
    }
}
