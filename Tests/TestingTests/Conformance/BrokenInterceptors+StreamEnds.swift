import Foundation
import InterceptorsCore
import InterceptorsTestSupport

/// Wrong when a stream that a caller has begun to read is given up, cancelled or read slowly.
extension BrokenInterceptor {
    static let streamEnds: [Self] = [
        Self("aStreamIsReadAtItsReadersPace", fault: "task that starts with the first read") { request, next in
            try await bent(request, next) { body in
                AsyncThrowingStream { continuation in
                    let pump = Task {
                        do {
                            for try await chunk in body { continuation.yield(chunk) }
                            continuation.finish()
                        } catch {
                            continuation.finish(throwing: error)
                        }
                    }
                    continuation.onTermination = { _ in pump.cancel() }
                }
            }
        },
        Self("aDiscardedStreamIsDiscardedAtItsSource", fault: "discard that acts on unread bodies only") {
            request,
            next in
            var response = try await next(request)
            let body = response.body
            guard body.data == nil else { return response }
            response.body = .oneShot(body.filter { _ in true }, length: body.length) {
                if body.isUnreadStream { body.discard() }
            }
            return response
        },
        Self("aDiscardedStreamIsDiscardedAtItsSource", fault: "list of all bodies") { _ in
            let bodies = Shared<[HTTPBody]>([])
            return AnyInterceptor.intercept { request, next in
                let response = try await next(request)
                bodies.change { $0.append(response.body) }
                return response
            }
        },
        Self("cancellationEndsACallAtOnce", fault: "reader that doesn't notice") { request, next in
            try await bent(request, next) { body in
                Relay(body) { source in try await Task { try await source.next() }.value }
            }
        },
        Self("cancellationIsACancellationError", fault: "reader that wraps each error") { request, next in
            try await bent(request, next) { body in
                Relay(body) { source in
                    do { return try await source.next() } catch {
                        throw TransportError(.truncated, "The content was cut off.", underlying: error)
                    }
                }
            }
        },
        Self("cancellationLeavesNothingBehind", fault: "reader that leaves its source open") { request, next in
            try await bent(request, next) { body in
                Relay(body) { source in
                    let end = Once<Data?>()
                    Task {
                        do { end.resume(.success(try await source.next())) } catch { end.resume(.failure(error)) }
                    }
                    return try await withTaskCancellationHandler {
                        try await end.value()
                    } onCancel: {
                        end.resume(.failure(CancellationError()))
                    }
                }
            }
        },
    ]

    private actor Source {
        private var chunks: HTTPBody.AsyncIterator

        init(_ body: HTTPBody) { chunks = body.makeAsyncIterator() }

        func next() async throws -> Data? {
            var iterator = chunks
            let chunk = try await iterator.next()
            chunks = iterator
            return chunk
        }
    }

    /// Reads a body as a closure says.
    private struct Relay: AsyncSequence, Sendable {
        let body: HTTPBody
        let read: @Sendable (Source) async throws -> Data?

        init(_ body: HTTPBody, _ read: @escaping @Sendable (Source) async throws -> Data?) {
            (self.body, self.read) = (body, read)
        }

        func makeAsyncIterator() -> Iterator { Iterator(source: Source(body), read: read) }

        struct Iterator: AsyncIteratorProtocol {
            let source: Source
            let read: @Sendable (Source) async throws -> Data?

            mutating func next() async throws -> Data? { try await read(source) }
        }
    }
}
