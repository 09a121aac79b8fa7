/// The status line and the fields of a response, read from the wire (RFC 9112 §4, §5).
struct WireHead {
    var status: HTTPResponse.Status
    var fields = HTTPFields()

    /// Reads a head whose lines end in LF or CRLF, or gives `nil` if its first line is no status line. A line without a
    /// colon is passed over, one that begins with white space continues the one before it (RFC 9112 §5.2).
    init?(parsing bytes: [UInt8]) {
        var lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: true).lazy
            .map { $0.last == 0x0D ? $0.dropLast() : $0 }
            .makeIterator()
        guard let first = lines.next(), let status = Self.status(first) else { return nil }
        self.status = status
        var pending: (name: HTTPField.Name, value: String)?
        while let line = lines.next() {
            if let start = line.first, start == 0x20 || start == 0x09, let folded = pending {
                pending = (folded.name, folded.value + " " + HTTPField(unchecked: "", Self.text(line)).value)
                continue
            }
            if let (name, value) = pending { fields.append(name, value) }
            pending = nil
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            pending = (HTTPField.Name(unchecked: Self.text(line[..<colon])), Self.text(line[(colon + 1)...]))
        }
        if let (name, value) = pending { fields.append(name, value) }
    }

    private static func status(_ line: ArraySlice<UInt8>) -> HTTPResponse.Status? {
        let parts = line.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[1].count == 3, let code = Int(text(parts[1])) else { return nil }
        let phrase = parts.count == 3 ? text(parts[2]) : ""
        return HTTPResponse.Status(code: code, reasonPhrase: phrase.isEmpty ? nil : phrase)
    }

    /// UTF-8, or else ISO 8859-1, which every byte is (RFC 9110 §5.5).
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(validating: bytes, as: UTF8.self) ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}
