import Foundation
import InterceptorsCore
import InterceptorsTestSupport

/// Wrong on streams.
extension BrokenInterceptor {
    static let streams: [Self] = [
        Self("aStreamStaysAStream") { request, next in
            var response = try await next(request)
            response.body = HTTPBody(try await response.body.collect(upTo: 1 << 24))
            return response
        },
        Self("theFirstByteIsNotDelayed") { request, next in try await bent(request, next) { HeldBack(body: $0) } },
        Self("aStreamIsReadAtItsReadersPace") { request, next in
            var response = try await next(request)
            guard response.body.data == nil else { return response }
            let (body, (stream, continuation)) = (response.body, AsyncThrowingStream.makeStream(of: Data.self))
            let pump = Task {
                do {
                    for try await chunk in body { continuation.yield(chunk) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in pump.cancel() }
            response.body = .oneShot(stream, length: body.length) {
                pump.cancel()
                body.discard()
            }
            return response
        },
        Self("theEndOfAStreamArrives") { request, next in try await bent(request, next) { Endless(body: $0) } },
        Self("theErrorOfAStreamArrives") { request, next in try await bent(request, next) { Swallowing(body: $0) } },
        Self("aDiscardedStreamIsDiscardedAtItsSource") { request, next in
            var response = try await next(request)
            guard response.body.data == nil else { return response }
            response.body = .oneShot(Plain(body: response.body), length: response.body.length)
            return response
        },
        Self("aResponseThatIsNotReturnedIsDiscarded", [.retries]) { request, next in
            let response = try await next(request)
            guard response.status == 503, request.method.isIdempotent, request.body.isRestartable else {
                return response
            }
            return try await next(request)
        },
    ]

    /// A response whose stream, if it has one, is read through another sequence.
    static func bent<Chunks: AsyncSequence & Sendable>(
        _ request: HTTPRequest,
        _ next: Next,
        _ bend: @escaping @Sendable (HTTPBody) -> Chunks
    ) async throws -> HTTPResponse where Chunks.Element == Data {
        var response = try await next(request)
        guard response.body.data == nil else { return response }
        response.body = response.body.wrapped(length: response.body.length, bend)
        return response
    }

    /// Returns each chunk only when the next one has come.
    private struct HeldBack: AsyncSequence, Sendable {
        let body: HTTPBody
        func makeAsyncIterator() -> Iterator { Iterator(source: body.makeAsyncIterator()) }

        struct Iterator: AsyncIteratorProtocol {
            var source: HTTPBody.AsyncIterator
            var held: Data?

            mutating func next() async throws -> Data? {
                if held == nil { held = try await source.next() }
                let chunk = held
                held = try await source.next()
                return chunk
            }
        }
    }

    /// Waits for ever at the end.
    private struct Endless: AsyncSequence, Sendable {
        let body: HTTPBody
        func makeAsyncIterator() -> Iterator { Iterator(source: body.makeAsyncIterator()) }

        struct Iterator: AsyncIteratorProtocol {
            var source: HTTPBody.AsyncIterator
            mutating func next() async throws -> Data? {
                if let chunk = try await source.next() { return chunk }
                for await _ in AsyncStream(Data.self, { _ in }) {}
                return nil
            }
        }
    }

    /// Takes an error for the end.
    private struct Swallowing: AsyncSequence, Sendable {
        let body: HTTPBody
        func makeAsyncIterator() -> Iterator { Iterator(source: body.makeAsyncIterator()) }

        struct Iterator: AsyncIteratorProtocol {
            var source: HTTPBody.AsyncIterator
            mutating func next() async throws -> Data? {
                do {
                    return try await source.next()
                } catch let error as CancellationError {
                    throw error
                } catch {
                    return nil
                }
            }
        }
    }

    /// The same chunks, without a way to discard them.
    private struct Plain: AsyncSequence, Sendable {
        let body: HTTPBody
        func makeAsyncIterator() -> HTTPBody.AsyncIterator { body.makeAsyncIterator() }
    }
}
