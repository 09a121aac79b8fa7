extension LogEntry {
    /// The text in parts of about `limit` bytes, cut between lines if possible. Each part after the first begins with a header
    /// line that names the exchange and the part's number.
    func parts(ofAtMost limit: Int) -> [String] {
        guard text.utf8.count > limit else { return [text] }
        var parts: [String] = []
        var part = ""
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            for piece in Self.pieces(of: line, limit: limit) {
                if !part.isEmpty, part.utf8.count + 1 + piece.utf8.count > limit {
                    parts.append(part)
                    part = ""
                }
                part += part.isEmpty ? (parts.isEmpty ? "" : "#\(number), part \(parts.count + 1)\n") : "\n"
                part += piece
            }
        }
        return parts + [part]
    }

    private static func pieces(of line: Substring, limit: Int) -> [Substring] {
        var pieces: [Substring] = []
        var rest = line
        while rest.utf8.count > max(limit, 4) {
            var cut = rest.utf8.index(rest.startIndex, offsetBy: max(limit, 4))
            // Never cuts inside a character's bytes.
            while rest.utf8[cut] & 0xC0 == 0x80 { cut = rest.utf8.index(before: cut) }
            pieces.append(rest[..<cut])
            rest = rest[cut...]
        }
        return pieces + [rest]
    }
}
