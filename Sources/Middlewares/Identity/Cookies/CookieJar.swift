public import Foundation
internal import Synchronization

/// Stores the cookies of one client, or of several clients that share the jar.
///
/// The jar follows RFC 6265, and the stricter draft of its successor (draft-ietf-httpbis-rfc6265bis). A response over http
/// neither sets a secure cookie nor replaces one. The prefixes `__Secure-` and `__Host-` are enforced. No cookie lives longer
/// than 400 days.
///
/// The jar lives in memory, or keeps its cookies in a file: ``init(file:time:report:)``. To persist them elsewhere, store the cookies
/// that `persist` gets, which are `Codable`, and pass them to the next jar. Leave out cookies without ``Cookie/expires``, which should
/// end with the jar.
///
/// ```swift
/// let jar = CookieJar(file: folder.appending(path: "cookies.json"))
/// let other = CookieJar(storage.load(), persist: { cookies in await storage.save(cookies) })
/// ```
///
/// The jar doesn't use Foundation's `HTTPCookieStorage`. On Linux, that storage sends cookies to paths they aren't for, and
/// secure cookies over http. It ignores `Max-Age`, lets one host set another host's cookies, and keeps everything in a file
/// that programs share. To exchange cookies with Foundation or a web view on Apple platforms, use `Cookie.init(_:)` and `httpCookie`.
///
/// ## Public suffixes
/// A server can set cookies for a parent domain. The jar refuses `Domain=com`, because nobody owns a single label. Longer
/// public suffixes such as `co.uk` or `github.io` are known only to a list, which this package doesn't contain. If your
/// client talks to hosts that don't trust their neighbours, pass such a list as `isPublicSuffix`, or refuse every domain with
/// `{ _ in true }`: each cookie then goes only to the host that set it.
public final class CookieJar: Sendable {
    /// The cookies behind a lock. The persisting task refers to this object instead of the jar, so that it doesn't keep the jar
    /// alive.
    private final class Held: Sendable {
        /// Until the persisting task reads the changes, only the first is announced, so that the queue doesn't grow while
        /// persisting is slow.
        let state: Mutex<(store: CookieStore, isAnnounced: Bool)>

        init(_ store: CookieStore) { state = Mutex((store, false)) }
    }

    private let held: Held
    private let now: @Sendable () -> Date
    private let persistence: SerialPersister<Void>?

    /// Creates a jar.
    ///
    /// - Parameters:
    ///   - cookies: the cookies to start with. Invalid cookies (``Cookie/isValid``) are dropped.
    ///   - limit: the maximum number of cookies, 3,000 by default. Beyond it, the jar drops the least recently used cookies.
    ///   - limitPerDomain: the maximum number of cookies per domain, 50 by default.
    ///   - time: its wall clock decides whether a cookie has expired.
    ///   - persist: called after a change with all cookies that have not expired. The calls are serial, and changes made
    ///     during a call lead to one further call. A cookie that is set again unchanged, or that expires, is not a change. No
    ///     request waits for a call.
    ///   - isPublicSuffix: whether a domain, in lower case, is a public suffix, for which no server may set cookies. By
    ///     default, every single label is.
    public init(
        _ cookies: [Cookie] = [],
        limit: Int = 3000,
        limitPerDomain: Int = 50,
        time: TimeSource = .system,
        persist: (@Sendable ([Cookie]) async -> Void)? = nil,
        isPublicSuffix: @escaping @Sendable (String) -> Bool = { !$0.contains(".") }
    ) {
        var store = CookieStore(limit: limit, limitPerDomain: limitPerDomain, isPublicSuffix: isPublicSuffix)
        for cookie in cookies where cookie.isValid { store.insert(cookie, at: time.now()) }
        let held = Held(store)
        self.held = held
        now = time.now
        persistence = persist.map { persist in
            SerialPersister {
                let date = time.now()
                let cookies = held.state.withLock { held in
                    held.isAnnounced = false
                    return held.store.all(at: date)
                }
                await persist(cookies)
            }
        }
    }

    /// All cookies that have not expired, oldest first.
    public var cookies: [Cookie] {
        let date = now()
        return held.state.withLock { $0.store.all(at: date) }
    }

    /// The cookies for a request to this URL, in the order of the `Cookie` field: longer paths first, then older cookies
    /// first (RFC 6265 §5.4).
    public func cookies(for url: URL) -> [Cookie] {
        guard let host = CookieHost(url) else { return [] }
        let date = now()
        return held.state.withLock { $0.store.cookies(for: host, at: date) }
    }

    /// Stores the cookies that a response sets. Each `Set-Cookie` field is handled separately. The jar refuses a cookie whose
    /// octets aren't UTF-8, because it could not send the same octets back.
    ///
    /// - Parameters:
    ///   - fields: the response's fields.
    ///   - url: the URL of the request that the response belongs to.
    public func receive(_ fields: HTTPFields, from url: URL) { receive(fields, from: url, unlessClearedSince: nil) }

    /// How often all cookies have been removed.
    var clearCount: Int { held.state.withLock { $0.store.clearCount } }

    /// Stores the cookies that a response sets, unless all cookies were removed since its request was sent: the response
    /// belongs to a session that has ended.
    func receive(_ fields: HTTPFields, from url: URL, unlessClearedSince count: Int?) {
        guard fields.contains(.setCookie), let host = CookieHost(url) else { return }
        let date = now()
        let settings = fields.filter { $0.name == .setCookie && !$0.isTranscoded }.compactMap { SetCookie($0.value) }
        change { store in
            if let count, count != store.clearCount { return }
            for setting in settings { store.receive(setting, from: host, at: date) }
        }
    }

    /// Stores a cookie, replacing the cookie of the same name, domain and path.
    ///
    /// - Returns: `false` if the jar refuses the cookie, because it is invalid (``Cookie/isValid``).
    @discardableResult
    public func insert(_ cookie: Cookie) -> Bool {
        guard cookie.isValid else { return false }
        let date = now()
        change { $0.insert(cookie, at: date) }
        return true
    }

    /// Removes all cookies, such as at a sign-out. A response to an earlier request sets no cookies afterwards.
    public func removeAll() { change { $0.removeAll() } }

    /// Removes the cookies that match. A response to an earlier request may set them again.
    public func removeAll(where matches: (Cookie) -> Bool) { change { $0.remove(where: matches) } }

    /// Waits until `persist` has returned for every change made so far, for instance before the process ends.
    public func waitUntilPersisted() async { await persistence?.finishPending() }

    private func change(_ body: (inout CookieStore) -> Void) {
        held.state.withLock { held in
            let before = held.store.changes
            body(&held.store)
            guard held.store.changes != before, !held.isAnnounced else { return }
            held.isAnnounced = true
            // Under the lock, so that a caller who waits for persistence after a change also waits for its announcement.
            persistence?.enqueue(())
        }
    }
}

extension CookieJar: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The number of cookies.
    public var description: String { "CookieJar(\(cookies.count) cookies)" }

    /// Equal to ``description``.
    public var debugDescription: String { description }

    /// A mirror without the cookies' values.
    public var customMirror: Mirror { Mirror(self, children: ["cookies": cookies], displayStyle: .class) }
}
