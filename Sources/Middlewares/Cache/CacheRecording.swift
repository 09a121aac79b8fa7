internal import Foundation
internal import Interceptors
internal import Synchronization

/// A response that is to be stored once its body has ended.
///
/// The store asks ``isWanted(_:)`` under its own lock, at the moment of storing. Nothing that happens before or after has to be
/// undone: an invalidation either finds the entry and removes it, or has changed the generation by then.
struct CacheCommit: Sendable {
    let response: CachedResponse
    /// The entries that it replaces besides those of its variant.
    let replaced: [CacheEntry.ID]
    let flight: CacheFlights.Flight
    let store: any CacheStore
    /// The generation of the key when the response was asked for.
    let generation: CacheGeneration
    /// What `Content-Length` says.
    let length: Int64?
    let report: @Sendable (any Error) -> Void

    /// Stores a body that is in memory already; says whether it is stored.
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
        }
        await giveWay()
        return false
    }

    /// What takes the body as it is read; `nil` if it can't be stored.
    func recording(of length: Int64?) async -> CacheRecording? {
        do {
            // A body that is known to be refused needn't be written.
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

    /// Stores a body that a writer has got, after so many bytes; says whether it is stored.
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
        }
        writer.abandon()
        await giveWay()
        return false
    }

    /// Whether nothing has made the response invalid since it was asked for, nor is a later one stored.
    private func isWanted(_ generation: CacheGeneration) -> Bool {
        generation == self.generation && flight.mayStore(response.selectingFields)
    }

    // A body that ended elsewhere than announced isn't whole.
    private func check(_ count: Int64) throws {
        if let length, length != count {
            throw CacheStoreError(.incomplete, "The body has \(count) bytes, and Content-Length says \(length).")
        }
    }

    /// Removes what a response that isn't stored would have replaced: the older must not outlive it, nor may a response that
    /// began before it be stored. Does nothing if the key was invalidated, or a later response is stored.
    func giveWay() async {
        let variant = response.selectingFields
        // From here on no earlier response is stored; a later one is left alone, since its entry is not among those found.
        guard flight.mayStore(variant) else { return }
        do {
            let found = try await store.snapshot(of: flight.key).entries
            guard flight.isLast(variant) else { return }
            let older = found.filter { replaced.contains($0.id) || $0.selectingFields == variant }
            if !older.isEmpty { try await store.remove(older.map(\.id), of: flight.key) }
        } catch {
            report(error)
        }
    }
}

/// Stores the body of one response while somebody reads it: wholly, or not at all.
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

    // A reader that goes away leaves nothing behind.
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

    /// Ends the body; says whether it is stored.
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

/// A body that is stored as it is read.
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
                    // A stream that is cut short by a cancellation may end as if it were complete.
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
