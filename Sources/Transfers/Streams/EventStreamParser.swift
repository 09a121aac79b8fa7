internal import Foundation
internal import Interceptors
internal import InterceptorsSyntax

/// Interprets a stream of the type `text/event-stream` (HTML Living Standard §9.2.6), however its chunks divide it.
///
/// A value without I/O: append a chunk, then ask for events until `next()` returns `nil`.
struct EventStreamParser: StreamReader {
    private var lines: LineSplitter
    private var fields: EventFields

    /// - Parameters:
    ///   - limit: the maximum length in bytes of a line, and of an event's data.
    ///   - lastEventID: the last event ID of an earlier connection, which applies until an event has another one.
    ///   - retry: the reconnection time of an earlier connection, which applies until the server sends another one.
    init(limit: Int, lastEventID: String = "", retry: Duration? = nil) {
        lines = LineSplitter(.lineBreak, limit: limit)
        fields = EventFields(limit: limit, lastEventID: lastEventID, retry: retry)
    }

    /// The last event ID. An empty line sets it, whether or not the event before has data.
    var lastEventID: String { fields.lastEventID }

    /// The server's last valid `retry`, at most about thirty years.
    var retry: Duration? { fields.retry }

    /// The number of bytes searched so far.
    var searched: Int { lines.searched }

    /// The number of bytes in memory.
    var heldCount: Int { lines.heldCount + fields.heldCount }

    /// Adds a chunk. Call it when ``next(isAtEnd:)`` has returned `nil`.
    mutating func append(_ chunk: Data) { lines.append(chunk) }

    /// The next complete event, or `nil` if another chunk is needed. At the end of the stream an incomplete event is dropped.
    ///
    /// - Throws: `TransportError` with `HTTPErrorCode.bodyTooLarge` beyond the limit.
    mutating func next(isAtEnd: Bool = false) throws -> ServerSentEvent? {
        while let result = try lines.next({ try fields.interpret($0) }) {
            if let event = result { return event }
        }
        return nil
    }
}

/// The buffers of the standard, which lines fill and an empty line turns into an event.
private struct EventFields {
    private static let colon = UInt8(ascii: ":")
    private static let space = UInt8(ascii: " ")
    private static let longestName = 5
    /// The largest buffer to keep from one event to the next.
    private static let keptCapacity = 64 << 10

    private let limit: Int
    private var type = ""
    /// The values of `data`, each with an LF.
    private var data: [UInt8] = []
    private var id: String
    private(set) var lastEventID: String
    private(set) var retry: Duration?

    init(limit: Int, lastEventID: String, retry: Duration?) {
        self.limit = limit
        self.retry = retry
        id = lastEventID
        self.lastEventID = lastEventID
    }

    var heldCount: Int { data.capacity + type.utf8.count + id.utf8.count }

    /// Returns the event that the line completes, if any.
    mutating func interpret(_ line: UnsafeRawBufferPointer) throws -> ServerSentEvent? {
        guard let first = line.first else { return completeEvent() }
        if first == Self.colon { return nil }
        let nameEnd = line.firstIndex(of: Self.colon) ?? line.count
        guard nameEnd <= Self.longestName else { return nil }
        var value = line.dropFirst(nameEnd + 1)
        if value.first == Self.space { value = value.dropFirst() }
        switch String(decoding: line[..<nameEnd], as: UTF8.self) {
        case "data": try append(value)
        case "event": type = String(decoding: value, as: UTF8.self)
        case "id": if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        case "retry": if let time = Self.duration(value) { retry = time }
        default: break
        }
        return nil
    }

    private mutating func append(_ value: Slice<UnsafeRawBufferPointer>) throws {
        guard data.count + value.count <= limit else {
            throw TransportError(.bodyTooLarge, "An event of the stream is longer than the limit of \(limit) bytes.")
        }
        data.append(contentsOf: value)
        data.append(LineSplitter.lineFeed)
    }

    private mutating func completeEvent() -> ServerSentEvent? {
        defer {
            type = ""
            data.removeAll(keepingCapacity: data.capacity <= Self.keptCapacity)
        }
        lastEventID = id
        guard !data.isEmpty else { return nil }
        return ServerSentEvent(
            type: type.isEmpty ? "message" : type,
            data: String(decoding: data.dropLast(), as: UTF8.self),
            id: id,
            retry: retry
        )
    }

    /// A number of milliseconds in ASCII digits. Any other value is ignored.
    private static func duration(_ value: Slice<UnsafeRawBufferPointer>) -> Duration? {
        guard !value.isEmpty, value.allSatisfy({ ASCII.isDigit($0) }) else { return nil }
        guard let number = Int64(String(decoding: value, as: UTF8.self)) else { return Stopwatch.farthest }
        return min(.milliseconds(number), Stopwatch.farthest)
    }
}

/// Splits a stream of bytes into lines, wherever its chunks begin and end.
///
/// Memory is bounded: a splitter holds one chunk and the beginning of one line. Each byte is searched and copied a constant
/// number of times, however small the chunks are.
struct LineSplitter {
    enum Ending {
        /// CR, LF or CRLF.
        case lineBreak
        /// LF or CRLF.
        case lineFeed
    }

    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    /// The bytes that a line may have besides its content: a byte order mark and a CR.
    private static let longestFrame = 4
    /// The largest buffer to keep from one line to the next.
    private static let keptCapacity = 64 << 10

