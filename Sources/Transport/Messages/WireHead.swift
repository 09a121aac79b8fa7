internal import Foundation
internal import InterceptorsSyntax

/// The status line and the fields of a response, read from the wire (RFC 9112 §4, §5).
struct WireHead {
    var status: HTTPResponse.Status
    var fields = HTTPFields()

    /// Parses a head whose lines end in LF or CRLF. Returns `nil` if the first line isn't a status line. A line without a colon
    /// is skipped, and a line that begins with white space continues the previous one (RFC 9112 §5.2).
    init?(parsing bytes: [UInt8]) {
        // Runs for each response, so it creates no slice or string that isn't kept.
        let head = bytes.withUnsafeBufferPointer { Self.parsed($0) }
        guard let head else { return nil }
        self = head
    }

    private init(status: HTTPResponse.Status) { self.status = status }

    private typealias Bytes = UnsafeBufferPointer<UInt8>

    private static func parsed(_ bytes: Bytes) -> WireHead? {
        var rest = bytes
        guard let first = nextLine(&rest), let status = status(first) else { return nil }
        var head = WireHead(status: status)
        readFields(&rest, into: &head.fields)
        return head
    }

    /// Parses field lines that no status line precedes, such as trailers.
    static func fields(parsing bytes: [UInt8]) -> HTTPFields {
        var fields = HTTPFields()
        bytes.withUnsafeBufferPointer { bytes in
            var rest = bytes
            readFields(&rest, into: &fields)
        }
        return fields
    }

    private static func readFields(_ rest: inout Bytes, into fields: inout HTTPFields) {
        var followsField = false
        while let line = nextLine(&rest) {
            if isWhitespace(line[0]), followsField {
                let added = continuation(line, &rest)
                fields.continueLast(with: added.text, isTranscoded: added.isTranscoded)
                continue
            }
            guard let field = field(line) else {
                followsField = false
                continue
            }
            fields.append(taking: field)
            followsField = true
        }
    }

    /// The text that a continuation line, and any that follow, add to the previous value. Gathered first, because extending the
    /// value line by line would copy it each time.
    private static func continuation(_ line: Bytes, _ rest: inout Bytes) -> (text: String, isTranscoded: Bool) {
        var (added, line, ahead) = ((text: "", isTranscoded: false), line, rest)
        while true {
            let piece = text(trimmed(line), false)
            if !piece.text.isEmpty { added.text += " \(piece.text)" }
            if piece.isTranscoded { added.isTranscoded = true }
            guard let next = nextLine(&ahead), isWhitespace(next[0]) else { return added }
            (line, rest) = (next, ahead)
        }
    }

    /// The next non-empty line, without its line ending.
    private static func nextLine(_ rest: inout Bytes) -> Bytes? {
        while !rest.isEmpty {
            let end = index(of: 0x0A, in: rest) ?? rest.count
            let line = part(rest, 0, end > 0 && rest[end - 1] == 0x0D ? end - 1 : end)
            rest = part(rest, min(end + 1, rest.count), rest.count)
            if !line.isEmpty { return line }
        }
        return nil
    }

    private static func field(_ line: Bytes) -> HTTPField? {
        guard let colon = index(of: UInt8(ascii: ":"), in: line) else { return nil }
        // If the whole line is printable ASCII, its parts needn't be checked again.
        let isPlain = PrintableText.isPlain(line)
        let name = text(part(line, 0, colon), isPlain).text
        let value = text(trimmed(part(line, colon + 1, line.count)), isPlain)
        return HTTPField(
            name: HTTPField.Name(unchecked: name),
            trimmed: value.text,
            hasControl: value.hasControl,
            isTranscoded: value.isTranscoded
        )
    }

    private static func status(_ line: Bytes) -> HTTPResponse.Status? {
        guard let space = index(of: 0x20, in: line), line.count >= space + 4 else { return nil }
        guard line.count == space + 4 || line[space + 4] == 0x20 else { return nil }
        var code = 0
        for digit in line[(space + 1)..<(space + 4)] {
            guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit else { return nil }
            code = code * 10 + Int(digit - UInt8(ascii: "0"))
        }
        let phrase = text(part(line, min(space + 5, line.count), line.count), PrintableText.isPlain(line)).text
        return HTTPResponse.Status(code: code, reasonPhrase: phrase.isEmpty ? nil : phrase)
    }

    private static func index(of byte: UInt8, in bytes: Bytes) -> Int? {
        guard let start = bytes.baseAddress, let found = memchr(start, Int32(byte), bytes.count) else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(start)
    }

    private static func part(_ bytes: Bytes, _ start: Int, _ end: Int) -> Bytes {
        Bytes(rebasing: bytes[start..<end])
    }

    private static func isWhitespace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func trimmed(_ bytes: Bytes) -> Bytes {
        var (start, end) = (0, bytes.count)
        while start < end, isWhitespace(bytes[start]) { start += 1 }
        while end > start, isWhitespace(bytes[end - 1]) { end -= 1 }
        return part(bytes, start, end)
    }

    /// The text decoded as UTF-8, or else as ISO 8859-1, in which every byte is valid (RFC 9110 §5.5). Also whether it contains
    /// a control character other than tab, and whether it isn't UTF-8.
    private static func text(
        _ bytes: Bytes,
        _ isPlain: Bool
    ) -> (text: String, hasControl: Bool, isTranscoded: Bool) {
        if isPlain { return (String(decoding: bytes, as: UTF8.self), false, false) }
        let hasControl = ASCII.hasControl(UnsafeRawBufferPointer(bytes))
        if let text = String(validating: bytes, as: UTF8.self) { return (text, hasControl, false) }
        return (String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) })), hasControl, true)
    }
}
