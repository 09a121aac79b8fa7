package import Foundation

/// The head of an interim response (RFC 9110 §15.2), such as `103 Early Hints` (RFC 8297). It precedes the final response.
public struct InterimResponse: Sendable, Hashable {
    /// The status, from 100 to 199, but never 101.
    public let status: HTTPResponse.Status
    /// The fields. They say nothing about the final response, which may differ.
    public let headerFields: HTTPFields
    /// The URL of the request that it answers, if the transport says so. It is no part of the head, so equal heads may differ in it.
    package var url: URL?

    /// Creates the head of an interim response. Returns `nil` if the status isn't one of 100 to 199, or is 101, which ends
    /// HTTP on its connection.
    public init?(status: HTTPResponse.Status, headerFields: HTTPFields = [:]) {
        guard status.kind == .informational, status != 101 else { return nil }
        self.status = status
        self.headerFields = headerFields
    }
}

extension InterimResponse {
    /// Whether the statuses and the fields are equal.
    public static func == (left: Self, right: Self) -> Bool {
        left.status == right.status && left.headerFields == right.headerFields
    }

    /// Hashes the status and the fields.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(status)
        hasher.combine(headerFields)
    }
}

extension InterimResponse: CustomStringConvertible, CustomReflectable {
    /// The status on one line.
    public var description: String { "\(status)" }

    /// The status and the fields, with sensitive values redacted.
    public var customMirror: Mirror {
        Mirror(self, children: ["status": status.code, "headerFields": headerFields], displayStyle: .struct)
    }
}

extension HTTPContext {
    private enum InterimKey: HTTPContextKey {
        static var defaultValue: (@Sendable (InterimResponse) -> Void)? { nil }
    }

    /// On a request: called with the head of each interim response that precedes the final one (RFC 9110 §15.2).
    ///
    /// ```swift
    /// request.context.interim = { head in
    ///     if head.status == 103 { print(head.headerFields[values: .link]) }
    /// }
    /// ```
    /// `CurlTransport` calls the closure in the order of arrival, before the response is returned, and never after the call has
    /// ended. The closure must return quickly, because the call waits for it, even if it is cancelled meanwhile. A server that
    /// sends more than 1,000 interim responses, or more than 256 KB of them, fails the call with
    /// ``HTTPErrorCode/invalidResponse``.
    ///
    /// Each attempt has its interim responses, so a retry or a followed redirect calls the closure again. A response from a
    /// cache has none, and neither has the second request of `hedge`. `coalesce` sends a request with a closure by itself.
    ///
    /// `URLSessionTransport` calls the closure on Apple's platforms, from the session's queue, and never on Linux. Treat the heads
    /// as hints: no caller can rely on them.
    public var interim: (@Sendable (_ head: InterimResponse) -> Void)? {
        get { self[InterimKey.self] }
        set { self[InterimKey.self] = newValue }
    }
}
