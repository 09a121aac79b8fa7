public import InterceptorsCore

/// Describes how the cache handled a request. The context of the response carries it.
///
/// ```swift
/// if response.context.cacheOutcome?.result == .stale { showAsOutdated() }
/// ```
public struct CacheOutcome: Sendable, Hashable {
    // Stores small codes, not strings, because it is copied several times for each response.

    /// Where the response came from.
    public struct Result: Sendable, Hashable, CustomStringConvertible {
        enum Code: String {
            case hit, stale, revalidated, miss, unsatisfiable
        }

        let code: Code
        /// The name of the result.
        public var description: String { code.rawValue }
        /// From the store, fresh.
        public static var hit: Self { Self(code: .hit) }
        /// From the store, stale: ``CacheOutcome/staleReason`` says why.
        public static var stale: Self { Self(code: .stale) }
        /// From the store, after the server had confirmed it.
        public static var revalidated: Self { Self(code: .revalidated) }
        /// From the server: ``CacheOutcome/forwardReason`` says why.
        public static var miss: Self { Self(code: .miss) }
        /// A 504 made by the cache. Nothing stored may be used, and either the request forbids sending, or the server can't
        /// be reached: then `HTTPContext.underlyingError` says why.
        public static var unsatisfiable: Self { Self(code: .unsatisfiable) }

        /// Whether the response came from the store.
        public var isStored: Bool { code == .hit || code == .stale || code == .revalidated }
    }

    /// Why a request went to the server, in the words of RFC 9211 §2.2, or why a response was served although it is stale.
    public struct Reason: Sendable, Hashable, CustomStringConvertible {
        enum Code: String {
            case bypass, method, request, stale, disconnected, offline
            case uriMiss = "uri-miss"
            case varyMiss = "vary-miss"
            case maxStale = "max-stale"
            case staleWhileRevalidate = "stale-while-revalidate"
            case staleIfError = "stale-if-error"
        }

        let code: Code

        /// The word, as in the field `Cache-Status`.
        public var description: String { code.rawValue }

        // MARK: Asking the server

        /// The cache leaves the request to the server, for instance because the request has content, `If-Match` or several
        /// ranges.
        public static var bypass: Self { Self(code: .bypass) }
        /// The request's method is never answered from a cache.
        public static var method: Self { Self(code: .method) }
        /// No response is stored for the URL.
        public static var uriMiss: Self { Self(code: .uriMiss) }
        /// Responses are stored for the URL, but for other values of the request fields that `Vary` names.
        public static var varyMiss: Self { Self(code: .varyMiss) }
        /// The stored response is fresh, but the request or the response demands that the server is asked.
        public static var request: Self { Self(code: .request) }
        /// The stored response is stale.
        public static var stale: Self { Self(code: .stale) }

        // MARK: Serving a stale response

        /// The request accepts a stale response (`max-stale`).
        public static var maxStale: Self { Self(code: .maxStale) }
        /// The response may be served stale while the cache validates it in the background (RFC 5861 §3).
        public static var staleWhileRevalidate: Self { Self(code: .staleWhileRevalidate) }
        /// The server failed, and the request or the response allows a stale response then (RFC 5861 §4).
        public static var staleIfError: Self { Self(code: .staleIfError) }
        /// The server can't be reached, and nothing forbids a stale response (RFC 9111 §4.2.4).
        public static var disconnected: Self { Self(code: .disconnected) }
        /// The request's mode is ``CacheMode/offline``.
        public static var offline: Self { Self(code: .offline) }
    }

    /// The change that the cache made to the store, or the reason for storing nothing.
    public struct Storing: Sendable, Hashable, CustomStringConvertible {
        enum Code: String {
            case unchanged, stored, updated, invalidated
            case method = "not stored: method"
            case request = "not stored: request"
            case noStore = "not stored: no-store"
            case notUnderstood = "not stored: must-understand"
            case status = "not stored: status"
            case vary = "not stored: Vary"
            case partial = "not stored: partial"
            case refused = "not stored: refused"
            case condition = "not stored: condition"
            case redirected = "not stored: redirected"
        }

        let code: Code
        /// A short description, such as `stored` or `not stored: no-store`.
        public var description: String { code.rawValue }
        /// Nothing changed: the response came from the store, or there was nothing to store.
        public static var unchanged: Self { Self(code: .unchanged) }
        /// The response is stored; a streamed response once its body has been read to the end.
        public static var stored: Self { Self(code: .stored) }
        /// A stored response has new fields, or was marked for validation.
        public static var updated: Self { Self(code: .updated) }
        /// The stored responses for the URL were removed, after an unsafe request.
        public static var invalidated: Self { Self(code: .invalidated) }
        /// The method is not GET.
        public static var method: Self { Self(code: .method) }
        /// The request says `no-store`, has content, or has the mode ``CacheMode/doNotStore``.
        public static var request: Self { Self(code: .request) }
        /// The response says `no-store`.
        public static var noStore: Self { Self(code: .noStore) }
        /// The response says `must-understand`, and the cache doesn't understand its status.
        public static var notUnderstood: Self { Self(code: .notUnderstood) }
        /// The status forbids storing, or requires a permission that the response lacks.
        public static var status: Self { Self(code: .status) }
        /// The response has `Vary: *`, or a malformed `Vary`: no request can select it later.
        public static var vary: Self { Self(code: .vary) }
        /// The response is partial (206): the cache stores complete responses only.
        public static var partial: Self { Self(code: .partial) }
        /// The store refused the response: it is too large, the store failed, or an invalidation came first.
        public static var refused: Self { Self(code: .refused) }
        /// The response fails a condition of the cache (`stores`) or of an outer interceptor
        /// (``InterceptorsTransport/HTTPContext/storeResponse(onlyIf:)``).
        public static var condition: Self { Self(code: .condition) }
        /// A redirect was followed further inside, so the response belongs to another URL. A cache inside `followRedirects`
        /// stores it there. If it marked an earlier response for validation, this is ``updated``.
        public static var redirected: Self { Self(code: .redirected) }
    }

    /// Where the response came from.
    public var result: Result
    /// Why the request went to the server, if it did.
    public var forwardReason: Reason?
    /// Why a stale response was served, if one was.
    public var staleReason: Reason?
    /// The change that the cache made to the store, or the reason for storing nothing.
    public var storing = Storing.unchanged
    /// The age of the response from the store, if it is known.
    public var age: Duration?
    /// How long the response from the store stays fresh; negative if it is stale.
    public var timeToLive: Duration?
    /// The status of the server's response, if the server was asked.
    public var forwardStatus: Int?

    init(_ result: Result) { self.result = result }
}

extension HTTPContext {
    private enum CacheOutcomeKey: HTTPContextKey { static var defaultValue: CacheOutcome? { nil } }

    /// On a response: what the cache did; `nil` if no cache is in the chain.
    public internal(set) var cacheOutcome: CacheOutcome? {
        get { self[CacheOutcomeKey.self] }
        set { self[CacheOutcomeKey.self] = newValue }
    }
}
