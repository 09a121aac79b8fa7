/// The way a field's value is printed.
enum FieldKind: Sendable {
    case secret
    case url
    case metadata
    case text
}

/// Decides by name whether a value is secret. Each field of each logged message is looked up, so the result for usual names is
/// computed in advance.
final class SensitiveNames: Sendable {
    private let words: SensitiveNameMatcher
    let parts: [String]
    let wholes: [String]
    let endings: [String]
    let suffixes: [String]
    private let removed: [String]
    // Kept here, because each access to a global constant takes a call on Linux.
    private let usual: UsualFieldNames
    private let kindsOfUsual: [FieldKind]

    /// Prepares the words of a redaction.
    ///
    /// - Parameters:
    ///   - parts: parts of names that make a value secret.
    ///   - wholes: whole names whose values are secret.
    ///   - endings: words that make a value secret after the last hyphen or underscore of a name.
    ///   - suffixes: ends of names that make a value secret.
    ///   - removed: whole names whose values aren't secret, whatever the other words say.
    init(
        parts: [String] = [],
        wholes: [String],
        endings: [String] = [],
        suffixes: [String] = [],
        removed: [String] = []
    ) {
        (self.parts, self.wholes, self.endings) = (parts, wholes, endings)
        (self.suffixes, self.removed) = (suffixes, removed)
        let words = SensitiveNameMatcher(
            parts: parts,
            wholes: wholes,
            endings: endings,
            suffixes: suffixes,
            removed: removed
        )
        self.words = words
        usual = .shared
        kindsOfUsual = usual.all.map { Self.found(of: $0, words) }
    }

    func adding(wholes more: [String]) -> SensitiveNames {
        changed(wholes: wholes + more, removed: removed.filter { !more.contains($0) })
    }

    func removing(wholes fewer: [String]) -> SensitiveNames { changed(wholes: wholes, removed: removed + fewer) }

    private func changed(wholes: [String], removed: [String]) -> SensitiveNames {
        SensitiveNames(parts: parts, wholes: wholes, endings: endings, suffixes: suffixes, removed: removed)
    }

    func contains(_ name: UnsafeBufferPointer<UInt8>) -> Bool { words.contains(name) }

    func contains(_ name: HTTPField.Name) -> Bool {
        switch kind(of: name) {
        case .secret: true
        case .metadata, .text: false
        case .url: Self.isSensitive(name, words)
        }
    }

    func kind(of name: HTTPField.Name) -> FieldKind {
        usual.index(of: name).map { kindsOfUsual[$0] } ?? Self.found(of: name, words)
    }

    private static func found(of name: HTTPField.Name, _ words: SensitiveNameMatcher) -> FieldKind {
        switch name {
        case .location, .contentLocation, .referer: .url
        case "Upload-Metadata": isSensitive(name, words) ? .secret : .metadata
        default: isSensitive(name, words) ? .secret : .text
        }
    }

    private static func isSensitive(_ name: HTTPField.Name, _ words: SensitiveNameMatcher) -> Bool {
        var name = name.rawName
        return name.withUTF8 { words.contains($0) }
    }
}

/// The names of most fields, found by the hash that each name carries.
struct UsualFieldNames: Sendable {
    static let shared = UsualFieldNames()

    let all: [HTTPField.Name] = [
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

    // Four times as many slots as names: a probe ends at once or at a nearby free slot.
    private static let places = 256
    private let table: [(hash: UInt32, index: Int)]

    private init() {
        var table = Array(repeating: (hash: UInt32(0), index: -1), count: Self.places)
        for (index, name) in all.enumerated() {
            var place = Self.place(of: name)
            while table[place].index >= 0 { place = (place + 1) % Self.places }
            table[place] = (name.foldedHash, index)
        }
        self.table = table
    }

    private static func place(of name: HTTPField.Name) -> Int { Int(name.foldedHash % UInt32(places)) }

    /// The index of a name in `all`, ignoring case.
    func index(of name: HTTPField.Name) -> Int? {
        var place = Self.place(of: name)
        while table[place].index >= 0 {
            let (hash, index) = table[place]
            if hash == name.foldedHash, all[index] == name { return index }
            place = (place + 1) % Self.places
        }
        return nil
    }
}
