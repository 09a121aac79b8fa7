public import Foundation

/// Why a request could not be authenticated, apart from what a refresh closure throws, which reaches the caller as it is.
public struct AuthenticationError: ContextualError, Sendable {
    /// What went wrong. An open set: handle the ones you know, and keep a default.
    public struct Code: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// The name of the code, such as `signedOut`.
        public let rawValue: String
        /// A code by its name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The name of the code.
        public var description: String { rawValue }

        /// It is not known which origin the tokens are for, so none was sent, and the request neither.
        public static let unknownOrigin = Self(rawValue: "unknownOrigin")
        /// The interceptors stand in an order in which a rejected token could never be replaced.
        public static let wrongOrder = Self(rawValue: "wrongOrder")
        /// The session was ended by a sign-out, or by the sign-in of another account, while the request was under way.
        public static let signedOut = Self(rawValue: "signedOut")
        /// The refresh ended with `CancellationError`, although no one had cancelled those who waited for it.
        public static let refreshCancelled = Self(rawValue: "refreshCancelled")
        /// The token can't stand in a header field.
        public static let invalidToken = Self(rawValue: "invalidToken")
        /// The token doesn't say whose it is, and the request was to be named for its account.
        public static let unknownAccount = Self(rawValue: "unknownAccount")
    }

    /// What went wrong.
    public let code: Code
    /// What went wrong and what to do about it, for a person.
    public let message: String
    /// The method of the request.
    public let method: HTTPRequest.Method?
    /// The URL of the request, with secrets redacted.
    public let url: String?
    /// What is to be known about the failed call beyond the failure itself, such as the attempts that were made.
    public var context = HTTPContext()

    /// An error about a request.
    ///
    /// - Parameters:
    ///   - code: what went wrong.
    ///   - message: a sentence for a person, without secrets.
    ///   - request: the request, of which the method and the redacted URL are kept.
    public init(_ code: Code, _ message: String, request: HTTPRequest? = nil) {
        self.code = code
        self.message = message
        self.method = request?.method
        self.url = request.map { Redaction.standard.string(for: $0.url) }
    }
}

extension AuthenticationError {
    static var signedOut: Self {
        Self(.signedOut, "The session was signed out while the request waited for a new token. It was not sent again.")
    }

    static func changedAccount(of request: HTTPRequest) -> Self {
        Self(
            .signedOut,
            "Another account signed in, or the last one signed out, after the request was named for its account. It was not sent.",
            request: request
        )
    }

    static func unknownAccount(of request: HTTPRequest) -> Self {
        Self(
            .unknownAccount,
            "The token doesn't say whose it is: make it with TokenStore.Token(value, account: account.id).",
            request: request
        )
    }

    static var refreshCancelled: Self {
        Self(
            .refreshCancelled,
            "The refresh threw CancellationError, although the requests that waited for it were not cancelled."
                + " Something inside the refresh closure was cancelled; the next request tries anew."
        )
    }

    static func unknownOrigin(of request: HTTPRequest) -> Self {
        Self(
            .unknownOrigin,
            "It is not known which origin the tokens are for, and they are sent to no other. Give the Client a base URL,"
                + " or name the origins: TokenStore(origins: [origin], …).",
            request: request
        )
    }

    static func wrongOrder(of request: HTTPRequest) -> Self {
        Self(
            .wrongOrder,
            "bearerAuth stands outside of retryOnUnauthorized: what is sent again would carry the rejected token."
                + " The right order is [.retryOnUnauthorized(tokens), .bearerAuth(tokens)].",
            request: request
        )
    }

    static func invalidToken(for request: HTTPRequest) -> Self {
        Self(
            .invalidToken,
            "The token's value is empty, or holds a space or a control character: it can't be sent (RFC 6750 §2.1).",
            request: request
        )
    }
}

extension AuthenticationError: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
    /// Code, message and request, without secrets.
    public var description: String {
        let text = "AuthenticationError.\(code): \(message)"
        guard let method, let url else { return text }
        return "\(text) (\(method) \(url))"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
