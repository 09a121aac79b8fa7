internal import Foundation
internal import Transport

/// One record of a stream: a line, or an element of a JSON text sequence.
struct Record: Sendable, Equatable {
    /// Counted from 1. Empty lines count; the empty elements of a sequence don't.
    let number: Int
    let bytes: Data
}

/// Splits a stream into records. A value without I/O: append a chunk, then ask for records until there is none.
struct RecordReader {
    enum Format {
        /// JSON lines: each line holds a value, and lines without one are skipped.
        case jsonLines
        /// JSON text sequences (RFC 7464): each value follows an RS.
        case jsonSequence
        /// Lines of text. Empty ones count.
        case text

        /// What a record is called in messages.
        var noun: String { if case .jsonSequence = self { "element" } else { "line" } }
    }

    private static let recordSeparator: UInt8 = 0x1E

    private let format: Format
    private var records: LineSplitter
    private var count = 0

    /// - Parameter limit: the maximum length of a record in bytes.
    init(_ format: Format, limit: Int) {
        self.format = format
        if case .jsonSequence = format {
            records = LineSplitter(.byte(Self.recordSeparator), limit: limit)
        } else {
            records = LineSplitter(.byte(LineSplitter.lineFeed), limit: limit)
        }
    }

    /// The number of bytes in memory.
    var heldCount: Int { records.heldCount }

    /// Adds a chunk. Call it when ``next()`` has returned `nil`.
    mutating func append(_ chunk: Data) { records.append(chunk) }

    /// The next complete record, or `nil` if another chunk is needed.
    mutating func next() throws -> Record? {
        while let bytes = try records.next({ Data($0) }) {
            if let record = try record(bytes) { return record }
        }
        return nil
    }

    /// The last record, which nothing ends but the stream. Call it when ``next()`` has returned `nil` and no chunk follows.
    mutating func finish() throws -> Record? {
        guard let bytes = try records.finish({ Data($0) }) else { return nil }
        return try record(bytes)
    }

    private mutating func record(_ bytes: Data) throws -> Record? {
        switch format {
        case .text:
            count += 1
            let hasReturn = bytes.last == LineSplitter.carriageReturn
            return Record(number: count, bytes: hasReturn ? Data(bytes.dropLast()) : bytes)
        case .jsonLines:
            count += 1
            return bytes.allSatisfy(Self.isSpace) ? nil : Record(number: count, bytes: bytes)
        case .jsonSequence:
            guard let first = bytes.first(where: { !Self.isSpace($0) }), let last = bytes.last else { return nil }
            count += 1
            // Text, arrays and objects show their end themselves.
            let isDelimited = first == UInt8(ascii: "{") || first == UInt8(ascii: "[") || first == UInt8(ascii: "\"")
            guard isDelimited || Self.isSpace(last) else {
                let reason =
                    "Element \(count) of the JSON text sequence may be cut off: no line feed ends it (RFC 7464 §2.4)."
                throw TransportError(.truncated, reason)
            }
            return Record(number: count, bytes: bytes)
        }
    }

    /// Whether JSON ignores the byte between values (RFC 8259 §2).
    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || 0x09...0x0A ~= byte || byte == 0x0D }
}
