internal import Foundation
internal import Interceptors
internal import InterceptorsSyntax

/// The values of a response, one for each line: see ``InterceptorsCore/Client/lines(_:as:upTo:query:headers:context:)``.
public struct Lines<Element: Decodable & Sendable>: AsyncSequence, Sendable {
    let client: Client
    let limit: Int
    let request: @Sendable () async throws -> HTTPRequest

    private static var mediaTypes: String { "application/x-ndjson, application/jsonl" }

    /// Receives one value after the other. Releasing the iterator closes its connection.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let lines: Lines
        private var connection: StreamConnection<ValueReader<Element>>?
        private var isOver = false

        init(_ lines: Lines) { self.lines = lines }

        /// The next value; `nil` after the last one, or after an error.
        public mutating func next() async throws -> Element? { try await next(isolation: #isolation) }

        /// The next value; `nil` after the last one, or after an error.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            guard !isOver else { return nil }
            // Set back only after a value, so that nothing follows an error or the end.
            isOver = true
            do {
                // Further values may be decoded already.
                try Task.checkCancellation()
                if connection == nil { connection = try await lines.connect() }
                let value = try await connection?.next(isolation: actor)
                isOver = value == nil
                if isOver { connection = nil }
                return value
            } catch {
                connection = nil
                if Task.isCancelled { throw CancellationError() }
                throw error
            }
        }
    }

    /// Starts at the first line. The request is sent when the first value is asked for.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    private func connect() async throws -> StreamConnection<ValueReader<Element>> {
        var request = try await self.request()
        if Element.self != String.self, Element.self != Data.self {
            request.headerFields.addMissing([.accept: Self.mediaTypes])
        }
        request.context.responseBody = .streamed
        let sent = request
        let response = try await client.send(request)
        let decoding = ResponseDecoding(decoder: client.decoder, sent)
        try await decoding.checkStatus(of: response)
        try await decoding.checkCharset(of: response)
        let reader = ValueReader<Element>(response, limit: limit, decoding: decoding)
        return StreamConnection(response.body, reader, of: sent)
    }
}

/// The values of one response's lines, decoded ahead.
struct ValueReader<Value: Decodable & Sendable>: StreamReader {
    private let decoding: RecordDecoding<Value>
    private var records: RecordReader
    /// The decoded values, last first, and the error after them.
    private var values: [Value] = []
    private var failure: (any Error)?

    init(_ response: HTTPResponse, limit: Int, decoding: ResponseDecoding) {
        self.decoding = RecordDecoding(decoding, response)
        // Empty lines of text count.
        records = RecordReader(skipsEmpty: Value.self != String.self && Value.self != Data.self, limit: limit)
    }

    mutating func append(_ chunk: Data) { records.append(chunk) }

    mutating func next(isAtEnd: Bool) async throws -> Value? {
        if values.isEmpty, failure == nil {
            let (batch, unreadable) = records.nextBatch(isAtEnd: isAtEnd)
            if batch.isEmpty {
                failure = unreadable
            } else {
                let decoded = await decoding.values(of: batch)
                (values, failure) = (decoded.values.reversed(), decoded.failure ?? unreadable)
            }
        }
        if let value = values.popLast() { return value }
        if let failure { throw failure }
        return nil
    }
}

/// Turns the lines of one response into values.
private struct RecordDecoding<Value: Decodable & Sendable>: Sendable {
    private let decoding: ResponseDecoding
    private let response: HTTPResponse
    private let encoding: String.Encoding

    init(_ decoding: ResponseDecoding, _ response: HTTPResponse) {
        self.decoding = decoding
        self.response = response.head
        encoding = response.headerFields[.contentType].flatMap(HTTPResponse.encoding(of:)) ?? .utf8
    }

    /// The values up to the first line that can't be decoded, and its error.
    // Decoding may be slow, so it runs off the caller's actor.
    @concurrent
    func values(of records: [Record]) async -> (values: [Value], failure: (any Error)?) {
        var values: [Value] = []
        values.reserveCapacity(records.count)
        do {
            for record in records { values.append(try value(of: record)) }
            return (values, nil)
        } catch {
            if let failure = error as? DecodingFailure {
                for observe in response.context.decodingObservers { observe(failure) }
            }
            return (values, error)
        }
    }

    private func value(of record: Record) throws -> Value {
        // `LineSplitter` has already removed a UTF-8 mark.
        if record.number == 1, let mark = ByteOrderMark.beginning(record.bytes), mark.encoding != .utf8 {
            throw decoding.wideCharset(response)
        }
        if Value.self == Data.self, let bytes = record.bytes as? Value { return bytes }
        if Value.self == String.self, let text = HTTPResponse.text(record.bytes, in: encoding) as? Value { return text }
        return try decoding.decode(Value.self, from: record.bytes, part: "line \(record.number)", of: response)
    }
}

extension ResponseDecoding {
    private static let wideEncodings: Set<String.Encoding> = [
        .utf16BigEndian, .utf16LittleEndian, .utf32BigEndian, .utf32LittleEndian,
    ]

    /// Discards the content and throws if its charset has units of two or four bytes, because an LF in it isn't one byte.
    func checkCharset(of response: HTTPResponse) async throws {
        guard let encoding = response.headerFields[.contentType].flatMap(HTTPResponse.encoding(of:)),
            Self.wideEncodings.contains(encoding)
        else { return }
        response.body.discard()
        try await observed(response) { throw wideCharset(response) }
    }

    fileprivate func wideCharset(_ response: HTTPResponse) -> DecodingFailure {
        let message = "The response is in UTF-16 or UTF-32, in which lines can't be found. Ask the server for UTF-8."
        return failure(.unexpectedMediaType, message, response)
    }
}

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
