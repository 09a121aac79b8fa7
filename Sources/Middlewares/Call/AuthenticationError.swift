public import Foundation

/// The reason a request could not be authenticated. An error that a refresh closure throws is not wrapped: the caller gets it
/// unchanged.
public struct AuthenticationError: ContextualError, Sendable {
    /// The kind of failure. An open set: handle the codes you know, and keep a default.
    public struct Code: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// The name of the code, such as `signedOut`.
        public let rawValue: String
        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The name of the code.
        public var description: String { rawValue }

        /// Neither the store nor the client names an origin for the token, so the request was not sent.
        public static let unknownOrigin = Self(rawValue: "unknownOrigin")
        /// The interceptors are in an order in which a rejected token could never be replaced.
        public static let wrongOrder = Self(rawValue: "wrongOrder")
        /// A sign-out, or the sign-in of another account, ended the session while the request was under way.
        public static let signedOut = Self(rawValue: "signedOut")
        /// The refresh threw `CancellationError`, although nobody had cancelled the calls that waited for it.
        public static let refreshCancelled = Self(rawValue: "refreshCancelled")
        /// The token contains characters that a field value can't carry, or is empty (RFC 6750 §2.1).
        public static let invalidToken = Self(rawValue: "invalidToken")
        /// The request was to be labelled with the token's account, but ``TokenStore/Token/account`` is not set.
        public static let unknownAccount = Self(rawValue: "unknownAccount")
    }

    /// The kind of failure.
    public let code: Code
    /// A description of the failure and its remedy, for a person to read.
    public let message: String
    /// The method of the request.
    public let method: HTTPRequest.Method?
    /// The URL of the request, with secrets redacted.
    public let url: String?
    /// Further facts about the failed call, such as the attempts made.
    public var context = HTTPContext()

    /// Creates an error about a request.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - message: a sentence for a person, without secrets.
    ///   - request: the request; only its method and its redacted URL are kept.
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

    /// Equal to ``description``.
    public var debugDescription: String { description }

    /// Equal to ``description``.
    public var errorDescription: String? { description }
}
