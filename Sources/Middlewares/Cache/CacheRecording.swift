internal import Foundation
internal import InterceptorsCore
internal import Synchronization

/// Stores the body of one response while a caller reads it. A body that breaks off becomes a part, or isn't stored.
///
/// The first of ``finish()``, ``breakOff()``, ``abandon()`` and the deinitializer ends the recording; the others then do nothing.
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

    /// Ends the body after an error of its source.
    func breakOff() async {
        let last = close()
        if last.isOpen { await commit.endPart(writer, after: last.count) }
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
    /// The codes of errors after which the bytes that have arrived are right.
    private static let cuts: Set<HTTPErrorCode> = [.offline, .connectionLost, .timedOut, .truncated]

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
                // Another error, such as an interceptor's, may mean that the bytes are wrong. After a cancellation the caller waits
                // for nothing.
                let isCut = (error as? TransportError).map { RecordedBody.cuts.contains($0.code) } ?? false
                if isCut, !Task.isCancelled { await recording.breakOff() } else { recording.abandon() }
                throw error
            }
        }
    }
}
