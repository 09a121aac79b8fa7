/// The reason a request could not be authenticated. An error that a refresh closure throws is not wrapped: the caller gets it
/// unchanged.
public struct AuthenticationError: HTTPError {
    /// The kind of failure. An open set: handle the codes you know, and keep a default.
    public struct Code: OpenSet {
        /// The name of the code, such as `signedOut`.
        public let rawValue: String
        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

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
    /// The method and the redacted URL of the request, if known.
    public let request: HTTPRequest.Summary?
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
        self.request = request?.summary
    }
}

extension AuthenticationError {
    static var signedOut: Self {
        Self(
            .signedOut,
            "The session was signed out while the request waited for a new token, so the request was not sent again."
                + " Sign in first."
        )
    }

    static func changedAccount(of request: HTTPRequest) -> Self {
        Self(
            .signedOut,
            "The request was not sent, because its account signed out, or another account signed in, after the request was"
                + " made.",
            request: request
        )
    }

    static func unknownAccount(of request: HTTPRequest) -> Self {
        Self(
            .unknownAccount,
            "The request was not sent, because its token names no account. Create the token with"
                + " TokenStore.Token(value, account: account.id).",
            request: request
        )
    }

    static var refreshCancelled: Self {
        Self(
            .refreshCancelled,
            "The token refresh threw CancellationError, but no request that waited for it was cancelled. The refresh closure"
                + " cancelled its own work. The next request refreshes again."
        )
    }

    static var noClient: Self {
        Self(
            .unsupported,
            "The refresh closure takes a Client, but no Client made the request that needs a new token. Send the request with"
                + " a Client, or use the closure with one parameter: TokenStore { rejected in … }."
        )
    }

    static func unknownOrigin(of request: HTTPRequest) -> Self {
        Self(
            .unknownOrigin,
            "The request was not sent, because no origin is named that may receive the token. Give the Client a base URL, or"
                + " name the origins: TokenStore(origins: [origin], …).",
            request: request
        )
    }

    static func wrongOrder(of request: HTTPRequest) -> Self {
        Self(
            .wrongOrder,
            "The request was not sent, because bearerAuth is outside retryOnUnauthorized: the second attempt would carry the"
                + " rejected token. Write [.retryOnUnauthorized(tokens), .bearerAuth(tokens)].",
            request: request
        )
    }

    static func invalidToken(for request: HTTPRequest) -> Self {
        Self(
            .invalidToken,
            "The request was not sent, because the token is empty or contains a space or a control character, which a bearer"
                + " token can't contain (RFC 6750 §2.1). Check the text that bearerAuth or the refresh gets.",
            request: request
        )
    }
}

extension AuthenticationError {
    /// The name of the code, such as `AuthenticationError.signedOut`.
    public var codeName: String { "AuthenticationError.\(code)" }

    /// Whether the code proves that nothing was sent. After a sign-out or with an invalid new token, an earlier attempt may have
    /// been sent and rejected.
    public var sentNothing: Bool { [.unknownOrigin, .wrongOrder, .unknownAccount].contains(code) }

    /// A short English sentence for people.
    public var errorDescription: String? {
        code == .signedOut ? "You need to sign in." : "The request could not be authenticated."
    }
}
