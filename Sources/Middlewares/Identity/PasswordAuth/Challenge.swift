internal import HTTPSyntax

/// One challenge of a `WWW-Authenticate` or `Proxy-Authenticate` field (RFC 9110 §11.6.1, §11.7.1).
struct Challenge: Sendable, Hashable {
    /// The scheme in lower case.
    let scheme: String
    /// The parameters, by their names in lower case.
    var parameters: [String: String] = [:]

    /// The challenges of all fields of this name, in order. A challenge that breaks the grammar is dropped, together with the
    /// rest of its field.
    static func all(in fields: HTTPFields, _ name: HTTPField.Name = .wwwAuthenticate) -> [Challenge] {
        fields[values: name].flatMap { value in
            var parser = ChallengeParser(value)
            return parser.challenges()
        }
    }

    /// Parses parameters without a scheme, as in `Authentication-Info`.
    static func parameters(in value: String) -> [String: String] {
        var parser = ChallengeParser("x " + value)
        return parser.challenges().first?.parameters ?? [:]
    }
}

/// Parses one field: challenges, each with parameters, all separated by commas.
private struct ChallengeParser {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func challenges() -> [Challenge] {
        var challenges: [Challenge] = []
        var open: Challenge?
        while true {
            skip { $0 == 0x20 || $0 == 0x09 || $0 == UInt8(ascii: ",") }
            guard let name = token()?.lowercased() else { break }
            if open != nil, skipEquals() {
                guard let value = value(), open?.parameters.updateValue(value, forKey: name) == nil, endsItem() else {
                    // A duplicate parameter or a malformed value is ambiguous, so the challenge is dropped.
                    return challenges
                }
            } else {
                if let open { challenges.append(open) }
                open = Challenge(scheme: name)
                guard position == bytes.count || isSeparator(bytes[position]) else { return challenges }
                skipToken68()
            }
        }
        guard position == bytes.count else { return challenges }
        if let open { challenges.append(open) }
        return challenges
    }

    private func isSeparator(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == UInt8(ascii: ",") }

    private mutating func skip(while matches: (UInt8) -> Bool) {
        while position < bytes.count, matches(bytes[position]) { position += 1 }
    }

    private mutating func token() -> String? {
        let start = position
        skip { ASCII.isToken($0) }
        return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
    }

    private mutating func skipEquals() -> Bool {
        let start = position
        skip { $0 == 0x20 || $0 == 0x09 }
        guard position < bytes.count, bytes[position] == UInt8(ascii: "=") else {
            position = start
            return false
        }
        position += 1
        skip { $0 == 0x20 || $0 == 0x09 }
        return true
    }

    private mutating func value() -> String? {
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { return token() }
        position += 1
        var value: [UInt8] = []
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return String(decoding: value, as: UTF8.self)
            case UInt8(ascii: "\\") where position + 1 < bytes.count:
                value.append(bytes[position + 1])
                position += 2
            case let byte:
                value.append(byte)
                position += 1
            }
        }
        return nil
    }

    private mutating func endsItem() -> Bool {
        skip { $0 == 0x20 || $0 == 0x09 }
        return position == bytes.count || bytes[position] == UInt8(ascii: ",")
    }

    // Skips the one opaque value that schemes such as Negotiate carry instead of parameters.
    private mutating func skipToken68() {
        let start = position
        skip { $0 == 0x20 || $0 == 0x09 }
        let first = position
        skip { ASCII.isToken($0) || $0 == UInt8(ascii: "/") }
        let isSomething = position > first
        skip { $0 == UInt8(ascii: "=") }
        if !(isSomething && endsItem()) { position = start }
    }
}
