public import Foundation
internal import Synchronization

// Bodies that wrap other bodies and keep their promises. Discarding a wrapper discards the source. Chunks are requested only as
// they are read. A restartable body stays restartable.
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
    /// Discarding the new body discards this body. If this body can be read again, so can the new body; each reading calls the
    /// closure again. The new body is a stream even if this body's content is in memory.
    ///
    /// - Parameters:
    ///   - length: the number of bytes of the new body; `nil` if unknown. Reading fails if the stream has a different number of
    ///     bytes.
    ///   - wrap: makes the stream from this body.
    public func wrapped<Chunks: AsyncSequence & Sendable>(
        length: Int64? = nil,
        _ wrap: @escaping @Sendable (_ body: HTTPBody) throws -> Chunks
    ) -> HTTPBody where Chunks.Element == Data {
        // Returns a used-up body unchanged, so that a transport refuses the body before sending anything.
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
    /// A transport may split content anywhere, even in the middle of a character. Content in memory, such as that of a buffered
    /// response, stays in memory if you replace the body instead:
    /// `if let bytes = body.data { body = HTTPBody(transform(bytes)) }`.
    public func map(_ transform: @escaping @Sendable (_ chunk: Data) throws -> Data) -> HTTPBody {
        unfolded { chunks in try await chunks.next().map(transform) }
    }

    // Two overloads and `@concurrent` make Swift prefer these methods to `AsyncSequence.map`. A body made from a mapped
    // sequence would leak its source.
    /// A body with each chunk replaced by the result of an asynchronous closure, which runs off the reader's actor. See the method
    /// with a synchronous closure.
    public func map(_ transform: @escaping @Sendable @concurrent (_ chunk: Data) async throws -> Data) -> HTTPBody {
        unfolded { chunks in
            guard let chunk = try await chunks.next() else { return nil }
            return try await transform(chunk)
        }
    }

    /// A body whose chunks a closure makes from those of this body, as they are read.
    package func unfolded(
        length: Int64? = nil,
        _ next: @escaping @Sendable (inout AsyncIterator) async throws -> Data?
    ) -> HTTPBody {
        wrapped(length: length) { body in UnfoldingSequence(from: { body.makeAsyncIterator() }, step: next) }
    }

    /// A body with this body's content that calls an action once, when it no longer holds its source.
    ///
    /// After the last chunk, the action gets `nil`. If reading fails, the action gets the error. After ``discard()``, or if the
    /// body and all its iterators are released before the end, the action gets `CancellationError`. The action runs on the task
    /// that reads or discards.
    ///
    /// Only an unread one-shot stream holds a source. For any other body, this method calls the action immediately and returns
    /// the body unchanged.
    ///
    /// ```swift
    /// let timing: AnyInterceptor = .intercept { request, next in
    ///     let start = ContinuousClock.now
    ///     var response = try await next(request)
    ///     response.body = response.body.onEnd { error in
    ///         latency.record(start.duration(to: .now), labels: [error == nil ? "read" : "broken off"])
    ///     }
    ///     return response
    /// }
    /// ```
    public func onEnd(_ action: @escaping @Sendable (_ error: (any Error)?) -> Void) -> HTTPBody {
        onEnd(counting: { _, error in action(error) })
    }

    /// As the public method, with the number of bytes that were read.
    package func onEnd(
        counting action: @escaping @Sendable (_ count: Int64, _ error: (any Error)?) -> Void
    ) -> HTTPBody {
        guard isUnreadStream else {
            action(0, isRestartable ? nil : CancellationError())
            return self
        }
        let end = BodyEnd(action)
        let chunks = UnfoldingSequence(from: { makeAsyncIterator() }) { chunks in
            do {
                if let chunk = try await chunks.next() {
                    end.add(chunk)
                    return chunk
                }
            } catch {
                end.reached(after: error)
                throw error
            }
            end.reached(after: nil)
            return nil
        }
        return .oneShot(chunks, length: length) {
            discard()
            end.reached(after: CancellationError())
        }
    }
}

/// Calls its action once: when the end is first reached, or on deinitialisation.
private final class BodyEnd: Sendable {
    private let action: @Sendable (Int64, (any Error)?) -> Void
    private let isReached = Atomic<Bool>(false)
    private let count = Atomic<Int64>(0)

    init(_ action: @escaping @Sendable (Int64, (any Error)?) -> Void) { self.action = action }

    deinit { reached(after: CancellationError()) }

    func add(_ chunk: Data) { count.add(Int64(chunk.count), ordering: .relaxed) }

    func reached(after error: (any Error)?) {
        if isReached.exchange(true, ordering: .acquiringAndReleasing) { return }
        action(count.load(ordering: .relaxed), error)
    }
}
