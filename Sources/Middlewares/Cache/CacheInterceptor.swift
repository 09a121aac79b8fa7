public import Foundation
public import Interceptors

/// Answers requests with stored responses where HTTP allows it: a private cache after RFC 9111.
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
/// ## Its place
/// Inside what identifies the caller, since it must know who asks; outside a retry, since a hit needs none and a failure
/// after the last attempt may be answered with a stale response. With ``Interceptors/HTTPContext/cachePartition`` set by
/// something outside, it may stand outside of what identifies, and then serves while nobody can sign in. Without one, a GET
/// or HEAD to which something inside adds a credential fails with a ``ChainOrderError``: ``ResponseSharing`` says how an
/// interceptor takes part in that.
///
/// ## Who sees what
/// Each caller has a partition. A request names it (``Interceptors/HTTPContext/cachePartition``), or it is a fingerprint
/// of every field with a sensitive name (`Authorization`, `Cookie`, `X-API-Key`, …). A new token is a new partition, so a
/// program that rotates tokens often does well to name it.
///
/// ## What is stored
/// Complete responses to GET, as the protocol allows, while the caller reads them: what isn't read to its end isn't
/// stored. Parts (206) are handed on. `Set-Cookie` is stored and replayed like any other field; the jar
/// of ``CookiesInterceptor`` ignores replayed cookies (``Interceptors/HTTPResponse/receivedCookies``). A response that an
/// outer interceptor turns into an error, such as an envelope of failure with status 200, isn't stored; `stores` adds a
/// condition. An unsafe request that succeeds removes what is stored for its URL, `Location` and
/// `Content-Location`, for its caller and for those without a partition, and voids what is on its way; one that failed
/// removes what is stored for its URL, unless nothing of it was sent.
///
/// ## What happened
/// stands in `Cache-Status` (RFC 9211), and in ``Interceptors/HTTPContext/cacheOutcome`` of the response.
public struct CacheInterceptor: Interceptor {
    let core: CacheCore

