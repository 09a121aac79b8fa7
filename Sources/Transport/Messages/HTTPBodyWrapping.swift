public import Foundation
internal import Synchronization

// Bodies around other bodies. Each keeps what the inner body promises: discarding reaches its source, chunks are only asked for
// as they are read, and a body that can be sent again still can.
extension HTTPBody {
    /// Whether the body is a one-shot stream that nothing has read yet. Such a body holds a connection or another source, until
    /// it is read or discarded.
    public var isUnreadStream: Bool { !isRestartable && isReadable }

    /// A body that passes this body's content through another stream.
    ///
    /// ```swift
    /// request.body = request.body.wrapped { $0.prefix(100) }       // any `AsyncSequence` of `Data` that reads the body
    /// ```
    /// Remove `Content-Length` and digests from the fields of a message whose bytes change.
    ///
    /// Discarding the new body discards this one, and the new
    /// body can be read again if this one can; each reading calls the closure again. The new body is a stream even if the content
    /// of this one is in memory.
    ///
    /// - Parameters:
    ///   - length: the number of bytes of the new body; `nil` if unknown. A stream with another number of bytes fails.
    ///   - wrap: makes the stream from this body.
    public func wrapped<Chunks: AsyncSequence & Sendable>(
        length: Int64? = nil,
        _ wrap: @escaping @Sendable (_ body: HTTPBody) throws -> Chunks
    ) -> HTTPBody where Chunks.Element == Data {
        // A used-up body stays visibly used up, so that a transport refuses it before it sends anything.
        guard isReadable else { return self }
        let stream = StreamBody(length: length, isRestartable: isRestartable, onDiscard: { discard() }) {
            do {
                return StreamReader(try wrap(self))
            } catch {
                if !isRestartable { discard() }
                throw error
            }
        }
        return HTTPBody(storage: .stream(stream))
    }

    /// A body with each chunk replaced by the result of a closure. An empty result removes the chunk.
    ///
    /// Chunks have any size, because a transport cuts content where it arrives: a text may be cut within a character. Content
    /// in memory, such as that of a buffered response, stays in memory if you replace the body instead:
    /// `if let bytes = body.bytes { body = HTTPBody(transform(bytes)) }`.
    public func map(_ transform: @escaping @Sendable (_ chunk: Data) throws -> Data) -> HTTPBody {
        wrapped { MappedChunks(body: $0, transform: transform) }
    }

    // Two overloads, and `@concurrent`, so that Swift prefers each to `AsyncSequence.map`: the body of a mapped sequence leaks its
    // source.
    /// A body with each chunk replaced by the result of an asynchronous closure, which runs off the reader's actor. See the method
    /// with a synchronous closure.
    public func map(_ transform: @escaping @Sendable @concurrent (_ chunk: Data) async throws -> Data) -> HTTPBody {
        wrapped { MappedChunks(body: $0, transform: transform) }
    }

    /// A body with the same content that calls an action once, when it holds its source no longer.
    ///
    /// The action gets `nil` after the last chunk, the error that ended the reading, or `CancellationError` if nothing will read
    /// on: after ``discard()``, or when the body and all its iterators are released. It runs on the task that reads or discards.
    ///
    /// A body that isn't an unread one-shot stream holds no source: the action is called before this method returns, and the body
    /// is returned as it is.
    ///
    /// ```swift
    /// let timing: ClosureInterceptor = .intercept { request, next in
    ///     let start = ContinuousClock.now
    ///     var response = try await next(request)
    ///     response.body = response.body.onEnd { error in
    ///         latency.record(start.duration(to: .now), labels: [error == nil ? "read" : "broken off"])
    ///     }
    ///     return response
    /// }
    /// ```
    public func onEnd(_ action: @escaping @Sendable (_ error: (any Error)?) -> Void) -> HTTPBody {
        guard isUnreadStream else {
            action(isRestartable ? nil : CancellationError())
            return self
        }
        let end = BodyEnd(action)
        return .oneShot(EndingChunks(body: self, end: end), length: length) {
            discard()
            end.reached(after: CancellationError())
        }
    }
}

/// Calls its action once: when the end is first reached, or on deinitialisation.
private final class BodyEnd: Sendable {
    private let action: @Sendable ((any Error)?) -> Void
    private let isReached = Atomic<Bool>(false)

    init(_ action: @escaping @Sendable ((any Error)?) -> Void) { self.action = action }

    deinit { reached(after: CancellationError()) }

    func reached(after error: (any Error)?) {
        if !isReached.exchange(true, ordering: .acquiringAndReleasing) { action(error) }
    }
}

private struct EndingChunks: AsyncSequence, Sendable {
    let body: HTTPBody
    let end: BodyEnd

    func makeAsyncIterator() -> Iterator { Iterator(chunks: body.makeAsyncIterator(), end: end) }

    struct Iterator: AsyncIteratorProtocol {
        var chunks: HTTPBody.AsyncIterator
        let end: BodyEnd

        mutating func next() async throws -> Data? { try await next(isolation: #isolation) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
            do {
                if let chunk = try await chunks.next(isolation: actor) { return chunk }
            } catch {
                end.reached(after: error)
                throw error
            }
            end.reached(after: nil)
            return nil
        }
    }
}

private struct MappedChunks: AsyncSequence, Sendable {
    let body: HTTPBody
    let transform: @Sendable (Data) async throws -> Data

    func makeAsyncIterator() -> Iterator { Iterator(chunks: body.makeAsyncIterator(), transform: transform) }

    struct Iterator: AsyncIteratorProtocol {
        var chunks: HTTPBody.AsyncIterator
        let transform: @Sendable (Data) async throws -> Data

        mutating func next() async throws -> Data? { try await next(isolation: #isolation) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
            guard let chunk = try await chunks.next(isolation: actor) else { return nil }
            return try await transform(chunk)
        }
    }
}
