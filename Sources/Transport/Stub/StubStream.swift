internal import Foundation

/// Reports how far a body has got.
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

/// The body of a streamed answer, which tells when it has ended.
struct StubStream: AsyncSequence, Sendable {
    let body: HTTPBody
    let progress: StubProgress
    let close: @Sendable () -> Void

    func makeAsyncIterator() -> Iterator {
        Iterator(source: body, body: body.makeAsyncIterator(), progress: progress, close: close)
    }

    struct Iterator: AsyncIteratorProtocol {
        let source: HTTPBody
        var body: HTTPBody.AsyncIterator
        var progress: StubProgress
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
                // A cancelled reader lets the rest go, as it would a connection.
                source.discard()
                close()
                throw error
            }
            close()
            return nil
        }
    }
}
