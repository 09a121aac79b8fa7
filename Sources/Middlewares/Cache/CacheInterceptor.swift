internal import Foundation
public import InterceptorsCore

/// The implementation of `.cache(…)`, documented there: carries out the decisions of ``CachePolicy`` with a store and the rest of
/// the chain.
final class CacheInterceptor: Interceptor, PlacedInterceptor {
    let store: any CacheStore
    let arrivals: CacheArrivals
    let time: CacheTime
    let policy: CachePolicy
    let partitions: CachePartitions
    let isDisconnection: @Sendable (any Error) -> Bool
    let report: @Sendable (any Error) -> Void
    let stores: StoringCondition?
    let backgroundValidations = BackgroundValidations()

    var placement: [ChainRole] { [.stores] }

    init(
        store: any CacheStore,
        maximumStaleness: Duration = .seconds(7 * 86_400),
        time: TimeSource = .system,
        report: (@Sendable (any Error) -> Void)? = nil,
        isDisconnection: @escaping @Sendable (any Error) -> Bool = { $0.isDisconnection },
        stores: (@Sendable (HTTPResponse) -> Bool)? = nil
    ) {
        self.store = store
        arrivals = store.arrivals
        self.time = CacheTime(time)
        let digest = FieldDigest()
        policy = CachePolicy(maximumStaleness: max(0, maximumStaleness.components.seconds), digest: digest)
        partitions = CachePartitions(digest)
        self.isDisconnection = isDisconnection
        self.report = report ?? DebugReport.cache
        self.stores = stores.map { StoringCondition($0) }
    }

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        // Digests made without the store's key use the key of the process: entries stored under them are never found again.
        if !policy.digest.isReady { await policy.digest.prepare(store, report: report) }
        guard let key = key(for: request) else {
            if request.context.cacheMode.sendsNothing {
                request.note(.cache(CacheOutcome(.unsatisfiable)))
                return CacheAnswers.gatewayTimeout(request, CacheOutcome(.unsatisfiable))
            }
            return try await next(request)
        }
        let step = request.context.observedStep
        let isStorable = request.method == .get || request.method == .head
        var exchange = CacheExchange(request: request, key: key, next: next)
        if isStorable { await lookUp(&exchange) }
        let response = try await answer(exchange)
        if let step, let outcome = response.context.cacheOutcome { step.add(.cache(outcome)) }
        return response
    }

    /// The key of a request's stored responses; `nil` if the cache passes the request on: its URL isn't http or https, or its
    /// shape forbids to store it. An unsafe request has a key whatever its shape, because it invalidates entries.
    private func key(for request: HTTPRequest) -> CacheKey? {
        guard request.context.callShape.mayStore || !request.method.isSafe else { return nil }
        return CacheKey(url: request.url, partition: partitions.name(for: request))
    }
}

extension CacheStore {
    /// Removes every response that is stored for the caller of a request, whatever its URL, for instance at sign-out.
    ///
    /// As for any request that reaches the cache, the named partition identifies the caller, or else the credentials do. A
    /// request without either clears the responses that are stored for nobody in particular. So add the credentials that outer
    /// interceptors would add:
    ///
    /// ```swift
    /// var request = HTTPRequest(url: url)
    /// request.context.clientOrigin = Origin(url)      // the client's origin, which may get the token
    /// request.context.cacheMode = .offline            // uses the current token, without a refresh
    /// try await tokens.authorize(&request)
    /// tokens.signOut()                                // no later request gets the token, so none is stored afterwards
    /// try await store.removeAll(for: request)
    /// ```
    /// A client certificate of the client's transport isn't part of such a request: name a partition, or remove all.
    ///
    /// Without a named partition, a new token is a new caller. Responses stored with earlier tokens stay, unreachable, until
    /// the store evicts them. With `.partition(by: tokens)`, `store.removeAll(partition: account.id)` removes them too.
    ///
    /// As after ``removeAll(partition:)``, responses to requests already in progress aren't stored.
    ///
    /// - Throws: the error of the store, also if it can't read the key of the partitions' names (``digestKey()``). Nothing is
    ///   removed then.
    public func removeAll(for request: HTTPRequest) async throws {
        if let named = request.context.namedPartition { return try await removeAll(partition: named) }
        let stored = FieldDigest(key: Array(try await digestKey()))
        // Responses may be stored under a name made with the key of the process, while the store's key couldn't be read.
        let names = [stored, .ofProcess].map { CachePartitions($0).name(for: request) }
        try await removeAll { names.contains($0.key.partition) }
    }
}

private let disconnections = Set<HTTPErrorCode>.brokenExchanges.subtracting([.truncated]).union([.circuitOpen])

extension Error {
    /// Whether the server can't be reached: the code is about the network, the host, the connection, a time limit or an open
    /// circuit, or such an error is the cause (`HTTPError.underlying`). The cache then answers with what it has
    /// stored, where the protocol allows it.
    public var isDisconnection: Bool { isOrIsCausedBy(disconnections) }
}