    /// A cache.
    ///
    /// - Parameters:
    ///   - store: keeps the responses.
    ///   - clock: measures how long exchanges take, and goes on when the wall clock is moved back.
    ///   - now: the wall clock, by which ages are told.
    ///   - isDisconnection: whether an error says that the server can't be reached, so that a stale response may be
    ///     served where the protocol allows it; by default what ``isDisconnection(_:)`` says. Where request or response
    ///     allow one for any failure (`stale-if-error`), an exchange that broke off is one as well; a response that is
    ///     streamed has been handed out by then.
    ///   - maximumStaleness: the maximum staleness of a response that is served because the server can't be reached; 7 days
    ///     by default. A staler one counts as not stored. The limit doesn't apply if request or response allow a stale
    ///     response (`max-stale`, `stale-if-error`), nor to ``CacheMode/offline``.
    ///   - stores: whether to store a response that HTTP allows to store; by default all. The closure must not consume the
    ///     body, but may read one that is in memory: ``HTTPBody/bytes``. After a refusal, an older stored response stays.
    ///   - report: called with errors of the store, of a revalidation in the background, and with the error that a stored
    ///     response or a 504 replaces. They fail no request. By default a debug build writes each error as a line to standard
    ///     error, and a release build writes nothing.
    public init(
        store: any CacheStore,
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() },
        isDisconnection: @escaping @Sendable (any Error) -> Bool = CacheInterceptor.isDisconnection,
        maximumStaleness: Duration = .seconds(7 * 86_400),
        stores: (@Sendable (HTTPResponse) -> Bool)? = nil,
        report: @escaping @Sendable (any Error) -> Void = CacheInterceptor.reportWhileDebugging
    ) {
        core = CacheCore(
            store: store,
            time: CacheTime(clock: clock, now: now),
            maximumStaleness: maximumStaleness,
            stores: stores,
            isDisconnection: isDisconnection,
            report: report
        )
    }

    /// Answers from the store, or passes the request on and stores the response.
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        if !core.isPrepared { await core.prepare() }
        guard let key = core.key(for: request) else {
            if request.context.cacheMode.sendsNothing {
                return CacheAnswers.gatewayTimeout(request, CacheOutcome(.unsatisfiable))
            }
            return try await next(request)
        }
        return try await core.answer(request, key, next)
    }

    /// Removes all responses that are stored for the caller of a request, whatever their URL, for instance at sign-out.
    ///
    /// The request's partition, or else its credentials, identify the caller, as for a request that reaches the cache. So add
    /// the credentials that outer interceptors would add:
    ///
    /// ```swift
    /// let cache = CacheInterceptor(store: store)      // … in the chain
    ///
    /// var request = HTTPRequest(url: url)
    /// request.context.cacheMode = .offline            // uses the current token, without a refresh
    /// try await tokens.authorize(&request)
    /// try await cache.removeAll(for: request)
    /// tokens.signOut()
    /// ```
    /// Without a named partition, a new token is a new caller. Responses that were stored with earlier tokens stay, unreachable,
    /// until the store evicts them. With `.partition(by: tokens)`, `store.removeAll(partition: account.id)` removes them too.
    ///
    /// As with ``CacheStore/removeAll(partition:)``, a response to an earlier request isn't stored afterwards.
    ///
    /// - Throws: the error of the store.
    public func removeAll(for request: HTTPRequest) async throws {
        if !core.isPrepared { await core.prepare() }
        try await core.store.removeAll(partition: core.partitions.name(for: request))
    }

    /// The default of `report`: in a debug build, writes the error as a line to standard error, with secrets redacted.
    @Sendable
    public static func reportWhileDebugging(_ error: any Error) { DebugReport.cache(error) }

    /// Whether an error says that the server can't be reached: a ``Transport/TransportError`` about the host, the connection
    /// or a time limit, or a ``CircuitOpenError``.
    public static func isDisconnection(_ error: any Error) -> Bool {
        if let error = error as? any RefusedRequestError { return error.saysOutOfReach }
        guard let error = error as? TransportError else { return false }
        return [.cannotFindHost, .cannotConnect, .connectionLost, .timedOut].contains(error.code)
    }
}

extension Interceptor where Self == CacheInterceptor {
    /// Answers requests with stored responses where HTTP allows it: see ``CacheInterceptor``.
    ///
    /// - Parameters:
    ///   - store: keeps the responses, such as `.memory()` or `.disk(at: directory)`.
    ///   - clock: measures how long exchanges take, and goes on when the wall clock is moved back.
    ///   - now: the wall clock, by which ages are told.
    ///   - isDisconnection: whether an error says that the server can't be reached, so that a stale response may be
    ///     served where the protocol allows it; by default what ``CacheInterceptor/isDisconnection(_:)`` says.
    ///   - maximumStaleness: the maximum staleness of a response that is served because the server can't be reached; 7 days
    ///     by default. A staler one counts as not stored. The limit doesn't apply if request or response allow a stale
    ///     response (`max-stale`, `stale-if-error`), nor to ``CacheMode/offline``.
    ///   - stores: whether to store a response that HTTP allows to store; by default all. The closure must not consume the
    ///     body, but may read one that is in memory: ``HTTPBody/bytes``. After a refusal, an older stored response stays.
    ///   - report: called with errors of the store, of a revalidation in the background, and with the error that a stored
    ///     response or a 504 replaces. They fail no request. By default a debug build writes each error as a line to standard
    ///     error, and a release build writes nothing.
    public static func cache(
        _ store: some CacheStore,
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() },
        isDisconnection: @escaping @Sendable (any Error) -> Bool = CacheInterceptor.isDisconnection,
        maximumStaleness: Duration = .seconds(7 * 86_400),
        stores: (@Sendable (HTTPResponse) -> Bool)? = nil,
        report: @escaping @Sendable (any Error) -> Void = CacheInterceptor.reportWhileDebugging
    ) -> Self {
        Self(
            store: store,
            clock: clock,
            now: now,
            isDisconnection: isDisconnection,
            maximumStaleness: maximumStaleness,
            stores: stores,
            report: report
        )
    }
}
