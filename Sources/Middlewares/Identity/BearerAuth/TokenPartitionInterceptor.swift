/// Names whose response a request is for by the account of a token, so that a cache may stand outside of `bearerAuth`.
///
/// ```swift
/// let interceptors: [any Interceptor] = [
///     .partition(by: tokens),
///     .cache(.memory()),                              // answers while nobody can sign in
///     .retryOnUnauthorized(tokens), .bearerAuth(tokens),
/// ]
/// ```
/// It sets ``HTTPContext/cachePartition`` to ``TokenStore/Token/account``. `bearerAuth` then sends the request with a token of
/// this account alone: where another one has signed in meanwhile, it throws ``AuthenticationError`` with
/// ``AuthenticationError/Code/signedOut``, so that no response of one account is stored for another. Requests
/// without a token share one partition. A request that names a partition itself keeps it.
///
/// The account alone tells requests apart, as with every named partition: other credentials in a request, such as an API key or
/// a cookie, don't. If they belong to another user than the token does, give the request a partition.
///
/// Its place is outside of the cache.
public struct TokenPartitionInterceptor: Interceptor {
    /// The partition of requests that go without a token.
    static let withoutToken = "(no token)"

    private let tokens: TokenStore

    /// An interceptor that names partitions by the account of the store's token.
    public init(_ tokens: TokenStore) { self.tokens = tokens }

    /// Names the partition, and passes the request on.
    ///
    /// - Throws: ``AuthenticationError`` with ``AuthenticationError/Code/unknownAccount`` if the token names none; what the rest
    ///   of the chain throws.
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        if request.context.cachePartition?.isEmpty ?? true {
            let token = tokens.current
            if let token, token.account?.isEmpty ?? true { throw AuthenticationError.unknownAccount(of: request) }
            let isOmitted = request.context.authorization == .omitted
            request.context.cachePartition = isOmitted ? Self.withoutToken : token?.account ?? Self.withoutToken
            request.context.tokenPartitions.append(
                TokenPartition(store: ObjectIdentifier(tokens), account: token?.account)
            )
        }
        return try await next(request)
    }
}

extension Interceptor where Self == TokenPartitionInterceptor {
    /// Names the partition of a cache by the account of the store's token: see ``TokenPartitionInterceptor``.
    public static func partition(by tokens: TokenStore) -> Self { Self(tokens) }
}

/// For which account of a store a request was named.
struct TokenPartition: Sendable {
    let store: ObjectIdentifier
    let account: String?
}

extension HTTPContext {
    private enum TokenPartitionsKey: HTTPContextKey { static var defaultValue: [TokenPartition] { [] } }

    /// On a request: the accounts whose tokens it may be sent with.
    var tokenPartitions: [TokenPartition] {
        get { self[TokenPartitionsKey.self] }
        set { self[TokenPartitionsKey.self] = newValue }
    }
}
