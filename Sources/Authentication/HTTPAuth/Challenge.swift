internal import InterceptorsSyntax

/// One challenge of a `WWW-Authenticate` or `Proxy-Authenticate` field (RFC 9110 §11.6.1, §11.7.1).
struct Challenge: Sendable, Hashable {
    /// The scheme in lower case.
    let scheme: String
    /// The parameters, by their names in lower case.
    var parameters: [String: String]

    init(scheme: String, parameters: [String: String] = [:]) {
        self.scheme = scheme
        self.parameters = parameters
    }

    /// The challenges of one field, in order. A challenge that breaks the grammar is dropped, together with the rest of the
    /// field.
    static func all(in value: String) -> [Challenge] {
        var cursor = FieldCursor(value)
        var challenges: [Challenge] = []
        var open: Challenge?
        while true {
            _ = cursor.takeWhile(isSeparator)
            let name = cursor.takeLowercasedToken()
            if name.isEmpty { break }
            if open != nil, cursor.takeEquals() {
                guard let value = cursor.takeTokenOrString(),
                    open?.parameters.updateValue(value, forKey: name) == nil, cursor.isAtEndOfMember
                else {
                    // A duplicate parameter or a malformed value is ambiguous, so the challenge is dropped.
                    return challenges
                }
            } else {
                if let open { challenges.append(open) }
                open = Challenge(scheme: name)
                guard cursor.peek.map(isSeparator) ?? true else { return challenges }
                cursor.skipToken68()
            }
        }
        guard cursor.isAtEnd else { return challenges }
        if let open { challenges.append(open) }
        return challenges
    }

    /// Parses parameters without a scheme, as in `Authentication-Info`.
    static func parameters(in value: String) -> [String: String] {
        all(in: "x " + value).first?.parameters ?? [:]
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == UInt8(ascii: ",")
    }
}

extension FieldCursor {
    /// Skips the one opaque value that schemes such as Negotiate carry instead of parameters.
    fileprivate mutating func skipToken68() {
        let start = self
        skipWhitespace()
        let value = takeWhile { ASCII.isToken($0) || $0 == UInt8(ascii: "/") }
        _ = takeWhile { $0 == UInt8(ascii: "=") }
        if value.isEmpty || !isAtEndOfMember { self = start }
    }
}