    private let ending: Ending
    private let limit: Int
    private var chunk = Data()
    /// The offset of the next unread byte in the chunk.
    private var start = 0
    /// The offset of the first LF from `start` on, or the chunk's length without one. Unknown if it is less than `start`.
    private var nextLineFeed = -1
    /// The beginning of a line whose end hasn't arrived.
    private var partial: [UInt8] = []
    /// A CR ended the last line, so that an LF now belongs to the same line break.
    private var skipsLineFeed = false
    private var isFirstLine = true
    /// The number of bytes searched so far.
    private(set) var searched = 0

    /// - Parameter limit: the maximum length of a line in bytes, without its ending and a byte order mark.
    init(_ ending: Ending, limit: Int) {
        self.ending = ending
        self.limit = max(0, limit)
    }

    /// The number of bytes in memory.
    var heldCount: Int { chunk.count + partial.capacity }

    /// Adds a chunk. Call it when ``next(_:)`` has returned `nil`.
    mutating func append(_ chunk: Data) {
        self.chunk = chunk
        (start, nextLineFeed) = (0, -1)
    }

    /// Calls a closure with the next line, without its ending. Returns `nil` if the line's end hasn't arrived yet.
    ///
    /// - Throws: `TransportError` with `HTTPErrorCode.bodyTooLarge` if the line is too long, even before its end arrives.
    mutating func next<Result>(_ use: (UnsafeRawBufferPointer) throws -> Result) throws -> Result? {
        skipLineFeed()
        guard let end = findEnd() else {
            try keepRest()
            return nil
        }
        let (line, isFirst) = (start..<end, isFirstLine)
        (start, isFirstLine) = (end + 1, false)
        guard partial.isEmpty else {
            defer { emptyPartial() }
            try checkRoom(for: line.count)
            chunk.withUnsafeBytes { partial.append(contentsOf: $0[line]) }
            return try partial.withUnsafeBytes { try use(content(of: $0, isFirst: isFirst)) }
        }
        return try chunk.withUnsafeBytes {
            try use(content(of: UnsafeRawBufferPointer(rebasing: $0[line]), isFirst: isFirst))
        }
    }

    /// Calls a closure with the line after the last ending, unless it is empty. Call it when ``next(_:)`` has returned `nil`
    /// and no chunk follows.
    mutating func finish<Result>(_ use: (UnsafeRawBufferPointer) throws -> Result) throws -> Result? {
        guard !partial.isEmpty else { return nil }
        defer { emptyPartial() }
        return try partial.withUnsafeBytes { try use(content(of: $0, isFirst: isFirstLine)) }
    }

    private mutating func skipLineFeed() {
        guard skipsLineFeed, start < chunk.count else { return }
        skipsLineFeed = false
        if chunk[chunk.startIndex + start] == Self.lineFeed { start += 1 }
    }

    /// The offset of the byte that ends the next line.
    private mutating func findEnd() -> Int? {
        guard start < chunk.count else { return nil }
        switch ending {
        case .lineFeed:
            let end = find(Self.lineFeed, in: start..<chunk.count)
            return end < chunk.count ? end : nil
        case .lineBreak:
            // Kept, because a chunk without LF must not be searched for one again after each CR.
            if nextLineFeed < start { nextLineFeed = find(Self.lineFeed, in: start..<chunk.count) }
            let end = find(Self.carriageReturn, in: start..<nextLineFeed)
            guard end < chunk.count else { return nil }
            skipsLineFeed = end < nextLineFeed
            return end
        }
    }

    /// The offset of the first such byte in a range of the chunk, or the range's end.
    private mutating func find(_ byte: UInt8, in range: Range<Int>) -> Int {
        let found: Int? = chunk.withUnsafeBytes { bytes in
            guard !range.isEmpty, let base = bytes.baseAddress else { return nil }
            let match = memchr(base + range.lowerBound, Int32(byte), range.count)
            return match.map { UnsafeRawPointer($0) - base }
        }
        let end = found ?? range.upperBound
        searched += end - range.lowerBound + 1
        return end
    }

    private mutating func keepRest() throws {
        try checkRoom(for: chunk.count - start)
        chunk.withUnsafeBytes { partial.append(contentsOf: $0[start...]) }
        append(Data())
        _ = try partial.withUnsafeBytes { try content(of: $0, isFirst: isFirstLine) }
    }

    /// Throws before bytes are copied that can't belong to a line within the limit.
    private func checkRoom(for count: Int) throws {
        guard count - Self.longestFrame <= limit - partial.count else { throw tooLong() }
    }

    private mutating func emptyPartial() { partial.removeAll(keepingCapacity: partial.capacity <= Self.keptCapacity) }

    /// The bytes of a line without a byte order mark at the beginning of the stream, and without the CR of a CRLF.
    ///
    /// - Throws: an error if they are longer than the limit.
    private func content(of line: UnsafeRawBufferPointer, isFirst: Bool) throws -> UnsafeRawBufferPointer {
        var content = line[...]
        if isFirst, line.starts(with: ByteOrderMark.utf8.bytes) {
            content = content.dropFirst(ByteOrderMark.utf8.bytes.count)
        }
        if case .lineFeed = ending, content.last == Self.carriageReturn { content = content.dropLast() }
        guard content.count <= limit else { throw tooLong() }
        return UnsafeRawBufferPointer(rebasing: content)
    }

    private func tooLong() -> TransportError {
        TransportError(.bodyTooLarge, "A line of the stream is longer than the limit of \(limit) bytes.")
    }
}
