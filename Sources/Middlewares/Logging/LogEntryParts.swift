extension LogEntry {
    /// The text in parts of about so many bytes, cut between lines where it can be; each but the first says whose part it is.
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
            // Not within a character's bytes.
            while rest.utf8[cut] & 0xC0 == 0x80 { cut = rest.utf8.index(before: cut) }
            pieces.append(rest[..<cut])
            rest = rest[cut...]
        }
        return pieces + [rest]
    }
}
