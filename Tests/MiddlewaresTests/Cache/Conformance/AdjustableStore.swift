import Foundation
import Interceptors
import Synchronization

/// A store in memory with one fault. Most faults have the name of the rule that finds them.
actor AdjustableStore: CacheStore {
    enum Fault: String, CaseIterable, Sendable {
        // Storing
        case committedEntryIsReturnedAsItWasWritten, nothingIsSeenBeforeTheCommit
        case abandonedBodyLeavesNothing, abandonAfterTheCommitDoesNothing, commitAsksOnceWithTheGenerationOfTheKey
        case bodyThatIsTooLargeDoesNoHarm, anOpenWriterBlocksNobody
        // Reading
        case bodyOfAnyLengthIsReturnedInWholeAndInParts, listingNamesEveryEntry, digestKeyStaysTheSame
        case orderOfArrivalsStaysTheSame
        case variantsAreKeptSideBySide, partitionsAreApart, readerThatHasBegunGetsTheWholeOldBody
        case entryFoundEarlierIsNeverAnotherBody
        // Replacing
        case entryWithTheSameSelectingFieldsIsReplaced, namedEntriesAreReplaced, entriesAreReplacedOnlyByACommit
        case updateChangesTheResponseAndKeepsTheBody, updateOfAReplacedEntryChangesNothing
        // Removing
        case removeTakesTheNamedEntriesAndKeepsTheGeneration, invalidationRemovesTheKeysEntriesAndChangesItsGeneration
        case clearingRemovesWhatThePredicateNamesAndChangesEveryGeneration
        case clearingRemovesEverythingAndChangesEveryGeneration, responseRequestedBeforeAnInvalidationIsNotStoredAfterIt
        case responseRequestedBeforeAClearIsNotStoredAfterIt
        // Concurrency
        case concurrentWritersOfAKeyLeaveOneWholeEntry, commitAndInvalidationExcludeEachOther
        case writeThatHasReturnedIsSeenByEveryLaterLookup, replacingIsSeenAsOneStep,
            updateAndReplacementExcludeEachOther
        case bodiesOfWritersAtTheSameTimeStayApart

        /// The rule that finds the fault.
        var rule: String {
            switch self {
            case .responseRequestedBeforeAnInvalidationIsNotStoredAfterIt,
                .responseRequestedBeforeAClearIsNotStoredAfterIt:
                "responseRequestedBeforeARemovalIsNotStoredAfterIt"
            default: rawValue
            }
        }
    }

    struct Stored: Sendable {
        let id: CacheEntry.ID
        var response: CachedResponse
        var body: Data
    }

    let fault: Fault?
    private nonisolated let order = CacheArrivals()
    nonisolated var arrivals: CacheArrivals { fault == .orderOfArrivalsStaysTheSame ? CacheArrivals() : order }
    private var stored: [CacheKey: [Stored]] = [:]
    private var lastID: CacheEntry.ID = 0
    private var generation: UInt64 = 0
    private var clears: UInt64 = 0
    private var pending: [CacheEntrySummary] = []
    private var openWriters = 0
    private var commits: Set<CacheKey> = []
    /// Bodies that writers share, in some faults.
    private var shared: [CacheKey?: Data] = [:]
    nonisolated let abandoned = Mutex<Set<CacheKey>>([])

    init(_ fault: Fault?) { self.fault = fault }

    func snapshot(of key: CacheKey) async -> (entries: [CacheEntry], generation: UInt64) {
        if fault == .anOpenWriterBlocksNobody, openWriters > 0, key.url.hasSuffix("/open") {
            for await _ in AsyncStream(Int.self, { _ in }) {}
        }
        if fault == .abandonAfterTheCommitDoesNothing, abandoned.withLock({ $0.contains(key) }) {
            return ([], generation)
        }
        var found = stored[key] ?? []
        if fault == .variantsAreKeptSideBySide { found = Array(found.prefix(2)) }
        let entries = found.map { stored in
            CacheEntry(id: stored.id, response: stored.response, length: Int64(stored.body.count)) { range in
                try await self.body(of: stored, range, key)
            }
        }
        return (entries, generation)
    }

    private func body(of old: Stored, _ range: Range<Int64>, _ key: CacheKey) throws -> HTTPBody {
        let current = stored[key]?.first
        var bytes = old.body
        if fault == .entryFoundEarlierIsNeverAnotherBody, bytes.count == 100_000 { bytes = current?.body ?? bytes }
        if fault == .readerThatHasBegunGetsTheWholeOldBody, bytes.count == 200_000 {
            guard current?.id == old.id else { throw CacheStoreError(.entryGone, "The entry is gone.") }
            return lateBody(of: bytes, key)
        }
        var lower = Int(range.lowerBound)
        if fault == .bodyOfAnyLengthIsReturnedInWholeAndInParts, lower == 65_535 { lower -= 1 }
        return HTTPBody(bytes.dropFirst(lower).prefix(range.count))
    }

    /// A body whose second half is read from the store's current entry.
    private func lateBody(of bytes: Data, _ key: CacheKey) -> HTTPBody {
        let half = bytes.count / 2
        let next = LateStep()
        return .oneShot(
            AsyncThrowingStream<Data, any Error> {
                switch next.take() {
                case 0: bytes.prefix(half)
                case 1: await self.firstBody(of: key).dropFirst(half)
                default: nil
                }
            },
            length: nil
        )
    }

    private func firstBody(of key: CacheKey) -> Data { stored[key]?.first?.body ?? Data() }

    func write(
        _ response: CachedResponse,
        for key: CacheKey,
        replacing entries: [CacheEntry.ID],
        length: Int64?
    ) -> any CacheWriter {
        switch fault {
        case .bodyThatIsTooLargeDoesNoHarm where (length ?? 0) > 1 << 40: stored = [:]
        case .entriesAreReplacedOnlyByACommit: stored[key]?.removeAll { entries.contains($0.id) }
        case .nothingIsSeenBeforeTheCommit:
            pending.append(CacheEntrySummary(key: key, response: response, length: length ?? 0))
        default: break
        }
        openWriters += 1
        let draft = Draft(response: response, key: key, replacing: entries, generation: generation, clears: clears)
        return AdjustableWriter(store: self, draft: draft)
    }
}