extension Interceptor where Self == AnyInterceptor {
    // `any`, not `some`: for a generic parameter, completion after `.cache(.` offers no store.
    /// A private HTTP cache (RFC 9111): answers requests with stored responses where HTTP allows it. Caches over the same
    /// store share its entries.
    ///
    /// ```swift
    /// let store = DiskCacheStore(at: cachesDirectory)
    /// let client = Client(
    ///     baseURL: url,
    ///     interceptors: [.validateStatus(), .retryOnUnauthorized(tokens), .bearerAuth(tokens), .cache(store)]
    /// )
    /// var request = HTTPRequest(url: newsURL)
    /// request.context.cacheMode = .revalidate
    /// let response = try await client.send(request)
    /// ```
    /// ## Order
    /// Put the cache inside the interceptors that identify the caller, because it must know who asks. Put it outside a retry: a
    /// hit needs no retry, and if the last attempt fails, the cache can serve a stale response. Put it inside `followRedirects`:
    /// each hop has an entry, and a response that a redirect inside the cache led to isn't stored.
    ///
    /// If an outer interceptor sets `HTTPContext.cachePartition`, the cache may be outside the interceptors that
    /// identify the caller. It then serves stored responses while nobody can sign in. Without a named partition, a GET or HEAD
    /// fails with `HTTPErrorCode.sharedResponse` if an interceptor inside the cache adds a credential.
    /// `HTTPRequest.identifyCaller(by:as:)` says how an interceptor takes part in that check.
    ///
    /// ## Partitions
    /// A request sees only the entries of its partition. The request names its partition
    /// (`HTTPContext.cachePartition`), or the cache uses a fingerprint of the request's credentials. Credentials
    /// are all fields with a sensitive name (`Authorization`, `Cookie`, `X-API-Key`, …) except `Proxy-Authorization`, a user in
    /// the URL, and the transport's client certificate. With fingerprints, a new token is a new partition: name the partition if
    /// tokens change often. Within a named partition, fields that identify the caller don't select a variant, whatever `Vary`
    /// says: a new token of the same account finds the entries of the old one.
    ///
    /// ## What is stored
    /// The cache stores responses to GET, as the protocol allows, while the caller reads them. A response that isn't read to its
    /// end isn't stored. Nor is a partial response (206): a range is answered from a stored complete response. Requests for a
    /// live stream (`CallShape.liveStream`) pass through unchanged; no stored response answers them.
    ///
    /// `Set-Cookie` is stored and replayed like any other field; the jar of `cookies` ignores replayed cookies
    /// (``InterceptorsTransport/HTTPResponse/receivedCookies``). A response that an outer interceptor turns into an error, such as an
    /// envelope of failure with status 200, isn't stored. The parameter `stores` adds a condition.
    ///
    /// ## Invalidation
    /// An unsafe request with a 2xx or 3xx response removes the entries for its URL, and for `Location` and `Content-Location`
    /// of the same origin. If an unsafe request throws an error, the entries for its URL are removed, unless nothing was sent.
    /// Entries are removed in the caller's partition, and in the partition of requests without credentials. Responses in
    /// progress for the same keys aren't stored.
    ///
    /// ## Results
    /// The field `Cache-Status` (RFC 9211) and ``InterceptorsTransport/HTTPContext/cacheOutcome`` of the response say what the cache
    /// did.
    ///
    /// - Parameters:
    ///   - store: keeps the responses, such as `.memory()` or `.disk(at: directory)`.
    ///   - maximumStaleness: how stale a response may be if it is served because the server can't be reached; 7 days by
    ///     default. A staler response counts as not stored. The limit doesn't apply if the request or the response allows a
    ///     stale response (`max-stale`, `stale-if-error`), nor to ``CacheMode/offline``.
    ///   - time: its wall clock gives the ages of responses, and its clock measures how long exchanges take. The clock also
    ///     keeps ages growing if the wall clock is set back.
    ///   - report: called with errors of the store and of background revalidations, and with the error that a stored response
    ///     or a 504 replaces. These errors fail no request. By default, a debug build writes each error as a line to standard
    ///     error, and a release build writes nothing.
    ///   - isDisconnection: whether an error means that the server can't be reached. A stale response may then be served where
    ///     the protocol allows it. With `stale-if-error`, in the request or the response, an exchange that broke off counts
    ///     too. A streamed response that breaks off isn't replaced, because the caller already has its head.
    ///   - stores: an additional condition for storing a response; by default every response that HTTP allows is stored. The
    ///     closure must not consume the body, but may read a body that is in memory: `HTTPBody.data`. After a refusal, an
    ///     older stored response stays.
    public static func cache(
        _ store: any CacheStore,
        maximumStaleness: Duration = .seconds(7 * 86_400),
        time: TimeSource = .system,
        report: (@Sendable (any Error) -> Void)? = nil,
        isDisconnection: @escaping @Sendable (any Error) -> Bool = { $0.isDisconnection },
        stores: (@Sendable (HTTPResponse) -> Bool)? = nil
    ) -> Self {
        Self(
            CacheInterceptor(
                store: store,
                maximumStaleness: maximumStaleness,
                time: time,
                report: report,
                isDisconnection: isDisconnection,
                stores: stores
            )
        )
    }
}
