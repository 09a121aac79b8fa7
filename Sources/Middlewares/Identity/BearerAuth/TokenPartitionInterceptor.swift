/// The implementation of `.partition(…)`, documented there.
struct TokenPartitionInterceptor: PlacedInterceptor {
    /// The partition of requests without a token.
    static let withoutToken = "(no token)"

    let tokens: TokenStore

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        if request.context.cachePartition?.isEmpty ?? true {
            let token = tokens.current
            if let token, token.account?.isEmpty ?? true { throw AuthenticationError.unknownAccount(of: request) }
            let isOmitted = request.context.authorization == .omitted
            request.context.cachePartition = isOmitted ? Self.withoutToken : token?.account ?? Self.withoutToken
            request.context.authorizations[tokens].partition = TokenPartition(account: token?.account)
        }
        return try await next(request)
    }

    var placement: [ChainRole] { [.spelled("partition"), .namesPartition.of(tokens)] }
}

extension Interceptor where Self == AnyInterceptor {
    /// Sets a request's cache partition to the account of a token, so that a cache may be outside `bearerAuth`.
    ///
    /// ```swift
    /// let interceptors: [any Interceptor] = [
    ///     .partition(by: tokens),
    ///     .cache(.memory()),                              // answers while nobody can sign in
    ///     .retryOnUnauthorized(tokens), .bearerAuth(tokens),
    /// ]
    /// ```
    /// The interceptor sets `HTTPContext.cachePartition` to ``TokenStore/Token/account``. `bearerAuth` then sends the request
    /// only with a token of this account. If another account has signed in meanwhile, `bearerAuth` throws
    /// ``AuthenticationError`` with ``InterceptorsTransport/HTTPErrorCode/signedOut``, so that no response for one account is stored for
    /// another.
    ///
    /// If the token names no account, a request fails with ``InterceptorsTransport/HTTPErrorCode/unknownAccount``.
    ///
    /// Requests without a token share one partition. A request that already names a partition keeps it.
    ///
    /// In a named partition the account alone separates requests, and no other credential does, such as an API key or a cookie.
    /// If a request carries the credential of another user than the token's, name its partition.
    ///
    /// ## Order
    /// Put `partition` outside the cache.
    public static func partition(by tokens: TokenStore) -> Self { Self(TokenPartitionInterceptor(tokens: tokens)) }
}
