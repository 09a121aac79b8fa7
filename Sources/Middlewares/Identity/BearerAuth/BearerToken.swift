/// A bearer token without a ``TokenStore``: a constant, or the result of a closure that is called for each request.
final class BearerToken: Sendable {
    enum Value: Sendable {
        /// The complete field; `nil` if a field can't carry the token.
        case constant(HTTPField?)
        case asked(@Sendable () async throws -> String?)
    }

    private let value: Value
    /// The origins that may get the token; `nil` for the origin of the client.
    let origins: Set<Origin>?
    /// Whether the token is the same for each request.
    var isConstant: Bool { if case .constant = value { true } else { false } }

    init(_ value: Value, for origins: [Origin]) {
        self.value = value
        self.origins = origins.isEmpty ? nil : Set(origins)
    }

    /// Adds the token to a request for one of the token's origins, as ``TokenStore/addToken(to:)`` does. Returns a note if the
    /// token isn't meant for the request's origin.
    func add(to request: inout HTTPRequest) async throws -> CredentialNote? {
        guard !CredentialRefresh.isCurrent(of: self), !request.headers.contains(.authorization),
            request.context.authorization != .omitted
        else { return nil }
        let (remedy, parameter) = (".bearerAuth(token, for: origin)", "bearerAuth(_:for:)")
        let withheld = try CredentialNote.token(for: origins, withheldFrom: request, remedy, parameter)
        if let withheld { return withheld }
        try request.requireUnshared(by: "bearerAuth")
        let field: HTTPField?
        switch value {
        case .constant(let constant): field = constant
        case .asked(let ask):
            // If sending is forbidden, the closure isn't called, because it may send a request. An earlier token may belong to
            // another account by now, so the request goes without.
            guard request.context.sendingForbidden == nil, let token = try await answer(of: ask) else { return nil }
            field = HTTPField.bearer(token)
        }
        guard let field else { throw AuthenticationError.invalidToken(for: request) }
        request.headers.append(field)
        return nil
    }

    /// Counts the closure's requests as part of a refresh: they pass the same chain without a token and wait for no permit.
    /// Otherwise each request would call the closure again, in endless recursion.
    private func answer(of ask: @Sendable () async throws -> String?) async throws -> String? {
        do {
            return try await CredentialRefresh.run(of: self) { try await ask() }
        } catch is CancellationError where !Task.isCancelled {
            // Only the app's own refresh was cancelled. The caller must not conclude that its call was cancelled.
            throw AuthenticationError.refreshCancelled
        }
    }
}

extension HTTPField {
    /// The `Authorization` field of a bearer token; `nil` if a field can't carry the text (RFC 6750 §2.1).
    static func bearer(_ token: String) -> HTTPField? {
        let field = HTTPField(unchecked: .authorization, "Bearer \(token)")
        return field.isValid && !token.isEmpty && !token.contains(where: \.isWhitespace) ? field : nil
    }
}

extension Interceptor where Self == AnyInterceptor {
    /// Sends a constant token as `Authorization: Bearer …`, to the named origins only.
    ///
    /// ```swift
    /// .bearerAuth("a1b2c3")                           // to the origin of the client's base URL
    /// .bearerAuth("a1b2c3", for: Origin(baseURL)!)
    /// ```
    /// A request to another origin, or with an `Authorization` field, passes unchanged. A cache belongs inside, as with every
    /// credential. For a token that expires, use ``bearerAuth(_:)`` with a ``TokenStore``, which refreshes it.
    ///
    /// - Parameters:
    ///   - token: the token. If it is empty or contains whitespace, each request to these origins fails with
    ///     ``InterceptorsTransport/HTTPErrorCode/invalidCredential``.
    ///   - origins: the origins that get the token; by default, the origin of the sending client's base URL.
    public static func bearerAuth(_ token: String, for origins: Origin...) -> Self {
        Self(BearerAuthInterceptor(source: .token(BearerToken(.constant(.bearer(token)), for: origins))))
    }

    /// Sends the token that a closure returns as `Authorization: Bearer …`, to the named origins only.
    ///
    /// ```swift
    /// .bearerAuth { await keychain.token }
    /// .bearerAuth(for: origin) { try await session.token() }
    /// ```
    /// For an app that already refreshes its tokens. The closure is called for each request to these origins without an
    /// `Authorization` field. If the closure throws, the request fails with its error, unsent. Requests that the closure sends
    /// through the same chain carry no token.
    ///
    /// A cache belongs inside, where it tells users apart by their tokens. A cache outside needs the account as the request's
    /// partition (`HTTPContext.cachePartition`); otherwise the request fails with `HTTPErrorCode.sharedResponse`. Nothing
    /// checks that the token belongs to the named account: ``TokenStore`` with `.partition(by: tokens)` does.
    ///
    /// For a request that must not be sent (``CacheMode/offline``), the closure isn't called, because it may send a request to
    /// refresh the token. Such a request finds the caller's stored responses only if it names the partition.
    ///
    /// - Parameters:
    ///   - origins: the origins that get the token; by default, the origin of the sending client's base URL.
    ///   - token: returns the token, or `nil` to send the request without a token, for example while nobody is signed in.
    public static func bearerAuth(
        for origins: Origin...,
        token: @escaping @Sendable () async throws -> String?
    ) -> Self {
        Self(BearerAuthInterceptor(source: .token(BearerToken(.asked(token), for: origins))))
    }

    /// Unavailable: a constant token has no label.
    @available(*, unavailable, message: "Write `.bearerAuth(\"token\")`, or a closure: `.bearerAuth { token }`.")
    public static func bearerAuth(token: String?) -> Self { bearerAuth { token } }
}
