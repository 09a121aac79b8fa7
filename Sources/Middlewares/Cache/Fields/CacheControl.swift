internal import InterceptorsCore
internal import InterceptorsSyntax

/// The directives of `Cache-Control`, in a request or a response (RFC 9111 §5.2).
///
/// A malformed value, or two different values, have the most restrictive meaning (RFC 9111 §4.2.1).
struct CacheControl: Equatable {
    /// The seconds that a directive gives.
    enum Seconds: Equatable {
        case absent
        case value(Int64)
        /// Present, but malformed or ambiguous.
        case invalid

        var value: Int64? { if case .value(let seconds) = self { seconds } else { nil } }
        var isPresent: Bool { self != .absent }

        /// Whether the directive gives at least this number of seconds.
        func isAtLeast(_ seconds: Int64?) -> Bool {
            if let value, let seconds { value >= seconds } else { false }
        }
    }

    var maxAge = Seconds.absent
    var minFresh = Seconds.absent
    var maxStale = Seconds.absent
    /// `max-stale` without a number: accepts any staleness.
    var acceptsAnyStale = false
    var staleWhileRevalidate = Seconds.absent
    var staleIfError = Seconds.absent
    /// `no-cache`, whether it names fields or not (§5.2.2.4).
    var noCache = false
    var isPrivate = false
    var noStore = false
    var onlyIfCached = false
    var mustRevalidate = false
    var mustUnderstand = false
    var isPublic = false
    var immutable = false
    /// Whether there is a `Cache-Control` field.
    var isPresent = false

    init() {}

    init(_ fields: HTTPFields) {
        guard fields.contains(.cacheControl) else { return }
        for line in fields where line.name == .cacheControl {
            isPresent = true
            read(FieldCursor(line.value))
        }
    }

    private mutating func read(_ start: FieldCursor) {
        var cursor = start
        while !cursor.isAtEnd {
            cursor.skipWhitespace()
            if cursor.take(",") { continue }
            let name = cursor.takeLowercasedToken()
            let argument = Self.takeArgument(&cursor)
            if !name.isEmpty { apply(name, argument) }
        }
    }

    private enum Argument {
        case none
        case some(ArraySlice<UInt8>)
        case malformed
    }

    /// Reads up to the comma that ends the directive, or to the end.
    private static func takeArgument(_ cursor: inout FieldCursor) -> Argument {
        var argument = Argument.none
        if cursor.take("=") {
            if cursor.peek == UInt8(ascii: "\"") {
                guard let content = cursor.takeQuotedString() else {
                    // An unterminated quote must not hide the directives after it.
                    cursor.advance()
                    return .malformed
                }
                argument = .some(content)
            } else {
                let token = cursor.takeToken()
                argument = token.isEmpty ? .malformed : .some(token)
            }
        }
        cursor.skipWhitespace()
        while let byte = cursor.peek, byte != UInt8(ascii: ",") {
            argument = .malformed
            if byte != UInt8(ascii: "\"") || cursor.takeQuotedString() == nil { cursor.advance() }
        }
        return argument
    }

    private mutating func apply(_ name: String, _ argument: Argument) {
        switch name {
        case "max-age": Self.set(&maxAge, argument)
        case "min-fresh": Self.set(&minFresh, argument)
        case "max-stale":
            if case .none = argument { acceptsAnyStale = true } else { Self.set(&maxStale, argument) }
        case "stale-while-revalidate": Self.set(&staleWhileRevalidate, argument)
        case "stale-if-error": Self.set(&staleIfError, argument)
        case "no-cache": noCache = true
        case "private": isPrivate = true
        case "no-store": noStore = true
        case "only-if-cached": onlyIfCached = true
        case "must-revalidate": mustRevalidate = true
        case "must-understand": mustUnderstand = true
        case "public": isPublic = true
        case "immutable": immutable = true
        default: break
        }
    }

    private static func set(_ directive: inout Seconds, _ argument: Argument) {
        guard case .some(let bytes) = argument, let seconds = DeltaSeconds.parse(bytes) else {
            directive = .invalid
            return
        }
        directive = directive == .absent || directive == .value(seconds) ? .value(seconds) : .invalid
    }
}
