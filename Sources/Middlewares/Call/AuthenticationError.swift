/// The reason a request could not be authenticated.
///
/// An error that a refresh closure throws is the ``underlying`` error of one with the code
/// ``InterceptorsTransport/HTTPErrorCode/refreshFailed``, because the caller's own request didn't fail this way.
public struct AuthenticationError: HTTPError {
    /// The kind of failure.
    public let code: HTTPErrorCode
    /// A description of the failure and its remedy, for a person to read.
    public let message: String
    /// The method and the redacted URL of the request, if known.
    public let request: HTTPRequest.Summary?
    /// The error of a failed refresh.
    public let underlying: (any Error)?
    /// Further facts about the failed call, such as the attempts made.
    public var context = HTTPContext()
    /// `nil`: the response of a failed refresh belongs to ``underlying``.
    public var response: HTTPResponse? { nil }
    /// Whether a refresh closure that throws this error ends the session.
    private(set) var endsSession = false

    /// Creates an error about a request.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - message: a sentence for a person, without secrets.
    ///   - request: the request; only its method and its redacted URL are kept.
    ///   - underlying: the error that caused this one.
    public init(_ code: HTTPErrorCode, _ message: String, request: HTTPRequest? = nil, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.request = request?.summary
        self.underlying = underlying
    }
}

extension HTTPErrorCode {
    /// `AuthenticationError`, `TransportError`: no origin is named that may receive the credential or the signature, so the
    /// request was not sent.
    public static let unknownOrigin = Self(rawValue: "unknownOrigin")
    /// `AuthenticationError`: the interceptors are in an order in which a rejected token could never be replaced.
    public static let wrongOrder = Self(rawValue: "wrongOrder")
    /// `AuthenticationError`: a sign-out, the sign-in of another account, or a refresh that failed for good ended the session while
    /// the request was under way.
    public static let signedOut = Self(rawValue: "signedOut")
    /// `AuthenticationError`: the closure that renews the credential threw an error, which is the underlying one.
    public static let refreshFailed = Self(rawValue: "refreshFailed")
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

extension Error {
    /// Whether the user needs to sign in: the response is a 401, or the session has ended (the code `signedOut`).
    public var isUnauthorized: Bool {
        isOrIsCausedBy { error in
            guard let error = error as? any HTTPError else { return false }
            return error.response?.status.code == 401 || error.code == .signedOut
        }
    }
}

extension AuthenticationError {
    /// The error for a refresh closure to throw when no refresh can succeed any more, such as after the server has rejected the
    /// refresh token. The ``TokenStore`` then signs out once (``TokenStore``, *Sessions*).
    ///
    /// ```swift
    /// let tokens = TokenStore(refresh: { rejected in
    ///     do {
    ///         return try await logInServer.refresh(rejected)
    ///     } catch let error as StatusError where error.status == 400 {
    ///         throw AuthenticationError.signedOut(because: error)
    ///     }
    /// })
    /// ```
    ///
    /// - Parameter cause: the error that says why.
    public static func signedOut(because cause: any Error) -> Self {
        let message = "The session has ended, because its token can't be refreshed any more. Sign in again."
        var error = Self(.signedOut, message, underlying: cause)
        error.endsSession = true
        return error
    }

    /// Whether an error that a refresh closure has thrown ends the session. An error about the session of another store doesn't.
    static func endsSession(_ error: any Error) -> Bool { (error as? Self)?.endsSession ?? false }

    /// The error for those who wait for a refresh whose closure has thrown an error.
    static func refreshFailed(_ cause: any Error) -> Self {
        if cause is CancellationError { return .refreshCancelled }
        guard let ending = cause as? Self, ending.endsSession else {
            let message = "The request was not sent, or not sent again, because the refresh of its credential failed."
            return Self(.refreshFailed, message, underlying: cause)
        }
        // A copy that ends no session: the refresh closure of another store may get it from a request and throw it.
        return Self(ending.code, ending.message, underlying: ending.underlying)
    }

    static var signedOut: Self {
        Self(.signedOut, "The session was signed out while the request waited for a new token. Sign in first.")
    }

    static func changedAccount(of request: HTTPRequest) -> Self {
        refusal(.signedOut, request, "its account signed out, or another signed in, after the request was made.")
    }

    static func unknownAccount(of request: HTTPRequest) -> Self {
        let remedy = "Create the token with TokenStore.Token(value, account: account.id)."
        return refusal(.unknownAccount, request, "its token names no account. \(remedy)")
    }

    static var refreshCancelled: Self {
        let message =
            "The refresh closure threw CancellationError, but no waiting request was cancelled. The next request refreshes again."
        return Self(.refreshCancelled, message)
    }

    static var noClient: Self {
        let remedy = "Send the request with a Client, or use TokenStore { rejected in … }."
        return Self(.unsupported, "The refresh closure takes a Client, but no Client made the request. \(remedy)")
    }

    /// - Parameter remedy: how to name the origins.
    package static func unknownOrigin(of request: HTTPRequest, for secret: String = "token", remedy: String) -> Self {
        let remedy = "Give the Client a base URL, or name the origins: \(remedy)."
        return refusal(.unknownOrigin, request, "no origin is named that may receive the \(secret). \(remedy)")
    }

    static func wrongOrder(of request: HTTPRequest) -> Self {
        let remedy = "Write [.retryOnUnauthorized(tokens), .bearerAuth(tokens)]."
        let harm = "bearerAuth is outside retryOnUnauthorized: the second attempt would carry the rejected token."
        return refusal(.wrongOrder, request, "\(harm) \(remedy)")
    }

    static func invalidToken(for request: HTTPRequest) -> Self {
        let reason = "the token is empty or contains a space or a control character (RFC 6750 §2.1)."
        return refusal(.invalidCredential, request, "\(reason) Check the text that bearerAuth or the refresh gets.")
    }

    private static func refusal(_ code: HTTPErrorCode, _ request: HTTPRequest, _ reason: String) -> Self {
        Self(code, "The request was not sent, because \(reason)", request: request)
    }
}

extension AuthenticationError {
    /// Whether the code proves that nothing was sent: `unknownOrigin`, `wrongOrder` or `unknownAccount`. After a sign-out or
    /// with an invalid new token, an earlier attempt may have been sent and rejected.
    public var sentNothing: Bool { [.unknownOrigin, .wrongOrder, .unknownAccount].contains(code) }

    /// A short English sentence for people.
    public var errorDescription: String? {
        switch code {
        case .signedOut: "You need to sign in."
        case .refreshFailed: generalSentence
        default: "The request could not be authenticated."
        }
    }
}
