#if os(Linux)

/// Finds what RFC 9112 §6.3 forbids in the fields that frame a response. libcurl takes it, each version in another way, so that
/// another client or a proxy may see other responses in the same bytes.
struct CurlFraming {
    /// What is wrong; `nil` if nothing is.
    private(set) var fault: String?
    private var length: Int64?
    private var codings: [String] = []
    private var wasFraming = false
    /// Whether nothing says where the content ends but the end of the connection.
    var endsWithConnection: Bool { length == nil && !codings.contains("chunked") }

    /// Takes a field line of a head, with its line end.
    mutating func note(_ line: UnsafeRawBufferPointer) {
        guard fault == nil, let first = line.first else { return }
        if first == 0x20 || first == 0x09 {
            if wasFraming { fault = "A field that frames the response is folded." }
            return
        }
        wasFraming = false
        if Self.hasBareReturn(line) { return fault = "A field of the response holds a bare CR." }
        switch ASCII.lowercased(first) {
        case UInt8(ascii: "c"): if let value = value(of: "content-length", in: line) { noteLength(value) }
        case UInt8(ascii: "t"): if let value = value(of: "transfer-encoding", in: line) { noteCoding(value) }
        default: break
        }
    }

    private mutating func noteLength(_ value: String) {
        for part in value.split(separator: ",", omittingEmptySubsequences: false) {
            let digits = part.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed()
            let text = String(digits)
            guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text) else {
                return fault = "The Content-Length of the response is no length."
            }
            guard length == nil || length == number else {
                return fault = "The response has two lengths that differ."
            }
            length = number
        }
    }

    private mutating func noteCoding(_ value: String) {
        let blanks: Set<Character> = [" ", "\t"]
        codings += value.lowercased().split { $0 == "," || blanks.contains($0) }.map(String.init)
        if codings.dropLast().contains("chunked") { fault = "The response is chunked before its last transfer coding." }
    }

    /// The value of a line if it has the name, which is given in lower case.
    private mutating func value(of name: StaticString, in line: UnsafeRawBufferPointer) -> String? {
        let name = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        guard line.count > name.count, zip(name, line).allSatisfy({ $0 == ASCII.lowercased($1) }) else { return nil }
        var rest = line.dropFirst(name.count)
        let hasBlank = rest.first == 0x20 || rest.first == 0x09
        rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
        guard rest.first == UInt8(ascii: ":") else { return nil }
        wasFraming = true
        if hasBlank { fault = "A field that frames the response has a blank before its colon." }
        return String(decoding: rest.dropFirst().prefix { $0 != 0x0D && $0 != 0x0A }, as: UTF8.self)
    }

    private static func hasBareReturn(_ line: UnsafeRawBufferPointer) -> Bool {
        guard let end = line.firstIndex(of: 0x0D) else { return false }
        return end + 1 < line.count && line[end + 1] != 0x0A
    }
}
#endif
