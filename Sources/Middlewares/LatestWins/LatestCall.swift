internal import Foundation
internal import Synchronization

/// A call that a later one under the same key may cancel, at any moment until its response has been read.
final class LatestCall: Sendable {
    private enum State {
        /// It is about to begin, or was answered with nothing left to cancel.
        case idle
        case running(Task<HTTPResponse, any Error>)
        case streaming(HTTPBody)
        case superseded
    }

    private let state = Mutex(State.idle)

    var isSuperseded: Bool {
        state.withLock { if case .superseded = $0 { true } else { false } }
    }

    /// Cancels it: whatever it is doing.
    func supersede() {
        let previous = state.withLock { state in
            defer { state = .superseded }
            return state
        }
        switch previous {
        case .running(let work): work.cancel()
        case .streaming(let body): body.discard()
        case .idle, .superseded: break
        }
    }

    /// Runs the rest of the chain where it can be cancelled apart from its caller.
    ///
    /// - Throws: `CancellationError` if it was superseded, whatever came of it; what the rest throws.
    func run(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let work = Task { try await next(request) }
        if !advance(to: .running(work)) { work.cancel() }
        let answer = await withTaskCancellationHandler {
            await work.result
        } onCancel: {
            work.cancel()
        }
        let body = try? answer.get().body
        guard advance(to: body.map { $0.isUnderWay ? .streaming($0) : .idle } ?? .idle) else {
            body?.discard()
            throw CancellationError()
        }
        return try answer.get()
    }

    private func advance(to new: State) -> Bool {
        state.withLock { state in
            if case .superseded = state { return false }
            state = new
            return true
        }
    }
}

/// The body of a call that may yet be superseded: reading it on then throws `CancellationError`.
struct LatestChunks: AsyncSequence, Sendable {
    let body: HTTPBody
    let call: LatestCall

    func makeAsyncIterator() -> Iterator { Iterator(chunks: body.makeAsyncIterator(), call: call) }

    struct Iterator: AsyncIteratorProtocol {
        var chunks: HTTPBody.AsyncIterator
        let call: LatestCall

        mutating func next() async throws -> Data? { try await next(isolation: #isolation) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
            let chunk: Result<Data?, any Error>
            do {
                chunk = .success(try await chunks.next(isolation: actor))
            } catch {
                chunk = .failure(error)
            }
            if call.isSuperseded { throw CancellationError() }
            return try chunk.get()
        }
    }
}
