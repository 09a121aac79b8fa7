internal import Foundation
internal import Synchronization

extension HTTPBody {
    /// Whether something is still under way for it: a stream that can be read once, and wasn't.
    var isUnderWay: Bool { !isRestartable && isReadable }

    /// The same content, which tells once when nobody will read on: after its last chunk or an error, when it is discarded,
    /// or when neither it nor a reading of it is held by anyone.
    func onEnd(_ action: @escaping @Sendable () -> Void) -> HTTPBody {
        let end = BodyEnd(action)
        return .oneShot(EndingChunks(body: self, end: end), length: length) {
            discard()
            end.reached()
        }
    }
}

/// Calls its action once, when it is let go at the latest.
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
