public import InterceptorsCore

/// How one request uses the cache.
///
/// ```swift
/// request.context.cacheMode = .revalidate
/// ```
/// The request's own `Cache-Control` is honoured in every mode.
public struct CacheMode: Sendable, Hashable, CustomStringConvertible {
    private enum Code: String {
        case standard, reload, revalidate, onlyIfCached, offline, doNotStore
    }

    private let code: Code
    /// The name of the mode.
    public var description: String { code.rawValue }

    /// The cache does what RFC 9111 says. The default.
    public static var standard: Self { Self(code: .standard) }
    /// No stored response is used; the response is stored. `Cache-Control: no-cache` asks caches on the way to do the same.
    public static var reload: Self { Self(code: .reload) }
    /// A stored response is used after the server confirms it, even if it is fresh. Only a fresh `immutable` response is
    /// served without asking (RFC 8246 §2). `Cache-Control: max-age=0` asks caches on the way to do the same. If the server can't
    /// be reached, the call fails: for the old content, ask again with ``offline``.
    public static var revalidate: Self { Self(code: .revalidate) }
    /// A stored response is used where the protocol allows it. Otherwise the response is a 504, and nothing is sent.
    ///
    /// A request that is never answered from the store, such as a POST, also gets a 504. Without a cache in the chain, the
    /// request fails with `HTTPErrorCode.sendingForbidden`.
    public static var onlyIfCached: Self { Self(code: .onlyIfCached) }
    /// The response that is stored for the URL is used, whatever its age and its directives say, as a browser's history does (RFC
    /// 9111 §6). As in every mode, it belongs to the caller's partition, and to the values of the fields that `Vary` names.
    ///
    /// Use it when the app knows it is offline. Nothing is sent, and an expired token isn't refreshed. If nothing is stored, or
    /// the request is never answered from the store, such as a POST, the response is a 504. Without a cache in the chain, the
    /// request fails with `HTTPErrorCode.sendingForbidden`.
    public static var offline: Self { Self(code: .offline) }
    /// The cache behaves as in ``standard``, but stores and updates nothing.
    public static var doNotStore: Self { Self(code: .doNotStore) }

    var sendsNothing: Bool { code == .onlyIfCached || code == .offline }

    /// The message of the error if a request in this mode reaches a transport.
    fileprivate var reasonToSendNothing: String {
        "The cacheMode \(self) sends nothing, and no cache in the chain has answered the request: add .cache(store) to it."
    }
}

extension HTTPContext {
    private enum CacheModeKey: HTTPContextKey { static var defaultValue: CacheMode { .standard } }

    /// On a request: how it uses the cache; ``CacheMode/standard`` by default.
    ///
    /// A mode that sends nothing also sets `HTTPContext.sendingForbidden`, so that a transport refuses the request if no
    /// cache is in the chain. Setting another mode takes that back.
    public var cacheMode: CacheMode {
        get { self[CacheModeKey.self] }
        set {
            if newValue.sendsNothing {
                sendingForbidden = newValue.reasonToSendNothing
            } else if sendingForbidden != nil, sendingForbidden == cacheMode.reasonToSendNothing {
                sendingForbidden = nil
            }
            let harm = "No cache acts on it: .offline and .onlyIfCached fail unsent, and other modes have no effect."
            noteWish("cacheMode", if: newValue != .standard, grantedBy: .stores, ".cache(store)", harm: harm)
            self[CacheModeKey.self] = newValue
        }
    }
}
