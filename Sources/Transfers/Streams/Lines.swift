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
            request.headers.addMissing([.accept: Self.mediaTypes])
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
    private let response: HTTPResponse
    private let decoding: ResponseDecoding
    private let encoding: String.Encoding
    private var records: RecordReader
    /// The decoded values, last first, and the error after them.
    private var values: [Value] = []
    private var failure: (any Error)?

    init(_ response: HTTPResponse, limit: Int, decoding: ResponseDecoding) {
        self.response = response.head
        self.decoding = decoding
        encoding = response.headers[.contentType].flatMap(HTTPResponse.encoding(of:)) ?? .utf8
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
                let decoded = await values(of: batch)
                (values, failure) = (decoded.values.reversed(), decoded.failure ?? unreadable)
            }
        }
        if let value = values.popLast() { return value }
        if let failure { throw failure }
        return nil
    }

    /// The values up to the first line that can't be decoded, and its error.
    // Decoding may be slow, so it runs off the caller's actor.
    @concurrent
    private func values(of records: [Record]) async -> (values: [Value], failure: (any Error)?) {
        var values: [Value] = []
        values.reserveCapacity(records.count)
        do {
            for record in records { values.append(try value(of: record)) }
            return (values, nil)
        } catch {
            if let failure = error as? ResponseDecodingError {
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
        guard let encoding = response.headers[.contentType].flatMap(HTTPResponse.encoding(of:)),
            Self.wideEncodings.contains(encoding)
        else { return }
        response.body.discard()
        try await observed(response) { throw wideCharset(response) }
    }

    fileprivate func wideCharset(_ response: HTTPResponse) -> ResponseDecodingError {
        let message = "The response is in UTF-16 or UTF-32, in which lines can't be found. Ask the server for UTF-8."
        return failure(.unexpectedMediaType, message, response)
    }
}
