public import Interceptors

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

    /// As RFC 9111 says. What a request has that asks for nothing else.
    public static var standard: Self { Self(code: .standard) }
    /// Nothing that is stored is used; the response is stored. Caches on the way are told by `Cache-Control: no-cache`.
    public static var reload: Self { Self(code: .reload) }
    /// A stored response is used after the server confirms it, even if the response is fresh. The request asks other caches
    /// with `Cache-Control: max-age=0`, too. Only a fresh `immutable` response is served without asking (RFC 8246 §2).
    public static var revalidate: Self { Self(code: .revalidate) }
    /// What is stored is used where the protocol allows it; nothing is sent, and a 504 is the answer otherwise: to what is
    /// never answered from the store, such as a POST, too. Without a cache in the chain the request fails with
    /// ``TransportError/Code/sendingForbidden``.
    public static var onlyIfCached: Self { Self(code: .onlyIfCached) }
    /// Anything stored is used, however old and whatever it says of itself, as a history is (RFC 9111 §6): for a program
    /// that knows itself to be without a network. Nothing is sent, an expired token isn't refreshed either, and a 504 is the
    /// answer where there is nothing, and to what is never answered from the store, such as a POST. Without a cache in the
    /// chain the request fails with ``TransportError/Code/sendingForbidden``.
    public static var offline: Self { Self(code: .offline) }
    /// As ``standard``, but nothing is stored or updated.
    public static var doNotStore: Self { Self(code: .doNotStore) }

    var sendsNothing: Bool { code == .onlyIfCached || code == .offline }

    /// What a transport says that gets a request of this mode.
    fileprivate var reasonToSendNothing: String {
        "The cacheMode \(self) sends nothing, and no cache in the chain has answered the request: add .cache(store) to it."
    }
}

extension HTTPContext {
    private enum CacheModeKey: HTTPContextKey { static var defaultValue: CacheMode { .standard } }

    /// On a request: how it uses the cache. A mode that sends nothing also sets ``HTTPContext/sendingForbidden``, which
    /// holds where no cache is in the chain; another mode takes that back.
    public var cacheMode: CacheMode {
        get { self[CacheModeKey.self] }
        set {
            if newValue.sendsNothing {
                sendingForbidden = newValue.reasonToSendNothing
            } else if sendingForbidden != nil, sendingForbidden == cacheMode.reasonToSendNothing {
                sendingForbidden = nil
            }
            self[CacheModeKey.self] = newValue
        }
    }
}
