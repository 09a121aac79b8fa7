internal import Foundation
internal import Interceptors

/// One record of a stream: a line, or an element of a JSON text sequence.
struct Record: Sendable, Equatable {
    /// Counted from 1. Empty lines count; the empty elements of a sequence don't.
    let number: Int
    let bytes: Data
}

/// Splits a stream into records. A value without I/O: append a chunk, then ask for records until `next()` returns `nil`.
struct RecordReader {
    enum Format {
        /// JSON lines: each line holds a value, and lines without one are skipped.
        case jsonLines
        /// JSON text sequences (RFC 7464): each value follows an RS, and an LF ends it.
        case jsonSequence
        /// Lines of text. Empty ones count.
        case text

        /// The name of a record in messages.
        var noun: String { self == .jsonSequence ? "element" : "line" }
    }

    /// Limits of a batch. Each change of the actor costs as much as a short line, so values are decoded ahead.
    private static let (longestBatch, mostRecords) = (16 << 10, 1024)

    private let format: Format
    private var records: LineSplitter
    private var count = 0

    /// - Parameter limit: the maximum length of a record in bytes, without its ending.
    init(_ format: Format, limit: Int) {
        self.format = format
        records = LineSplitter(format == .jsonSequence ? .element : .lineFeed, limit: limit)
    }

    /// Adds a chunk. Call it when ``next()`` has returned `nil`.
    mutating func append(_ chunk: Data) { records.append(chunk) }

    /// The next complete record, or `nil` if another chunk is needed.
    mutating func next() throws -> Record? {
        while let bytes = try records.next({ Data($0) }) {
            if let record = try record(bytes) { return record }
        }
        return nil
    }

    /// The next complete records, up to the limits of a batch, and the error after them. Empty if another chunk is needed.
    ///
    /// - Parameter isAtEnd: whether no chunk follows, so that the end of the stream ends the last record.
    mutating func nextBatch(isAtEnd: Bool = false) -> (records: [Record], failure: (any Error)?) {
        var (batch, length) = ([Record](), 0)
        do {
            while length < Self.longestBatch, batch.count < Self.mostRecords, let record = try next() {
                batch.append(record)
                length += record.bytes.count
            }
            if batch.isEmpty, isAtEnd, let last = try finish() { batch = [last] }
            return (batch, nil)
        } catch {
            return (batch, error)
        }
    }

    /// The last record, which ends with the stream. Call it when ``next()`` has returned `nil` and no chunk follows.
    mutating func finish() throws -> Record? {
        guard let bytes = try records.finish({ Data($0) }) else { return nil }
        return try record(bytes)
    }

    private mutating func record(_ bytes: Data) throws -> Record? {
        switch format {
        case .text:
            count += 1
            return Record(number: count, bytes: bytes)
        case .jsonLines:
            count += 1
            return bytes.allSatisfy(Self.isSpace) ? nil : Record(number: count, bytes: bytes)
        case .jsonSequence:
            guard let start = bytes.firstIndex(where: { !Self.isSpace($0) }),
                let end = bytes.lastIndex(where: { !Self.isSpace($0) })
            else { return nil }
            count += 1
            let first = bytes[start]
            // Strings, arrays and objects have a closing delimiter.
            let isDelimited = first == UInt8(ascii: "{") || first == UInt8(ascii: "[") || first == UInt8(ascii: "\"")
            guard isDelimited || records.endedWithLineFeed || end < bytes.endIndex - 1 else {
                let reason =
                    "Element \(count) of the JSON text sequence may be cut off: no line feed ends it (RFC 7464 §2.4)."
                throw TransportError(.truncated, reason)
            }
            return Record(number: count, bytes: Data(bytes[start...end]))
        }
    }

    /// Whether JSON ignores the byte between values (RFC 8259 §2).
    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || 0x09...0x0A ~= byte || byte == 0x0D }
}
