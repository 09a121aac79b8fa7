public import Foundation

/// A request that ``CircuitBreakerInterceptor`` did not send, because its host has failed too often.
public struct CircuitOpenError: ContextualError, RefusedRequestError, Sendable {
    /// The host, told by scheme, host and port.
    public let origin: Origin
    /// How long until the next probe may go, at the latest: until then, a request is not worth making.
    public let nextProbe: Duration
    /// What happened and what to do about it, for a person.
    public let message: String
    /// The method of the request.
    public let method: HTTPRequest.Method
    /// The URL of the request, with secrets redacted.
    public let url: String
    /// What is to be known about the failed call beyond the failure itself, such as the attempts that were made.
    public var context = HTTPContext()

    var refusedMethod: HTTPRequest.Method? { method }

    var saysOutOfReach: Bool { true }

    init(_ origin: Origin, state: CircuitState, nextProbe: Duration, request: borrowing HTTPRequest) {
        self.origin = origin
        self.nextProbe = nextProbe
        method = request.method
        url = Redaction.standard.string(for: request.url)
        message =
            state == .halfOpen
            ? "The request was not sent: \(origin) has failed too often, and is being probed. The next probe may go when"
                + " those under way have ended, or in \(nextProbe)."
            : "The request was not sent: \(origin) has failed too often. The next probe may go in \(nextProbe)."
    }
}

extension CircuitOpenError: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
    /// Message and request, without secrets.
    public var description: String { "CircuitOpenError: \(message) (\(method) \(url))" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
