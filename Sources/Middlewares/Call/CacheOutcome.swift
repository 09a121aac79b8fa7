public import Interceptors

/// What the cache did for a request: the context of its response carries it.
///
/// ```swift
/// if response.context.cacheOutcome?.result == .stale { showAsOutdated() }
/// ```
public struct CacheOutcome: Sendable, Hashable {
    // All is in codes, whose words are looked up when they are asked for: it is copied several times for each response.

    /// Where the response came from.
    public struct Result: Sendable, Hashable, CustomStringConvertible {
        enum Code: String {
            case hit
            case stale
            case revalidated
            case miss
            case unsatisfiable
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
        /// A 504 of the cache: nothing stored may be used, and either nothing may be sent, or the server can't be reached
        /// (``HTTPContext/underlyingError``).
        public static var unsatisfiable: Self { Self(code: .unsatisfiable) }

        /// Whether the response is a stored one.
        var isStored: Bool { code == .hit || code == .stale || code == .revalidated }
    }

    /// Why a request went to the server, in the words of RFC 9211 §2.2.
    public struct ForwardReason: Sendable, Hashable, CustomStringConvertible {
        enum Code: String {
            case bypass
            case method
            case uriMiss = "uri-miss"
            case varyMiss = "vary-miss"
            case request
            case stale
        }

        let code: Code
        /// The word, as in the field `Cache-Status`.
        public var description: String { code.rawValue }
        /// The cache doesn't handle such requests.
        public static var bypass: Self { Self(code: .bypass) }
        /// The method isn't one that is answered from a cache.
        public static var method: Self { Self(code: .method) }
        /// Nothing is stored for the URL.
        public static var uriMiss: Self { Self(code: .uriMiss) }
        /// Something is stored for the URL, but for other values of the fields that `Vary` names.
        public static var varyMiss: Self { Self(code: .varyMiss) }
        /// What is stored is fresh, but the request or the response wants the server to be asked.
        public static var request: Self { Self(code: .request) }
        /// What is stored is stale.
        public static var stale: Self { Self(code: .stale) }
    }

    /// Why a response was served although it is stale.
    public struct StaleReason: Sendable, Hashable, CustomStringConvertible {
        enum Code: String {
            case maxStale = "max-stale"
            case staleWhileRevalidate = "stale-while-revalidate"
            case staleIfError = "stale-if-error"
            case disconnected
            case offline
        }

        let code: Code
        /// The name of the reason.
        public var description: String { code.rawValue }
        /// The request allows it (`max-stale`).
        public static var maxStale: Self { Self(code: .maxStale) }
        /// The response allows it while it is being validated (RFC 5861 §3).
        public static var staleWhileRevalidate: Self { Self(code: .staleWhileRevalidate) }
        /// The server failed, and request or response allow it then (RFC 5861 §4).
        public static var staleIfError: Self { Self(code: .staleIfError) }
        /// The server can't be reached, and nothing forbids it (RFC 9111 §4.2.4).
        public static var disconnected: Self { Self(code: .disconnected) }
        /// The request is ``CacheMode/offline``.
        public static var offline: Self { Self(code: .offline) }
    }

    /// What became of the store.
    public struct Storing: Sendable, Hashable, CustomStringConvertible {
        enum Code: String {
            case unchanged
            case stored
            case updated
            case invalidated
            case method = "not stored: method"
            case request = "not stored: request"
            case noStore = "not stored: no-store"
            case notUnderstood = "not stored: must-understand"
            case status = "not stored: status"
            case vary = "not stored: Vary"
            case partial = "not stored: partial"
            case refused = "not stored: refused"
            case condition = "not stored: condition"
        }

        let code: Code
        /// The name of it.
        public var description: String { code.rawValue }
        /// Nothing was to be stored, since the response came from there.
        public static var unchanged: Self { Self(code: .unchanged) }
        /// The response is stored, once its body has been read to the end.
        public static var stored: Self { Self(code: .stored) }
        /// What is stored has got new fields.
        public static var updated: Self { Self(code: .updated) }
        /// What was stored for the URL is gone.
        public static var invalidated: Self { Self(code: .invalidated) }
        /// The method is not GET.
        public static var method: Self { Self(code: .method) }
        /// The request forbids it, or isn't one that the cache handles.
        public static var request: Self { Self(code: .request) }
        /// The response says `no-store`.
        public static var noStore: Self { Self(code: .noStore) }
        /// The response says `must-understand` and has a status that isn't.
        public static var notUnderstood: Self { Self(code: .notUnderstood) }
        /// The status can't be stored, at least not without explicit permission.
        public static var status: Self { Self(code: .status) }
        /// `Vary: *`.
        public static var vary: Self { Self(code: .vary) }
        /// It is a part of something (206).
        public static var partial: Self { Self(code: .partial) }
        /// The store refused it: too large, failing, or cleared since the request was made.
        public static var refused: Self { Self(code: .refused) }
        /// The response fails a condition of the cache (`stores`) or of an outer interceptor
        /// (``HTTPContext/storeResponse(onlyIf:)``).
        public static var condition: Self { Self(code: .condition) }
    }

    /// Where the response came from.
    public var result: Result
    /// Why the request went to the server, if it did.
    public var forwardReason: ForwardReason?
    /// Why a stale response was served, if one was.
    public var staleReason: StaleReason?
    /// What became of the store.
    public var storing = Storing.unchanged
    /// The age of what came from the store, where it is known.
    public var age: Duration?
    /// For how long it is fresh; negative for how long it isn't.
    public var timeToLive: Duration?
    /// The status that the server gave, if it was asked.
    public var forwardStatus: Int?

    init(_ result: Result) { self.result = result }
}

extension HTTPContext {
    private enum CacheOutcomeKey: HTTPContextKey { static var defaultValue: CacheOutcome? { nil } }

    /// On a response: what the cache did, `nil` where none stands in the chain.
    public internal(set) var cacheOutcome: CacheOutcome? {
        get { self[CacheOutcomeKey.self] }
        set { self[CacheOutcomeKey.self] = newValue }
    }
}
