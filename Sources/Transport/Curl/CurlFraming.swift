internal import InterceptorsSyntax

#if os(Linux)

/// Finds field lines that break the rules of ``ResponseFraming``, which libcurl accepts.
struct CurlFraming {
    /// The first fault found; `nil` if there is no fault.
    private(set) var fault: String?
    private var length: Int64?
    private var codings: [String] = []
    private var wasFraming = false
    /// Whether only the end of the connection ends the content.
    var endsWithConnection: Bool { length == nil && !isChunked }
    var isChunked: Bool { codings.contains("chunked") }

    /// Checks a field line of a head, including its line end.
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

    /// Checks a line of the trailers, which frame nothing.
    mutating func noteTrailer(_ line: UnsafeRawBufferPointer) {
        if fault == nil, Self.hasBareReturn(line) { fault = "A trailer field of the response holds a bare CR." }
    }

    private mutating func noteLength(_ value: String) {
        do { length = try ResponseFraming.length(of: value, after: length) } catch { fault = error.message }
    }

    private mutating func noteCoding(_ value: String) {
        do { codings = try ResponseFraming.codings(of: value, after: codings) } catch { fault = error.message }
        // The request allows no other coding (RFC 9112 §7), and libcurl undoes none.
        if let other = codings.first(where: { $0 != "chunked" && $0 != "identity" }) {
            fault =
                fault
                ?? "The response is in the transfer coding \"\(other.prefix(20))\", which the request didn't allow."
        }
    }

    /// The line's value if its name matches, which the caller passes in lower case.
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
