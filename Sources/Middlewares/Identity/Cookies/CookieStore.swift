internal import Foundation

/// The state of a jar, by domain: ``CookieJar`` mutates it under a lock.
struct CookieStore: Sendable {
    private struct Entry: Sendable {
        var cookie: Cookie
        var created: Int
        var used: Int
    }

    private var entries: [String: [Entry]] = [:]
    private var count = 0
    /// Increases with each change of the cookies. A new use of a cookie doesn't count.
    private(set) var changes = 0
    /// Increases each time all cookies are removed.
    private(set) var clearCount = 0
    private var tick = 0
    private let limit: Int
    private let limitPerDomain: Int
    private let isPublicSuffix: @Sendable (String) -> Bool

    // No cookie lives longer without being set again (draft-ietf-httpbis-rfc6265bis §5.5).
    private static let longestLife: Double = 400 * 86_400

    init(limit: Int, limitPerDomain: Int, isPublicSuffix: @escaping @Sendable (String) -> Bool) {
        self.limit = max(0, limit)
        self.limitPerDomain = max(0, limitPerDomain)
        self.isPublicSuffix = isPublicSuffix
    }

    func all(at date: Date) -> [Cookie] {
        entries.values.joined().filter { !Self.isOver($0.cookie, at: date) }.sorted { $0.created < $1.created }
            .map(\.cookie)
    }

    // MARK: Sending

    /// The cookies for a host: longer paths first, then older cookies first (RFC 6265 §5.4).
    mutating func cookies(for host: CookieHost, at date: Date) -> [Cookie] {
        guard count > 0 else { return [] }
        tick += 1
        var found: [Entry] = []
        var domain = host.name[...]
        while true {
            use(of: String(domain), for: host, at: date, in: &found)
            guard !host.isAddress, let dot = domain.utf8.firstIndex(of: UInt8(ascii: ".")) else { break }
            domain = domain[domain.utf8.index(after: dot)...]
        }
        return found.sorted { left, right in
            let (leftLength, rightLength) = (left.cookie.path.utf8.count, right.cookie.path.utf8.count)
            return leftLength == rightLength ? left.created < right.created : leftLength > rightLength
        }.map(\.cookie)
    }

    private mutating func use(of domain: String, for host: CookieHost, at date: Date, in found: inout [Entry]) {
        guard var held = entries[domain] else { return }
        var isChanged = false
        for index in held.indices where Self.goes(held[index].cookie, to: host, at: date) {
            held[index].used = tick
            isChanged = true
            found.append(held[index])
        }
        if isChanged { entries[domain] = held }
    }

    private static func goes(_ cookie: Cookie, to host: CookieHost, at date: Date) -> Bool {
        (cookie.isHostOnly ? host.name == cookie.domain : host.matches(domain: cookie.domain))
            && CookieHost.path(host.path, isBelow: cookie.path) && (host.isSecure || !cookie.isSecure)
            && !isOver(cookie, at: date)
    }

    private static func isOver(_ cookie: Cookie, at date: Date) -> Bool { cookie.expires.map { $0 <= date } ?? false }

    // MARK: Receiving

    /// Stores a cookie that a host sets, if the host may set it (RFC 6265 §5.3).
    mutating func receive(_ setting: SetCookie, from host: CookieHost, at date: Date) {
        guard let cookie = cookie(setting, from: host, at: date) else { return }
        insert(cookie, at: date)
    }

    private func cookie(_ setting: SetCookie, from host: CookieHost, at date: Date) -> Cookie? {
        var domain = setting.domain
        if let named = domain, isPublicSuffix(named) || host.isAddress {
            // Nobody may set cookies for a public suffix such as `com`, except that a host which is itself a suffix may set
            // host-only cookies.
            guard named == host.name else { return nil }
            domain = nil
        }
        if let domain, !host.matches(domain: domain) { return nil }
        var cookie = setting.cookie
        cookie.domain = domain ?? host.name
        cookie.isHostOnly = domain == nil
        cookie.path = setting.path ?? host.defaultPath
        cookie.expires = Self.expiry(of: setting, at: date)
        guard Self.keepsPromise(of: cookie), host.isSecure || !cookie.isSecure && !hidesSecure(cookie, at: date)
        else { return nil }
        return cookie
    }

