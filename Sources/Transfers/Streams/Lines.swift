internal import Foundation
internal import Interceptors

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
        public mutating func next() async throws -> Element? {
            try await next(isolation: #isolation)
        }

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
