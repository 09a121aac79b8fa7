public import Foundation

/// Why a redirect was not followed.
///
/// What it prints shows the hops with secrets redacted.
public struct RedirectError: ContextualError, Sendable {
    /// What went wrong. An open set: handle the ones you know, and keep a default.
    public struct Code: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// The name of the code, such as `tooManyRedirects`.
        public let rawValue: String
        /// A code by its name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The name of the code.
        public var description: String { rawValue }

        /// More redirects than the limit allows: a loop, most likely.
        public static let tooManyRedirects = Self(rawValue: "tooManyRedirects")
        /// The `Location` can't be understood, or there are several that differ.
        public static let invalidLocation = Self(rawValue: "invalidLocation")
        /// The redirect leads to a scheme other than http and https.
        public static let unsupportedScheme = Self(rawValue: "unsupportedScheme")
        /// The redirect leads from https to http.
        public static let insecure = Self(rawValue: "insecure")
    }

    /// What went wrong.
    public let code: Code
    /// What went wrong and what to do about it, for a person, without secrets.
    public let message: String
    /// The redirects of the call, the first one first: up to the one that was not followed, if its target is known.
    public let redirects: [Redirect]
    /// The status of the response that was not followed.
    public let status: HTTPResponse.Status
    /// The method of the last request.
    public let method: HTTPRequest.Method
    /// The URL of the last request, with secrets redacted.
    public let url: String
    /// What is to be known about the failed call beyond the failure itself, such as the attempts that were made.
    public var context = HTTPContext()

    init(_ code: Code, limit: Int, redirects: [Redirect], status: HTTPResponse.Status, request: HTTPRequest) {
        self.code = code
        self.redirects = redirects
        self.status = status
        method = request.method
        url = Redaction.standard.string(for: request.url)
        message =
            switch code {
            case .tooManyRedirects: "The server redirects more than \(limit) times: followRedirects(limit:)."
            case .invalidLocation: "The Location of the redirect is no URL, or there are several that differ."
            case .insecure: "The redirect leads from https to http: followRedirects(allowsDowngrade: true) allows it."
            default: "The redirect leads to a scheme other than http and https. A policy can .stop before it."
            }
    }
}

extension RedirectError: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
    /// Code, message, request and hops, without secrets.
    public var description: String {
        let text = "RedirectError.\(code): \(message) (\(status.code) for \(method) \(url))"
        guard !redirects.isEmpty else { return text }
        return text + " Hops: " + redirects.map(\.description).joined(separator: "; ")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
