internal import Foundation
internal import InterceptorsCore

/// A response in progress, to be stored once its body has ended: the protocol that keeps old responses out of the store.
///
/// ```
///            invalidated or cleared: the generation has changed ─────────────┐
///                                                                           ▼
/// requested ──▶ arrived ──▶ ended ──▶ claimed ──▶ committed          refused, gives way
///                             │          │                                  ▲
///                             │          └─ the store fails ────────────────┤
///                             └─ a later response has claimed the variant ──┘
/// ```
/// Each state holds something against which a later step is checked:
/// - *requested*: the key's generation, read with its entries (``CacheStore/snapshot(of:)``), and a ticket (``CacheArrivals``).
/// - *arrived*: the head is here. The ticket takes the next arrival number of the key.
/// - *ended*: the body is complete and written, but invisible. A body that broke off, or has another length than announced, is
///   abandoned before.
/// - *claimed*: the store holds its lock and calls ``isWanted(_:)``. The generation is still the one that was read, no cache of
///   this process has invalidated the key (``CacheArrivals/invalidate(_:)``), and no response with a higher number has claimed the variant.
///   From now on no response with a lower number is stored.
/// - *committed*: the store makes the entry visible, before it releases its lock.
/// - *refused*: nothing is stored. The entries that the response would have replaced are removed, because the server has a newer
///   response: see ``giveWay()``.
///
/// Why neither an invalidation nor a clear needs to undo anything: ``CacheStore`` says it, with the three steps of a store. The
/// ticket's own generation covers a store that fails to change its own.
///
/// How a store keeps these promises: ``GenerationTable`` in memory, ``DiskGenerations`` on disk. What becomes of a removal that
/// fails: ``OwedRemovals``. The arrival numbers are for the caches of one process: of the responses of
/// two processes, the last to end stays.
struct CacheCommit: Sendable {
    let response: CachedResponse
    /// The IDs of the entries that it replaces, besides those of its variant.
    let replaced: [CacheEntry.ID]
    /// The IDs of all entries that the request found. IDs only, because a stream's commit would keep their bodies in memory.
    let seen: [CacheEntry]
    let ticket: CacheArrivals.Ticket
    let store: any CacheStore
    /// The key's generation when the request was sent.
    let generation: UInt64
    let report: @Sendable (any Error) -> Void

    /// The announced length of the body.
    private var length: Int64? { response.headers[.contentLength].flatMap { Int64($0) } }

    /// Stores a body that is in memory. Returns whether it is stored.
    func store(_ body: Data) async -> Bool {
        await end(after: Int64(body.count)) {
            try await store.store(body, of: response, for: ticket.key, replacing: replaced) { isWanted($0) }
        }
    }

    /// A recording that stores the body while it is read; `nil` if the body can't be stored.
    func recording(of length: Int64?) async -> CacheRecording? {
        do {
            // Saves writing a body whose commit is already certain to be refused.
            guard try await store.snapshot(of: ticket.key).generation == generation else {
                await giveWay()
                return nil
            }
            let length = length ?? self.length
            let writer = try await store.write(response, for: ticket.key, replacing: replaced, length: length)
            return CacheRecording(self, writer)
        } catch {
            report(error)
            await giveWay()
            return nil
        }
    }

    /// Commits a body of `count` bytes. Returns whether it is stored.
    func end(_ writer: any CacheWriter, after count: Int64) async -> Bool {
        let isStored = await end(after: count) { try await writer.commit { isWanted($0) } }
        if !isStored { writer.abandon() }
        return isStored
    }

    private func end(after count: Int64, _ commit: () async throws -> Bool) async -> Bool {
        // A body with another length than announced is incomplete.
        if let length, length != count {
            let message = "The body has \(count) bytes, and Content-Length says \(length). The response isn't stored."
            report(CacheStoreError(.bodyLengthMismatch, message))
            return false
        }
        do {
            if try await commit() { return true }
        } catch {
            report(error)
            if (error as? CacheStoreError)?.isAfterStoring ?? false { return true }
        }
        await giveWay()
        return false
    }

    /// Whether no invalidation has come since the request was sent, and no later response is stored. Called under the
    /// store's lock.
    private func isWanted(_ generation: UInt64) -> Bool {
        generation == self.generation && ticket.mayStore(response.selectingFields)
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
        guard ticket.mayStore(variant) else { return }
        do {
            let found = try await store.snapshot(of: ticket.key)
            guard ticket.isLast(variant) else { return }
            // After an invalidation, an entry of the variant may be a newer response.
            let isSameGeneration = found.generation == generation
            let older = found.entries.filter { entry in
                replaced.contains(entry.id)
                    || entry.response.selectingFields == variant
                        && (isSameGeneration || seen.contains { $0.id == entry.id })
            }
            if !older.isEmpty { try await store.remove(older.map(\.id), of: ticket.key) }
        } catch {
            if !error.isOwed { ticket.oweRemoval() }
            report(error)
        }
    }
}
