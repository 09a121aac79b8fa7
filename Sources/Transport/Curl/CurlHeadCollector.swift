internal import InterceptorsSyntax

#if os(Linux)

/// Collects the lines of the final head, and of the trailers apart from it. Heads of proxies are dropped.
struct CurlHeadCollector {
    /// The end that a line is of.
    enum End {
        case none
        case interimHead
        case finalHead
    }

    /// The head that is being received, or the final head.
    private(set) var bytes: [UInt8] = []
    /// The lines of the trailers.
    private(set) var trailers: [UInt8] = []
    private(set) var hasContentEncoding = false
    private(set) var framing = CurlFraming()
    private(set) var isComplete = false
    var isHTTP1: Bool { bytes.count > 5 && bytes[5] == UInt8(ascii: "1") }
    /// Whether the framing forbids another request on the connection: whoever wrote `chunked` into a head of HTTP/1.0 doesn't know
    /// the coding (RFC 9112 §6.1).
    var endsConnection: Bool { isHTTP1 && framing.isChunked && bytes.count > 7 && bytes[7] == UInt8(ascii: "0") }
    /// Whether the head, the interim heads together, or the trailers exceed 256 KB. libcurl limits only each line.
    var isTooLong: Bool { max(bytes.count, trailers.count, interimBytes) > Self.limit }
    /// Whether there are more than 1,000 interim heads.
    var isEndlesslyInterim: Bool { interimCount > 1_000 }
    private static let limit = 256 * 1024
    private var interimCount = 0
    private var interimBytes = 0
    private var isInterim = false
    private var isBetweenHeads = true

    /// The content's codings; `nil` if the transport can't decode one of them.
    var codings: [ContentCoding]? {
        let fields = WireHead(parsing: bytes)?.fields
        return fields.flatMap { ContentCoding.parse($0[values: .contentEncoding]) }
    }

    /// Receives a line. Returns whether the line ended a head.
    mutating func receive(_ line: UnsafeRawBufferPointer) -> End {
        if isComplete {
            framing.noteTrailer(line)
            trailers.append(contentsOf: line)
            return .none
        }
        // A line inside a head is never a status line.
        if isBetweenHeads, Self.isStatusLine(line) {
            bytes.removeAll(keepingCapacity: true)
            bytes.reserveCapacity(512)
            (hasContentEncoding, framing) = (false, CurlFraming())
            isInterim = Self.statusClass(line) == UInt8(ascii: "1")
            isBetweenHeads = false
        }
        if line.count <= 2, line.first == 0x0D || line.first == 0x0A {
            isBetweenHeads = true
            isComplete = !isInterim
            guard isInterim else { return .finalHead }
            interimCount += 1
            interimBytes += bytes.count
            return .interimHead
        }
        framing.note(line)
        if line.count > 17, line[7] == UInt8(ascii: "-"), Self.hasPrefix("content-encoding:", line) {
            hasContentEncoding = true
        }
        bytes.append(contentsOf: line)
        return .none
    }

    private static func isStatusLine(_ line: UnsafeRawBufferPointer) -> Bool {
        line.count > 5 && hasPrefix("http/", line)
    }

    private static func statusClass(_ line: UnsafeRawBufferPointer) -> UInt8? {
        guard let space = line.firstIndex(of: 0x20), space + 1 < line.count else { return nil }
        return line[space + 1]
    }

    private static func hasPrefix(_ lowercased: StaticString, _ line: UnsafeRawBufferPointer) -> Bool {
        let prefix = UnsafeBufferPointer(start: lowercased.utf8Start, count: lowercased.utf8CodeUnitCount)
        return line.count >= prefix.count && zip(prefix, line).allSatisfy { $0 == ASCII.lowercased($1) }
    }
}
#endif