extension AdjustableStore {
    struct Draft: Sendable {
        var response: CachedResponse
        let key: CacheKey
        let replacing: [CacheEntry.ID]
        let generation: UInt64
        let clears: UInt64
    }

    /// Some faults collect chunks in the store. Returns whether the store took the chunk; if not, the writer keeps it.
    func collect(_ chunk: Data, _ key: CacheKey) -> Bool {
        switch fault {
        case .concurrentWritersOfAKeyLeaveOneWholeEntry where chunk.count > 10_000:
            shared[key, default: Data()] += chunk
        case .bodiesOfWritersAtTheSameTimeStayApart where chunk.count == 1_000: shared[nil, default: Data()] += chunk
        default: return false
        }
        return true
    }

    func insert(_ body: Data, _ draft: Draft, if isWanted: @Sendable (UInt64) -> Bool) async -> Bool {
        openWriters -= 1
        pending = []
        var body = body
        if let other = shared.removeValue(forKey: fault == .bodiesOfWritersAtTheSameTimeStayApart ? nil : draft.key) {
            body = other
        }
        if fault == .writeThatHasReturnedIsSeenByEveryLaterLookup {
            // Joins a commit of the key that is in progress.
            guard commits.insert(draft.key).inserted else { return true }
            await Task.yield()
            commits.remove(draft.key)
        }
        var current = generation
        switch fault {
        case .responseRequestedBeforeAnInvalidationIsNotStoredAfterIt where body.isEmpty: current = draft.generation
        case .responseRequestedBeforeAClearIsNotStoredAfterIt where body.count == 4: current = draft.generation
        case .commitAsksOnceWithTheGenerationOfTheKey: _ = isWanted(current)
        default: break
        }
        guard isWanted(current) else { return false }
        if fault == .commitAndInvalidationExcludeEachOther { await Task.yield() }
        await add(body, draft)
        return true
    }

    private func add(_ body: Data, _ draft: Draft) async {
        lastID += 1
        let id = lastID
        var response = draft.response
        if fault == .committedEntryIsReturnedAsItWasWritten, let cookie = response.headers[.setCookie] {
            response.headers[.setCookie] = cookie
        }
        removeReplaced(draft)
        if fault == .replacingIsSeenAsOneStep, response.headers.contains("X-Version") {
            await Task.yield()
            removeReplaced(draft)
        }
        stored[draft.key, default: []].append(Stored(id: id, response: response, body: body))
    }

