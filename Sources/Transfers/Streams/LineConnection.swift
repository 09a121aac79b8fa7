internal import Foundation
internal import Interceptors

/// The values of one response's lines. Releasing the connection discards the rest of the response.
final class LineConnection<Value: Decodable & Sendable> {
    private let response: HTTPResponse
    private let decoding: RecordDecoding<Value>
    private let request: HTTPRequest
    private var chunks: HTTPBody.AsyncIterator
    private var reader: RecordReader
    private var hasEnded = false
    /// The decoded values, last first, and the error after them.
    private var values: [Value] = []
    private var failure: (any Error)?

    /// - Parameter request: the request, for errors.
    init(_ response: HTTPResponse, limit: Int, decoding: ResponseDecoding, request: HTTPRequest) {
        self.response = response
        self.request = request
        let format = RecordDecoding<Value>.format(of: response)
        self.decoding = RecordDecoding(format: format, decoding: decoding, response: response)
        chunks = response.body.makeAsyncIterator()
        reader = RecordReader(format, limit: limit)
    }

    deinit { response.body.discard() }

    /// The next value, or `nil` at the end of the response.
    func next(isolation actor: isolated (any Actor)?) async throws -> Value? {
        var hasRead = false
        while true {
            if let value = values.popLast() { return value }
            if let failure { throw failure }
            let (records, unreadable) = nextRecords()
            if !records.isEmpty || unreadable != nil {
                let decoded = await decoding.values(of: records)
                (values, failure) = (decoded.values.reversed(), decoded.failure ?? unreadable)
                hasRead = false
            } else if hasEnded {
                return nil
            } else {
                // A server that sends only empty lines mustn't hold the caller's actor.
                if hasRead { try await Task.yieldUnlessCancelled() }
                try await read(isolation: actor)
                hasRead = true
            }
        }
    }

    /// The records of the current chunk up to the limits of a batch, and the error after them.
    private func nextRecords() -> (records: [Record], failure: (any Error)?) {
        var (records, failure) = reader.nextBatch()
        if records.isEmpty, failure == nil, hasEnded {
            do {
                if let last = try reader.finish() { records = [last] }
            } catch {
                failure = error
            }
        }
        return (records, (failure as? TransportError)?.about(request) ?? failure)
    }

    private func read(isolation actor: isolated (any Actor)?) async throws {
        do {
            guard let chunk = try await chunks.next(isolation: actor) else {
                hasEnded = true
                return
            }
            reader.append(chunk)
        } catch let error as TransportError where error.request == nil {
            throw error.about(request)
        }
    }
}
