internal import Foundation
internal import InterceptorsCore
internal import Synchronization

/// Stores the body of one response while a caller reads it. A body that breaks off isn't stored.
///
/// The first of ``finish()``, ``abandon()`` and the deinitializer ends the recording; the others then do nothing.
final class CacheRecording: Sendable {
    private let commit: CacheCommit
    private let writer: any CacheWriter
    private let state = Mutex((isOpen: true, count: Int64(0)))

    init(_ commit: CacheCommit, _ writer: any CacheWriter) {
        self.commit = commit
        self.writer = writer
    }

    // A reader that drops the response before its end leaves nothing in the store.
    deinit { abandon() }

    func append(_ chunk: Data) async {
        let isOpen = state.withLock { state in
            state.count += Int64(chunk.count)
            return state.isOpen
        }
        guard isOpen else { return }
        do {
            try await writer.append(chunk)
        } catch {
            abandon()
            commit.report(error)
            await commit.giveWay()
        }
    }

    /// Ends the body. Returns whether it is stored.
    @discardableResult
    func finish() async -> Bool {
        let last = close()
        return last.isOpen ? await commit.end(writer, after: last.count) : false
    }

    func abandon() { if close().isOpen { writer.abandon() } }

    /// Closes the recording, and returns its last state.
    private func close() -> (isOpen: Bool, count: Int64) {
        state.withLock { state in
            defer { state.isOpen = false }
            return state
        }
    }
}

/// A body that is stored while it is read.
struct RecordedBody: AsyncSequence, Sendable {
    let body: HTTPBody
    let recording: CacheRecording

    func makeAsyncIterator() -> Iterator { Iterator(body: body.makeAsyncIterator(), recording: recording) }

    struct Iterator: AsyncIteratorProtocol {
        var body: HTTPBody.AsyncIterator
        let recording: CacheRecording

        mutating func next() async throws -> Data? { try await next(isolation: #isolation) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
            do {
                guard let chunk = try await body.next(isolation: actor) else {
                    // After a cancellation, a truncated stream may end as if it were complete.
                    if Task.isCancelled { recording.abandon() } else { await recording.finish() }
                    return nil
                }
                await recording.append(chunk)
                return chunk
            } catch {
                recording.abandon()
                throw error
            }
        }
    }
}
