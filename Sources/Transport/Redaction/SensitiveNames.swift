internal import InterceptorsSyntax

/// Decides whether a name is sensitive.
final class SensitiveNames: Sendable {
    private let words: SensitiveWords
    private let table: WordTable
    /// Whether the usual names of fields are sensitive: each field of each logged message is looked up.
    private let usual: [HTTPField.Name: Bool]

    init(_ words: SensitiveWords) {
        self.words = words
        let table = WordTable(words)
        self.table = table
        usual = Dictionary(uniqueKeysWithValues: Self.usualNames.map { ($0, table.makesSensitive($0)) })
    }

    func adding(wholes more: [String]) -> SensitiveNames {
        var words = words
        words.wholes += more
        let again = Set(more.map(WordTable.folded))
        words.removed.removeAll { again.contains(WordTable.folded($0)) }
        return SensitiveNames(words)
    }

    func removing(wholes fewer: [String]) -> SensitiveNames {
        var words = words
        words.removed += fewer
        return SensitiveNames(words)
    }

    func contains(_ name: UnsafeBufferPointer<UInt8>) -> Bool { table.makesSensitive(name) }

    func contains(_ name: HTTPField.Name) -> Bool { usual[name] ?? table.makesSensitive(name) }

    static let usualNames: [HTTPField.Name] = [
        .accept, .acceptEncoding, .acceptLanguage, .acceptRanges, .age, .allow, .authorization, .cacheControl,
        .cacheStatus, .connection, .contentDisposition, .contentEncoding, .contentLanguage, .contentLength,
        .contentLocation, .contentRange, .contentType, .cookie, .date, .eTag, .expect, .expires, .host, .idempotencyKey,
        .ifMatch, .ifModifiedSince, .ifNoneMatch, .ifRange, .ifUnmodifiedSince, .keepAlive, .lastModified, .link,
        .location, .origin, .pragma, .proxyAuthenticate, .proxyAuthorization, .range, .referer, .retryAfter, .server,
        .setCookie, .te, .traceparent, .tracestate, .trailer, .transactionID, .transferEncoding, .upgrade, .userAgent,
        .vary, .via, .wwwAuthenticate, "Alt-Svc", "Content-Security-Policy", "Sec-Fetch-Mode",
        "Strict-Transport-Security", "X-Api-Key", "X-Content-Type-Options", "X-Forwarded-For", "X-Frame-Options",
        "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-Request-ID",
    ]
}

/// The words of a redaction in one byte array, each after its length and its role, grouped by first letter. A look-up
/// allocates nothing.
private struct WordTable: Sendable {
    private struct Role: OptionSet {
        let rawValue: UInt8

        static let part = Self(rawValue: 1)
        static let whole = Self(rawValue: 2)
        static let ending = Self(rawValue: 4)
        static let suffix = Self(rawValue: 8)
        static let removed = Self(rawValue: 16)
    }

    private let bytes: [UInt8]
    // The start of each group, and the end of the last. Bytes that aren't letters share the letters' groups.
    private let groups: [Int]

    init(_ words: SensitiveWords) {
        let lists: [(Role, [String])] = [
            (.part, words.parts), (.whole, words.wholes), (.ending, words.endings), (.suffix, words.suffixes),
            (.removed, words.removed),
        ]
        let all = lists.flatMap { role, words in words.map { (role, Self.folded($0)) } }
        var bytes: [UInt8] = []
        var groups = [0]
        for group in 0..<32 {
            for (role, word) in all where word.first.map({ Int($0 & 31) == group }) ?? false {
                // A longer word is truncated, which makes more names sensitive, never fewer.
                bytes += [UInt8(clamping: word.count), role.rawValue] + word.prefix(255)
            }
            groups.append(bytes.count)
        }
        (self.bytes, self.groups) = (bytes, groups)
    }

    /// The letters and digits of a name, in lower case.
    static func folded(_ name: String) -> [UInt8] {
        name.utf8.filter { $0 >= 0x80 || ASCII.isAlphanumeric($0) }.map(ASCII.lowercased)
    }

    func makesSensitive(_ name: HTTPField.Name) -> Bool {
        var name = name.rawName
        return name.withUTF8 { makesSensitive($0) }
    }

    func makesSensitive(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard !name.isEmpty else { return false }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: name.count) { folded in
            // The starts of the last component, after a divider, and of the last word, after a hyphen or underscore too.
            var (count, component, last) = (0, 0, 0)
            func roles(from start: Int) -> Role { self.roles(of: folded, from: start, to: count) }
            // In `user[pin]` and `user.pin`, `pin` counts as a whole name.
            func hasWholeComponent() -> Bool { roles(from: component).intersection([.whole, .removed]) == .whole }
            for byte in name {
                if byte >= 0x80 || ASCII.isAlphanumeric(byte) {
                    folded.initializeElement(at: count, to: ASCII.lowercased(byte))
                    count &+= 1
                } else {
                    if Self.isDivider(byte) {
                        if hasWholeComponent() { return true }
                        component = count
                    }
                    last = count
                }
            }
            let whole = roles(from: 0)
            if whole.contains(.removed) { return false }
            if whole.contains(.whole) || hasWholeComponent() { return true }
            if last > component, roles(from: last).contains(.ending) { return true }
            // In `X-Session`, `session` counts as a whole name.
            if Self.hasPrefixX(name), roles(from: 1).contains(.whole) { return true }
            return (0..<count).contains { !roles(from: $0).isDisjoint(with: [.part, .suffix]) }
        }
    }

    @inline(__always)
    private static func hasPrefixX(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        name.count > 2 && name[0] | 0x20 == UInt8(ascii: "x")
            && (name[1] == UInt8(ascii: "-") || name[1] == UInt8(ascii: "_"))
    }

    @inline(__always)
    private static func isDivider(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "."), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "/"), UInt8(ascii: ":"): true
        default: false
        }
    }

    /// The roles of the words that begin at an index of a name. Except for parts and truncated words, they end where the name ends.
    private func roles(of name: UnsafeMutableBufferPointer<UInt8>, from start: Int, to end: Int) -> Role {
        var roles: Role = []
        guard start < end else { return roles }
        let group = Int(name[start] & 31)
        bytes.withUnsafeBufferPointer { bytes in
            var position = groups[group]
            while position < groups[group + 1] {
                let (length, role) = (Int(bytes[position]), Role(rawValue: bytes[position + 1]))
                position += 2
                let mayGoOn = role == .part || length == UInt8.max && role != .removed
                if mayGoOn ? length <= end - start : length == end - start {
                    var matching = 0
                    while matching < length, bytes[position + matching] == name[start + matching] { matching += 1 }
                    if matching == length { roles.formUnion(role) }
                }
                position += length
            }
        }
        return roles
    }
}
