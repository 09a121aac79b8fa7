/// The reason a request could not be authenticated. An error that a refresh closure throws is not wrapped: the caller gets it
/// unchanged.
public struct AuthenticationError: HTTPError {
    /// The kind of failure.
    public let code: HTTPErrorCode
    /// A description of the failure and its remedy, for a person to read.
    public let message: String
    /// The method and the redacted URL of the request, if known.
    public let request: HTTPRequest.Summary?
    /// Further facts about the failed call, such as the attempts made.
    public var context = HTTPContext()
    /// `nil`: no response caused the error.
    public var response: HTTPResponse? { nil }
    /// `nil`: no other error caused this one.
    public var underlying: (any Error)? { nil }

    /// Creates an error about a request.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - message: a sentence for a person, without secrets.
    ///   - request: the request; only its method and its redacted URL are kept.
    public init(_ code: HTTPErrorCode, _ message: String, request: HTTPRequest? = nil) {
        self.code = code
        self.message = message
        self.request = request?.summary
    }
}

extension HTTPErrorCode {
    /// `AuthenticationError`, `SigningError`: no origin is named that may receive the credential or the signature, so the
    /// request was not sent.
    public static let unknownOrigin = Self(rawValue: "unknownOrigin")
    /// `AuthenticationError`: the interceptors are in an order in which a rejected token could never be replaced.
    public static let wrongOrder = Self(rawValue: "wrongOrder")
    /// `AuthenticationError`: a sign-out, or the sign-in of another account, ended the session while the request was under way.
    public static let signedOut = Self(rawValue: "signedOut")
    /// `AuthenticationError`: the refresh threw `CancellationError`, although nobody had cancelled the calls that waited for
    /// it.
    public static let refreshCancelled = Self(rawValue: "refreshCancelled")
    /// `AuthenticationError`: the credential's scheme can't carry it: an empty token, or one with a space or a control
    /// character (RFC 6750 §2.1), or for basic a name with a colon (RFC 7617 §2).
    public static let invalidCredential = Self(rawValue: "invalidCredential")
    /// `AuthenticationError`: the request was to be labelled with the token's account, but ``TokenStore/Token/account`` is not
    /// set.
    public static let unknownAccount = Self(rawValue: "unknownAccount")
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
            .invalidCredential,
            "The request was not sent, because the token is empty or contains a space or a control character, which a bearer"
                + " token can't contain (RFC 6750 §2.1). Check the text that bearerAuth or the refresh gets.",
            request: request
        )
    }
}

extension AuthenticationError {
    /// Whether the code proves that nothing was sent. After a sign-out or with an invalid new token, an earlier attempt may have
    /// been sent and rejected.
    public var sentNothing: Bool { [.unknownOrigin, .wrongOrder, .unknownAccount].contains(code) }

    /// A short English sentence for people.
    public var errorDescription: String? {
        code == .signedOut ? "You need to sign in." : "The request could not be authenticated."
    }
}
