#if canImport(FoundationNetworking)
internal import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

// The settings that a background session needs to send as this transport does.
extension URLSessionTransport {
    /// The request in Foundation's form, without its body, after the caller's `prepare` closure.
    package func urlRequest(for request: HTTPRequest) throws -> URLRequest {
        var outgoing = try OutgoingRequest(request, isInBackground: true)
        if let prepare { try outgoing.apply(prepare, for: request) }
        return outgoing.urlRequest
    }

    /// Gives the configuration of a background session the settings of this transport's session.
    package func configured(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration {
        let configuration = SessionDelegate.configuration(configuration, tls, configure)
        configuration.timeoutIntervalForRequest = SessionDelegate.backgroundSilence
        return configuration
    }
}
