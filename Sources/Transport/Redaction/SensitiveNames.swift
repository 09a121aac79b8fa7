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
    private let words: SensitiveWords
    private let matcher: SensitiveNameMatcher
    // Kept here, because each access to a global constant takes a call on Linux.
    private let usual: UsualFieldNames
    private let kindsOfUsual: [FieldKind]

    init(_ words: SensitiveWords) {
        self.words = words
        let matcher = SensitiveNameMatcher(words)
        self.matcher = matcher
        usual = .shared
        kindsOfUsual = usual.all.map { Self.found(of: $0, matcher) }
    }

    func adding(wholes more: [String]) -> SensitiveNames {
        var words = words
        words.wholes += more
        let again = Set(more.map(SensitiveNameMatcher.folded))
        words.removed.removeAll { again.contains(SensitiveNameMatcher.folded($0)) }
        return SensitiveNames(words)
    }

    func removing(wholes fewer: [String]) -> SensitiveNames {
        var words = words
        words.removed += fewer
        return SensitiveNames(words)
    }

    func contains(_ name: UnsafeBufferPointer<UInt8>) -> Bool { matcher.contains(name) }

    func contains(_ name: HTTPField.Name) -> Bool {
        switch kind(of: name) {
        case .secret: true
        case .metadata, .text: false
        case .url: Self.isSensitive(name, matcher)
        }
    }

    func kind(of name: HTTPField.Name) -> FieldKind {
        usual.index(of: name).map { kindsOfUsual[$0] } ?? Self.found(of: name, matcher)
    }

    private static func found(of name: HTTPField.Name, _ matcher: SensitiveNameMatcher) -> FieldKind {
        switch name {
        case .location, .contentLocation, .referer: .url
        case "Upload-Metadata": isSensitive(name, matcher) ? .secret : .metadata
        default: isSensitive(name, matcher) ? .secret : .text
        }
    }

    private static func isSensitive(_ name: HTTPField.Name, _ matcher: SensitiveNameMatcher) -> Bool {
        var name = name.rawName
        return name.withUTF8 { matcher.contains($0) }
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
