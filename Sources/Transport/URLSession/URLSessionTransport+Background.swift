#if canImport(FoundationNetworking)
internal import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

// The settings that another session needs to send as this transport does.
extension URLSessionTransport {
    /// The request in Foundation's form, without its body, after the caller's `prepare` closure.
    package func urlRequest(for request: HTTPRequest) throws -> URLRequest {
        var outgoing = try OutgoingRequest(request)
        if let prepare { try outgoing.apply(prepare, for: request) }
        return outgoing.urlRequest
    }

    /// Gives a new configuration, such as that of a background session, the settings of this transport's session.
    package func configured(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration {
        SessionDelegate.configuration(configuration, tls, configure)
    }
}
