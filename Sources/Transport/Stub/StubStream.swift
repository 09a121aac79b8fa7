internal import Foundation

/// Reports the progress of a body.
struct StubProgress: Sendable {
    private let report: (@Sendable (TransferProgress) -> Void)?
    private let total: Int64?
    private var completed: Int64 = 0

    init(_ report: (@Sendable (TransferProgress) -> Void)?, total: Int64?) {
        self.report = report
        self.total = total
    }

    mutating func add(_ count: Int) {
        completed += Int64(count)
        if count > 0 { report?(TransferProgress(completed: completed, total: total)) }
    }
}

/// The body of a streamed response. Calls `end` when the body has ended, and `close` when it has ended or failed.
struct StubStream: AsyncSequence, Sendable {
    let body: HTTPBody
    let progress: StubProgress
    let end: @Sendable () -> Void
    let close: @Sendable () -> Void

    func makeAsyncIterator() -> Iterator {
        Iterator(source: body, body: body.makeAsyncIterator(), progress: progress, end: end, close: close)
    }

    struct Iterator: AsyncIteratorProtocol {
        let source: HTTPBody
        var body: HTTPBody.AsyncIterator
        var progress: StubProgress
        let end: @Sendable () -> Void
        let close: @Sendable () -> Void

        mutating func next() async throws -> Data? { try await next(isolation: #isolation) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
            do {
                try Task.checkCancellation()
                if let chunk = try await body.next(isolation: actor) {
                    progress.add(chunk.count)
                    return chunk
                }
            } catch {
                // A cancelled reader discards the rest, as closing a connection would.
                source.discard()
                close()
                throw error
            }
            end()
            close()
            return nil
        }
    }
}
