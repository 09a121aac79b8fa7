internal import Foundation
internal import Interceptors
internal import Synchronization

/// Stores the body of one response while somebody reads it: wholly, or not at all.
final class CacheRecording: Sendable {
    private enum State {
        case open
        case over
    }

    private let writer: any CacheWriter
    private let flight: CacheFlights.Flight
    private let variant: HTTPFields
    private let store: any CacheStore
    private let length: Int64?
    private let report: @Sendable (any Error) -> Void
    private let state = Mutex((state: State.open, count: Int64(0)))

    init(
        _ writer: any CacheWriter,
        flight: CacheFlights.Flight,
        variant: HTTPFields,
        store: any CacheStore,
        length: Int64?,
        report: @escaping @Sendable (any Error) -> Void
    ) {
        self.writer = writer
        self.flight = flight
        self.variant = variant
        self.store = store
        self.length = length
        self.report = report
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
            report(error)
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
            if let length, length != count {
                throw CacheStoreError(.incomplete, "The body has \(count) bytes, and Content-Length says \(length).")
            }
            guard flight.mayStore(variant) else {
                writer.abandon()
                return false
            }
            try await writer.commit()
            // What was made invalid or overtaken between the two must not stay.
            if !flight.isStill(variant) { try await store.removeAll(of: flight.key) }
            return true
        } catch {
            writer.abandon()
            report(error)
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
