/// Sends the token of a ``TokenStore`` as `Authorization: Bearer …` (RFC 6750 §2.1), to the token's origins only.
///
/// ```swift
/// interceptors: [.followRedirects(), .retryOnUnauthorized(tokens), .bearerAuth(tokens), .retry(…)]
/// ```
/// Its place is inside of whatever sends a request again with another token or to another URL (`retryOnUnauthorized`,
/// redirects), so that each such run decides anew, and outside of what caches by identity or signs the whole request:
/// inside of `cache` or `coalesce` it throws a ``ChainOrderError``, unless the request names a partition.
/// A request with an `Authorization` field of its own keeps it; one that is to go without a token says so in its context
/// (``Interceptors/HTTPContext/authorization``).
public struct BearerAuthInterceptor: Interceptor {
    private let tokens: TokenStore

    /// An interceptor that sends the store's token.
    public init(_ tokens: TokenStore) { self.tokens = tokens }

    /// Adds the token, once there is one that has not expired, and passes the request on.
    @inline(__always)
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        if let waiting = try tokens.authorizeAtOnce(&request) {
            try await tokens.authorize(&request, after: waiting)
        }
        return try await next(request)
    }
}

extension Interceptor where Self == BearerAuthInterceptor {
    /// Sends the token of a store as `Authorization: Bearer …`, to the token's origins only.
    ///
    /// It goes inside of ``retryOnUnauthorized(_:when:)`` with the same store:
    /// ```swift
    /// [.retryOnUnauthorized(tokens), .bearerAuth(tokens)]
    /// ```
    public static func bearerAuth(_ tokens: TokenStore) -> Self { Self(tokens) }
}
