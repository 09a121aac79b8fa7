internal import Foundation
internal import Synchronization

extension HTTPBody {
    /// Whether the body is a one-shot stream that nothing has read yet.
    var isUnreadStream: Bool { !isRestartable && isReadable }

    /// A body with the same content that calls `action` once, when nothing will read on: after the last chunk or an error, on
    /// `discard()`, or when the body and all its iterators are released.
    func onEnd(_ action: @escaping @Sendable () -> Void) -> HTTPBody {
        let end = BodyEnd(action)
        return .oneShot(EndingChunks(body: self, end: end), length: length) {
            discard()
            end.reached()
        }
    }
}

/// Calls its action once: when `reached()` is first called, or on deinitialisation.
final class BodyEnd: Sendable {
    private let action: @Sendable () -> Void
    private let isReached = Atomic<Bool>(false)

    init(_ action: @escaping @Sendable () -> Void) { self.action = action }

    deinit { reached() }

    func reached() {
        if !isReached.exchange(true, ordering: .acquiringAndReleasing) { action() }
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
                end.reached()
                throw error
            }
            end.reached()
            return nil
        }
    }
}