    private func removeReplaced(_ draft: Draft) {
        let named = fault == .namedEntriesAreReplaced && draft.replacing.count > 1 ? [] : draft.replacing
        let selecting = draft.response.selectingFields
        let isKept = fault == .entryWithTheSameSelectingFieldsIsReplaced && selecting[.accept] == "y"
        stored[draft.key]?.removeAll {
            named.contains($0.id) || !isKept && $0.response.selectingFields == selecting
        }
    }

    func update(_ entry: CacheEntry.ID, of key: CacheKey, to response: CachedResponse) async {
        var entry = entry
        if fault == .updateOfAReplacedEntryChangesNothing, response.headers.isEmpty {
            entry = stored[key]?.first?.id ?? entry
        }
        guard let index = stored[key]?.firstIndex(where: { $0.id == entry }) else { return }
        if fault == .updateAndReplacementExcludeEachOther {
            await Task.yield()
            guard stored[key]?.indices.contains(index) == true else { return }
        }
        stored[key]?[index].response = response
        if fault == .updateChangesTheResponseAndKeepsTheBody { stored[key]?[index].body = Data() }
    }

    func remove(_ entries: [CacheEntry.ID], of key: CacheKey) {
        if fault == .removeTakesTheNamedEntriesAndKeepsTheGeneration { generation += 1 }
        stored[key]?.removeAll { entries.contains($0.id) }
    }

    func removeAll(of key: CacheKey) {
        if fault == .invalidationRemovesTheKeysEntriesAndChangesItsGeneration {
            generation ^= 1
        } else {
            generation += 1
        }
        stored[key] = nil
        guard fault == .partitionsAreApart else { return }
        for other in stored.keys where other.url == key.url { stored[other] = nil }
    }

    func removeAll(where isRemoved: @Sendable (CacheEntrySummary) -> Bool) {
        generation += 1
        let removesAll = fault == .clearingRemovesWhatThePredicateNamesAndChangesEveryGeneration
        for key in stored.keys {
            stored[key]?.removeAll {
                let summary = CacheEntrySummary(key: key, response: $0.response, length: Int64($0.body.count))
                return isRemoved(summary) || removesAll
            }
        }
    }

    func removeAll() {
        stored = [:]
        if fault != .clearingRemovesEverythingAndChangesEveryGeneration { generation += 1 }
    }

    func listing() -> [CacheEntrySummary] {
        let all = stored.flatMap { key, all in
            all.map { CacheEntrySummary(key: key, response: $0.response, length: Int64($0.body.count)) }
        }
        return (fault == .listingNamesEveryEntry ? all.filter { $0.key.partition.isEmpty } : all) + pending
    }

    private func nextByte() -> UInt8 {
        lastID += 1
        return UInt8(truncatingIfNeeded: lastID)
    }

    func digestKey() -> Data {
        Data(repeating: fault == .digestKeyStaysTheSame ? nextByte() : 7, count: 32)
    }
}

private final class LateStep: Sendable {
    private let step = Mutex(0)

    func take() -> Int {
        step.withLock { step in
            defer { step += 1 }
            return step
        }
    }
}

private final class AdjustableWriter: CacheWriter {
    private struct State {
        var body: Data? = Data()
        var isCommitted = false
    }

    private let store: AdjustableStore
    private let draft: AdjustableStore.Draft
    private let state = Mutex(State())

    init(store: AdjustableStore, draft: AdjustableStore.Draft) {
        self.store = store
        self.draft = draft
    }

    func append(_ chunk: Data) async {
        if await store.collect(chunk, draft.key) { return }
        state.withLock { $0.body?.append(chunk) }
    }

    func commit(if isWanted: @Sendable (UInt64) -> Bool) async -> Bool {
        guard let body = state.withLock({ $0.body.take() }) else { return false }
        state.withLock { $0.isCommitted = true }
        return await store.insert(body, draft, if: isWanted)
    }

    func abandon() {
        if store.fault == .abandonedBodyLeavesNothing { return }
        let isCommitted = state.withLock { state in
            state.body = nil
            return state.isCommitted
        }
        if isCommitted { store.abandoned.withLock { _ = $0.insert(draft.key) } }
    }
}
