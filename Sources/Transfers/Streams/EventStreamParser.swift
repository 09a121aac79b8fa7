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
