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
/// stored. Parts (206) are handed on. `Set-Cookie` is never among the fields that are stored: a cookie is set once, by the
/// answer it came with. An unsafe request that succeeds removes what is stored for its URL, `Location` and
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
    ///   - report: gets what the store throws, and what fails a revalidation in the background. No request fails of it.
    public init(
        store: any CacheStore,
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() },
        isDisconnection: @escaping @Sendable (any Error) -> Bool = CacheInterceptor.isDisconnection,
        report: @escaping @Sendable (any Error) -> Void = { _ in }
    ) {
        core = CacheCore(
            store: store,
            time: CacheTime(clock: clock, now: now),
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
    ///   - report: gets what the store throws, and what fails a revalidation in the background. No request fails of it.
    public static func cache(
        _ store: some CacheStore,
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() },
        isDisconnection: @escaping @Sendable (any Error) -> Bool = CacheInterceptor.isDisconnection,
        report: @escaping @Sendable (any Error) -> Void = { _ in }
    ) -> Self {
        Self(store: store, clock: clock, now: now, isDisconnection: isDisconnection, report: report)
    }
}
