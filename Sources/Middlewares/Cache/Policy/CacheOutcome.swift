public import Interceptors

/// What the cache did for a request: the context of its response carries it.
///
/// ```swift
/// if response.context.cacheOutcome?.result == .stale { showAsOutdated() }
/// ```
public struct CacheOutcome: Sendable, Hashable {
    /// Where the response came from.
    public struct Result: Sendable, Hashable, CustomStringConvertible {
        /// The name of the result.
        public let description: String
        /// From the store, fresh.
        public static let hit = Self(description: "hit")
        /// From the store, stale: ``CacheOutcome/staleReason`` says why.
        public static let stale = Self(description: "stale")
        /// From the store, after the server had confirmed it.
        public static let revalidated = Self(description: "revalidated")
        /// From the server: ``CacheOutcome/forwardReason`` says why.
        public static let miss = Self(description: "miss")
        /// From nowhere: a 504, because nothing stored could be used and nothing be sent.
        public static let unsatisfiable = Self(description: "unsatisfiable")
    }

    /// Why a request went to the server, in the words of RFC 9211 §2.2.
    public struct ForwardReason: Sendable, Hashable, CustomStringConvertible {
        /// The word, as in the field `Cache-Status`.
        public let description: String
        /// The cache doesn't handle such requests.
        public static let bypass = Self(description: "bypass")
        /// The method isn't one that is answered from a cache.
        public static let method = Self(description: "method")
        /// Nothing is stored for the URL.
        public static let uriMiss = Self(description: "uri-miss")
        /// Something is stored for the URL, but for other values of the fields that `Vary` names.
        public static let varyMiss = Self(description: "vary-miss")
        /// What is stored is fresh, but the request or the response wants the server to be asked.
        public static let request = Self(description: "request")
        /// What is stored is stale.
        public static let stale = Self(description: "stale")
    }

    /// Why a response was served although it is stale.
    public struct StaleReason: Sendable, Hashable, CustomStringConvertible {
        /// The name of the reason.
        public let description: String
        /// The request allows it (`max-stale`).
        public static let maxStale = Self(description: "max-stale")
        /// The response allows it while it is being validated (RFC 5861 §3).
        public static let staleWhileRevalidate = Self(description: "stale-while-revalidate")
        /// The server failed, and request or response allow it then (RFC 5861 §4).
        public static let staleIfError = Self(description: "stale-if-error")
        /// The server can't be reached, and nothing forbids it (RFC 9111 §4.2.4).
        public static let disconnected = Self(description: "disconnected")
        /// The request is ``CacheMode/offline``.
        public static let offline = Self(description: "offline")
    }

    /// What became of the store.
    public struct Storing: Sendable, Hashable, CustomStringConvertible {
        /// The name of it.
        public let description: String
        /// Nothing was to be stored, since the response came from there.
        public static let unchanged = Self(description: "unchanged")
        /// The response is stored, once its body has been read to the end.
        public static let stored = Self(description: "stored")
        /// What is stored has got new fields.
        public static let updated = Self(description: "updated")
        /// What was stored for the URL is gone.
        public static let invalidated = Self(description: "invalidated")
        /// The method is not GET.
        public static let method = Self(description: "not stored: method")
        /// The request forbids it, or isn't one that the cache handles.
        public static let request = Self(description: "not stored: request")
        /// The response says `no-store`.
        public static let noStore = Self(description: "not stored: no-store")
        /// The response says `must-understand` and has a status that isn't.
        public static let notUnderstood = Self(description: "not stored: must-understand")
        /// The status can't be stored, at least not without explicit permission.
        public static let status = Self(description: "not stored: status")
        /// `Vary: *`.
        public static let vary = Self(description: "not stored: Vary")
        /// It is a part of something (206).
        public static let partial = Self(description: "not stored: partial")
        /// The store refused it: too large, or failing.
        public static let refused = Self(description: "not stored: refused")
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
