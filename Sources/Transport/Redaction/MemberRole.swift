internal import InterceptorsSyntax

/// The meaning of a group's member for the other members, given by its name.
enum MemberRole {
    /// `name`, `key`, `header` and similar names.
    case name
    /// `type`, `id`, `label`: these name the group too, but rarely mean a secret by `code` or `key`.
    case type
    case value
    /// `data`, `text`, `content`: a value if the group also has a name.
    case content
    /// `kty`, which marks an object as a JSON Web Key (RFC 7517 §4.1).
    case keyType
    /// A secret part of a JSON Web Key, such as `d` (RFC 7518 §6).
    case partOfKey
    /// `k`: the name in `{"k":…,"v":…}`, or the secret of a symmetric key.
    case nameOrPartOfKey

    /// The known member names, packed so that lookups don't allocate.
    struct Table: Sendable {
        static let shared = Table()

        private let words: [(packed: UInt64, role: MemberRole)]
        private let nameEnding = packed("name")
        private let valuePart = packed("value")

        private init() {
            let words: [(MemberRole, [StaticString])] = [
                (.name, ["key", "field", "header", "param", "attr", "property", "variable", "var", "n"]),
                (.type, ["type", "id", "label", "kind", "purpose"]),
                (.value, ["val", "v", "values"]),
                (.content, ["data", "text", "content", "contents", "string"]),
                (.partOfKey, ["d", "p", "q", "dp", "dq", "qi", "oth"]),
                (.nameOrPartOfKey, ["k"]), (.keyType, ["kty"]),
            ]
            self.words = words.flatMap { role, words in words.map { (Self.packed($0), role) } }
        }

        /// The role of a member, or `nil` if its name has none. In `fields[0][name]` and `field.name`, the last part counts.
        func role(of range: Range<Int>, in bytes: UnsafeBufferPointer<UInt8>, isEscaped: Bool) -> MemberRole? {
            var hasEscapes = false
            let role = role(of: bytes[range], escape: isEscaped ? UInt8(ascii: "\\") : UInt8(ascii: "%"), &hasEscapes)
            guard hasEscapes else { return role }
            let text = Array(bytes[range])
            let plain = isEscaped ? TextRedactor.unescaped(text[...]) : text.percentDecodedFully
            return plain.withUnsafeBufferPointer { self.role(of: $0[...], escape: 0, &hasEscapes) }
        }

        private func role(
            of text: Slice<UnsafeBufferPointer<UInt8>>,
            escape: UInt8,
            _ hasEscapes: inout Bool
        ) -> MemberRole? {
            // The last eight letters, and the first five, packed into words.
            var (last, first, count): (UInt64, UInt64, Int) = (0, 0, 0)
            for byte in text {
                let letter = byte | 0x20
                if letter &- 0x61 < 26 || byte &- 0x30 < 10 {
                    last = last << 8 | UInt64(letter)
                    count &+= 1
                    if count == 5 { first = last }
                } else if byte == UInt8(ascii: "[") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: ":") {
                    (last, first, count) = (0, 0, 0)
                } else if byte == escape {
                    hasEscapes = true
                }
            }
            if count >= 5, last & 0xFF_FFFF_FFFF == valuePart || first == valuePart { return .value }
            if count >= 4, last & 0xFFFF_FFFF == nameEnding { return .name }
            guard 1...8 ~= count else { return nil }
            for word in words where word.packed == last { return word.role }
            return nil
        }

        private static func packed(_ word: StaticString) -> UInt64 {
            word.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt64($1) } }
        }
    }
}
