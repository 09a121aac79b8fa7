internal import Foundation
internal import Interceptors
internal import Synchronization

/// A response in progress, to be stored once its body has ended.
///
/// Two checks decide at the moment of storing, in ``isWanted(_:)``, which the store calls under its lock:
/// 1. The key's generation is still the one that the request found. It changes with every invalidation, in any process
///    that shares the store.
/// 2. The flight may still store. This cache hasn't invalidated the key since the request was sent, and no response that
///    arrived later is stored for the same variant.
///
/// Nothing must be undone later. An invalidation before the commit has changed the generation, so the commit stores nothing;
/// an invalidation after the commit finds the entry and removes it.
///
/// If the response isn't stored, the entries that it would have replaced are removed instead: see ``giveWay()``.
struct CacheCommit: Sendable {
    let response: CachedResponse
    /// The IDs of the entries that it replaces, besides those of its variant.
    let replaced: [CacheEntry.ID]
    /// The IDs of all entries that the request found.
    let seen: [CacheEntry.ID]
    let flight: CacheFlights.Flight
    let store: any CacheStore
    /// The key's generation when the request was sent.
    let generation: CacheGeneration
    /// The announced length of the body: the value of `Content-Length`.
    let length: Int64?
    let report: @Sendable (any Error) -> Void

    /// Stores a body that is in memory. Returns whether it is stored.
    func store(_ body: Data) async -> Bool {
        do {
            try check(Int64(body.count))
        } catch {
            report(error)
            return false
        }
        do {
            // A closure, since a reference to the method would be allocated.
            let isStored = try await store.store(body, of: response, for: flight.key, replacing: replaced) {
                isWanted($0)
            }
            if isStored { return true }
        } catch {
            report(error)
            if Self.isStored(despite: error) { return true }
        }
        await giveWay()
        return false
    }

    /// A recording that stores the body while it is read; `nil` if the body can't be stored.
    func recording(of length: Int64?) async -> CacheRecording? {
        do {
            // Saves writing a body whose commit is already certain to be refused.
            guard try await store.snapshot(of: flight.key).generation == generation else {
                await giveWay()
                return nil
            }
            let writer = try await store.write(
                response,
                for: flight.key,
                replacing: replaced,
                length: length ?? self.length
            )
            return CacheRecording(self, writer)
        } catch {
            report(error)
            await giveWay()
            return nil
        }
    }

    /// Commits a body of `count` bytes. Returns whether it is stored.
    func end(_ writer: any CacheWriter, after count: Int64) async -> Bool {
        do {
            try check(count)
        } catch {
            writer.abandon()
            report(error)
            return false
        }
        do {
            if try await writer.commit(if: { isWanted($0) }) { return true }
        } catch {
            report(error)
            if Self.isStored(despite: error) { return true }
        }
        writer.abandon()
        await giveWay()
        return false
    }

    /// Whether no invalidation has come since the request was sent, and no later response is stored. Called under the
    /// store's lock.
    private func isWanted(_ generation: CacheGeneration) -> Bool {
        generation == self.generation && flight.mayStore(response.selectingFields)
    }

    private static func isStored(despite error: any Error) -> Bool {
        (error as? CacheStoreError)?.isAfterStoring ?? false
    }

    // A body with another length than announced is incomplete.
    private func check(_ count: Int64) throws {
        if let length, length != count {
            throw CacheStoreError(.incomplete, "The body has \(count) bytes, and Content-Length says \(length).")
        }
    }

    /// Removes the entries that a response would have replaced, because the response isn't stored.
    ///
    /// The server has a newer response, so neither an older entry nor an earlier response in progress may be served after it.
    /// Does nothing if the key was invalidated, or a later response is stored.
    func giveWay() async {
        let variant = response.selectingFields
        // This claims the variant: from now on no earlier response is stored. A later response claims the variant before its
        // entry is visible. If it does so before the check of `isLast`, nothing is removed here. If it does so after the
        // check, its entry is newer than the snapshot, and isn't among the entries found.
        guard flight.mayStore(variant) else { return }
        do {
            let found = try await store.snapshot(of: flight.key)
            guard flight.isLast(variant) else { return }
            // After an invalidation, an entry of the variant may be a newer response.
            let isSameGeneration = found.generation == generation
            let older = found.entries.filter { entry in
                replaced.contains(entry.id)
                    || entry.selectingFields == variant && (isSameGeneration || seen.contains(entry.id))
            }
            if !older.isEmpty { try await store.remove(older.map(\.id), of: flight.key) }
        } catch {
            report(error)
        }
    }
}

/// Stores the body of one response while a caller reads it: either completely or not at all.
///
/// The first of ``finish()``, ``abandon()`` and the deinitializer ends the recording; the others then do nothing.
final class CacheRecording: Sendable {
    private enum State {
        case open
        case over
    }

    private let commit: CacheCommit
    private let writer: any CacheWriter
    private let state = Mutex((state: State.open, count: Int64(0)))

    init(_ commit: CacheCommit, _ writer: any CacheWriter) {
        self.commit = commit
        self.writer = writer
    }

    // A reader that drops the response before its end leaves nothing in the store.
    deinit { abandon() }

    func append(_ chunk: Data) async {
        let isOpen = state.withLock { state in
            state.count += Int64(chunk.count)
            return state.state == .open
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
        let (isOpen, count) = state.withLock { state in
            defer { state.state = .over }
            return (state.state == .open, state.count)
        }
        return isOpen ? await commit.end(writer, after: count) : false
    }

    func abandon() {
        let wasOpen = state.withLock { state in
            defer { state.state = .over }
            return state.state == .open
        }
        if wasOpen { writer.abandon() }
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
