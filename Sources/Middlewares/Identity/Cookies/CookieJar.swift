public import Foundation

/// The cookies of one client, or of several that share it on purpose.
///
/// It follows RFC 6265 and, where that is too lenient, the draft of its successor: a cookie over http neither is secure nor
/// takes the place of a secure one, the prefixes `__Secure-` and `__Host-` are held to, and none lives longer than 400 days.
/// It lives in memory. To keep cookies, which are `Codable`, store those that `persist` is called with, and hand them to the
/// next jar; those without ``Cookie/expires`` were meant for the life of this one.
///
/// ```swift
/// let jar = CookieJar(storage.load(), persist: { cookies in await storage.save(cookies) })
/// ```
///
/// It doesn't use Foundation's `HTTPCookieStorage`, which on Linux sends cookies to paths that they are not for and secure
/// ones over http, ignores `Max-Age`, lets one host set those of another, and keeps all in a file that programs share. To
/// exchange cookies with it or with a web view there are ``Cookie/init(_:)`` and ``Cookie/httpCookie``.
///
/// ## Public suffixes
/// A server can set cookies for a domain above it. For `Domain=com` that is refused, since a single label is nobody's own;
/// of longer suffixes such as `co.uk` or `github.io` only a list knows, which isn't part of this package. Where a
/// client talks to hosts that don't trust their neighbours, hand in such a list by `isPublicSuffix`, or refuse every domain by
/// `{ _ in true }`: then each cookie goes to the host alone that set it.
public final class CookieJar: Sendable {
    private let held: HeldCookies
    private let now: @Sendable () -> Date
    private let persistence: Persistence<Void>?

    /// A jar.
    ///
    /// - Parameters:
    ///   - cookies: what it holds to begin with, except invalid ones (``Cookie/isValid``).
    ///   - limit: the most cookies that it holds; beyond it, those go that were not used for longest.
    ///   - limitPerDomain: the most that it holds of one domain.
    ///   - now: the wall clock that expiries are compared with.
    ///   - persist: called with all cookies that have not expired, after they have changed: one call after the other, each
    ///     with the state of its moment, so that changes that came during a call are one. A cookie that is set again just as
    ///     it was, or that expires, is no change. No request waits for it.
    ///   - isPublicSuffix: whether a domain, in lower case, is one that nobody may set cookies for. By default those of a
    ///     single label are.
    public init(
        _ cookies: [Cookie] = [],
        limit: Int = 3000,
        limitPerDomain: Int = 50,
        now: @escaping @Sendable () -> Date = { Date() },
        persist: (@Sendable ([Cookie]) async -> Void)? = nil,
        isPublicSuffix: @escaping @Sendable (String) -> Bool = { !$0.contains(".") }
    ) {
        var store = CookieStore(limit: limit, limitPerDomain: limitPerDomain, isPublicSuffix: isPublicSuffix)
        for cookie in cookies where cookie.isValid { store.insert(cookie, at: now()) }
        let held = HeldCookies(store)
        self.held = held
        self.now = now
        persistence = persist.map { persist in Persistence { await persist(held.takeChanges(at: now())) } }
    }

    /// All cookies that have not expired, the oldest first.
    public var cookies: [Cookie] {
        held.all(at: now())
    }

    /// The cookies that a request to this URL is sent with, in their order.
    public func cookies(for url: URL) -> [Cookie] {
        guard let host = CookieHost(url) else { return [] }
        return held.cookies(for: host, at: now())
    }

    /// Takes the cookies that a response sets: each `Set-Cookie` field on its own. A cookie whose octets aren't
    /// UTF-8 is refused, because it would be sent back with other octets.
    ///
    /// - Parameters:
    ///   - fields: the response's fields.
    ///   - url: the URL of the request that it answers.
    public func receive(_ fields: HTTPFields, from url: URL) { receive(fields, from: url, unlessClearedSince: nil) }

    /// How often all cookies were removed.
    var clearCount: Int { held.clearCount }

    /// Takes the cookies that a response sets, unless all were removed since its request was sent: they are of a session that
    /// has ended.
    func receive(_ fields: HTTPFields, from url: URL, unlessClearedSince count: Int?) {
        guard fields.contains(.setCookie), let host = CookieHost(url) else { return }
        let date = now()
        let settings = fields.filter { $0.name == .setCookie && !$0.isTranscoded }.compactMap { SetCookie($0.value) }
        change { store in
            if let count, count != store.clearCount { return }
            for setting in settings { store.receive(setting, from: host, at: date) }
        }
    }

    /// Puts a cookie in, in the place of one of the same name, domain and path.
    ///
    /// - Returns: `false` if the jar refuses the cookie, because it is invalid (``Cookie/isValid``).
    @discardableResult
    public func insert(_ cookie: Cookie) -> Bool {
        guard cookie.isValid else { return false }
        let date = now()
        change { $0.insert(cookie, at: date) }
        return true
    }

    /// Takes all cookies out, as at a sign-out. A response to a request from before sets none afterwards.
    public func removeAll() { change { $0.removeAll() } }

    /// Takes some cookies out. A response to a request from before may set them again.
    public func removeAll(where matches: (Cookie) -> Bool) { change { $0.remove(where: matches) } }

    /// Waits until `persist` has returned for every change made so far, for instance before the process ends.
    public func waitUntilPersisted() async { await persistence?.finishPending() }

    private func change(_ body: (inout CookieStore) -> Void) {
        held.change(body) { persistence?.enqueue(()) }
    }
}

extension CookieJar: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// How many cookies it holds.
    public var description: String { "CookieJar(\(cookies.count) cookies)" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// A mirror without values.
    public var customMirror: Mirror { Mirror(self, children: ["cookies": cookies], displayStyle: .class) }
}