    private static func expiry(of setting: SetCookie, at date: Date) -> Date? {
        let latest = date.addingTimeInterval(longestLife)
        if let age = setting.maxAge { return age <= 0 ? .distantPast : min(latest, date.addingTimeInterval(age)) }
        return setting.cookie.expires.map { min(latest, $0) }
    }

    // draft-ietf-httpbis-rfc6265bis §4.1.3: these prefixes promise how a cookie was set.
    private static func keepsPromise(of cookie: Cookie) -> Bool {
        let name = cookie.name.lowercased()
        if name.utf8.starts(with: "__secure-".utf8) { return cookie.isSecure }
        if name.utf8.starts(with: "__host-".utf8) { return cookie.isSecure && cookie.isHostOnly && cookie.path == "/" }
        return true
    }

    // draft-ietf-httpbis-rfc6265bis §5.7: a response over http may neither replace nor shadow a secure cookie.
    private func hidesSecure(_ cookie: Cookie, at date: Date) -> Bool {
        entries.contains { domain, held in
            guard
                domain == cookie.domain || domain.hasSuffix(".\(cookie.domain)")
                    || cookie.domain.hasSuffix(".\(domain)")
            else { return false }
            return held.contains { entry in
                entry.cookie.name == cookie.name && entry.cookie.isSecure && !Self.isOver(entry.cookie, at: date)
                    && CookieHost.path(cookie.path, isBelow: entry.cookie.path)
            }
        }
    }

    // MARK: Keeping

    mutating func insert(_ cookie: Cookie, at date: Date) {
        tick += 1
        var held = entries[cookie.domain] ?? []
        let before = held.count
        var created = tick
        var old: Cookie?
        if let index = held.firstIndex(where: { Self.isSame($0.cookie, cookie) }) {
            let entry = held.remove(at: index)
            (created, old) = (entry.created, entry.cookie)
        }
        let isOver = Self.isOver(cookie, at: date)
        if !isOver { held.append(Entry(cookie: cookie, created: created, used: tick)) }
        if old != (isOver ? nil : cookie) { changes += 1 }
        if held.count > limitPerDomain {
            held.removeAll { Self.isOver($0.cookie, at: date) }
            if held.count > limitPerDomain, let oldest = held.indices.min(by: { held[$0].used < held[$1].used }) {
                held.remove(at: oldest)
            }
        }
        entries[cookie.domain] = held.isEmpty ? nil : held
        count += held.count - before
        if count > limit { evict(at: date) }
    }

    mutating func removeAll() {
        clearCount += 1
        remove { _ in true }
    }

    mutating func remove(where matches: (Cookie) -> Bool) {
        let before = count
        keep { !matches($0.cookie) }
        if count != before { changes += 1 }
    }

    private mutating func keep(where isKept: (Entry) -> Bool) {
        entries = entries.compactMapValues { held in
            let kept = held.filter(isKept)
            return kept.isEmpty ? nil : kept
        }
        count = entries.values.reduce(0) { $0 + $1.count }
    }

    private static func isSame(_ left: Cookie, _ right: Cookie) -> Bool {
        left.name == right.name && left.path == right.path && left.isHostOnly == right.isHostOnly
    }

    // Drops a tenth of the limit at once, so that a full jar isn't sorted for each new cookie.
    private mutating func evict(at date: Date) {
        remove { Self.isOver($0, at: date) }
        guard count > limit else { return }
        let kept = entries.values.joined().map(\.used).sorted(by: >).prefix(limit - limit / 10)
        let threshold = kept.last ?? .max
        keep { $0.used >= threshold }
    }
}
