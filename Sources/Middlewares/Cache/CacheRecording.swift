internal import Foundation
internal import Interceptors
internal import Synchronization

/// A response that is to be stored once its body has ended.
struct CacheDeposit: Sendable {
    let response: CachedResponse
    /// What it takes the place of.
    let replaced: [CacheEntry.ID]
    let flight: CacheFlights.Flight
    let store: any CacheStore
    /// How often that had been cleared when the response was asked for.
    let clearings: Int
    /// What `Content-Length` says.
    let length: Int64?
    let report: @Sendable (any Error) -> Void

    /// Stores a body that is in memory already; says whether it is stored.
    func keep(_ body: Data) async -> Bool {
        guard let recording = await recording(of: Int64(body.count)) else { return false }
        if !body.isEmpty { await recording.append(body) }
        return await recording.finish()
    }

    /// What takes the body as it is read; `nil` if it can't be stored.
    func recording(of length: Int64?) async -> CacheRecording? {
        do {
            let writer = try await store.write(
                response,
                for: flight.key,
                replacing: replaced,
                length: length ?? self.length
            )
            // What is cleared from here on is the store's to heed.
            guard store.clearings == clearings else {
                writer.abandon()
                await giveWay()
                return nil
            }
            return CacheRecording(self, writer)
        } catch {
            report(error)
            await giveWay()
            return nil
        }
    }

    /// Has a body stored that has ended after so many bytes, unless it isn't whole, or not the one to be kept.
    func end(after count: Int64, _ commit: () async throws -> Void) async throws -> Bool {
        try Self.check(count, against: length)
        guard flight.mayStore(response.selectingFields) else { return false }
        do {
            try await commit()
        } catch {
            await removeAll()
            throw error
        }
        // What was made invalid or overtaken between the two must not stay.
        if !flight.isStill(response.selectingFields) { try await store.removeAll(of: flight.key) }
        return true
    }

    /// Throws if a body that has ended after so many bytes isn't whole.
    static func check(_ count: Int64, against length: Int64?) throws {
        if let length, length != count {
            throw CacheStoreError(.incomplete, "The body has \(count) bytes, and Content-Length says \(length).")
        }
    }

    /// Removes what is stored where a response can't be, unless that has been overtaken: no older one must outlive it, nor
    /// must one that began before it be stored.
    func giveWay() async {
        if flight.mayStore(response.selectingFields) { await removeAll() }
    }

    // What it would have replaced need not be what was found when it was asked for: others may have been stored since.
    private func removeAll() async {
        do {
            try await store.removeAll(of: flight.key)
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

    private let deposit: CacheDeposit
    private let writer: any CacheWriter
    private let state = Mutex((state: State.open, count: Int64(0)))

    init(_ deposit: CacheDeposit, _ writer: any CacheWriter) {
        self.deposit = deposit
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
            deposit.report(error)
            await deposit.giveWay()
        }
    }

    /// Ends the body; says whether it is stored.
    @discardableResult
    func finish() async -> Bool {
        let (isOpen, count) = state.withLock { state in
            defer { state.state = .over }
            return (state.state == .open, state.count)
        }
        guard isOpen else { return false }
        do {
            let isStored = try await deposit.end(after: count) { try await writer.commit() }
            if !isStored { writer.abandon() }
            return isStored
        } catch {
            writer.abandon()
            deposit.report(error)
            return false
        }
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
