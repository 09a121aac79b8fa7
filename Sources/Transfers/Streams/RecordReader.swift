internal import Foundation
internal import Interceptors

/// One line of a stream.
struct Record: Sendable, Equatable {
    /// Counted from 1. Empty lines count.
    let number: Int
    let bytes: Data
}

/// Splits a stream into lines. A value without I/O: append a chunk, then ask for lines until `next()` returns `nil`.
struct RecordReader {
    /// Limits of a batch. Each change of the actor costs as much as a short line, so values are decoded ahead.
    private static let (longestBatch, mostRecords) = (16 << 10, 1024)

    private let skipsEmpty: Bool
    private var lines: LineSplitter
    private var count = 0

    /// - Parameters:
    ///   - skipsEmpty: whether to skip lines with nothing but white space.
    ///   - limit: the maximum length of a line in bytes, without its ending.
    init(skipsEmpty: Bool, limit: Int) {
        self.skipsEmpty = skipsEmpty
        lines = LineSplitter(.lineFeed, limit: limit)
    }

    /// Adds a chunk. Call it when ``next()`` has returned `nil`.
    mutating func append(_ chunk: Data) { lines.append(chunk) }

    /// The next complete line, or `nil` if another chunk is needed.
    mutating func next() throws -> Record? {
        while let bytes = try lines.next({ Data($0) }) {
            if let record = record(bytes) { return record }
        }
        return nil
    }

    /// The next complete lines, up to the limits of a batch, and the error after them. Empty if another chunk is needed.
    ///
    /// - Parameter isAtEnd: whether no chunk follows, so that the end of the stream ends the last line.
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

    /// The last line, which ends with the stream. Call it when ``next()`` has returned `nil` and no chunk follows.
    mutating func finish() throws -> Record? { try lines.finish { Data($0) }.flatMap { record($0) } }

    private mutating func record(_ bytes: Data) -> Record? {
        count += 1
        return skipsEmpty && bytes.allSatisfy(Self.isSpace) ? nil : Record(number: count, bytes: bytes)
    }

    /// Whether JSON ignores the byte between values (RFC 8259 §2).
    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || 0x09...0x0A ~= byte || byte == 0x0D }
}
