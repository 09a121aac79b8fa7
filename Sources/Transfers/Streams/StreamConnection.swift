internal import Foundation
internal import Interceptors

/// Finds values in content that arrives in chunks.
protocol StreamReader<Value> {
    associatedtype Value

    /// Adds a chunk, after ``next(isAtEnd:)`` has returned `nil`.
    mutating func append(_ chunk: Data)
    /// The next value, or `nil` if another chunk is needed.
    ///
    /// - Parameter isAtEnd: whether no chunk follows.
    mutating func next(isAtEnd: Bool) async throws -> Value?
}

/// The values of one response. Releasing the connection discards the rest of the response.
final class StreamConnection<Reader: StreamReader> {
    private let body: HTTPBody
    private let request: HTTPRequest
    private var chunks: HTTPBody.AsyncIterator
    private(set) var reader: Reader
    private var isAtEnd = false
    /// Whether any byte has arrived.
    private(set) var hasContent = false

    /// - Parameter request: the request, for errors.
    init(_ body: HTTPBody, _ reader: Reader, of request: HTTPRequest) {
        self.body = body
        self.reader = reader
        self.request = request
        chunks = body.makeAsyncIterator()
    }

    deinit { body.discard() }

    /// The next value, or `nil` at the end of the response.
    func next(isolation actor: isolated (any Actor)?) async throws -> Reader.Value? {
        do {
            var hasRead = false
            while true {
                if let value = try await reader.next(isAtEnd: isAtEnd) { return value }
                if isAtEnd { return nil }
                // A server that sends only comments or empty lines mustn't hold the caller's actor.
                if hasRead { try await Task.yieldUnlessCancelled() }
                hasRead = true
                if let chunk = try await chunks.next(isolation: actor) {
                    hasContent = hasContent || !chunk.isEmpty
                    reader.append(chunk)
                } else {
                    isAtEnd = true
                }
            }
        } catch let error as TransportError where error.request == nil {
            throw error.withRequest(request)
        }
    }
}

extension Task where Success == Never, Failure == Never {
    /// Lets other work of the actor run.
    fileprivate static func yieldUnlessCancelled() async throws {
        try checkCancellation()
        await yield()
        try checkCancellation()
    }
}
