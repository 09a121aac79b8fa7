internal import Synchronization

/// Keeps a store within its limits, including bodies in progress, by evicting the least recently used entries.
///
/// Only the files' sizes and times are used, so memory doesn't grow with the entries. With few entries, all are listed and
/// exactly the least recently used are evicted. With many, some shards at random are a sample of the whole: the same share of
/// the sample is evicted. So a writer waits for a few shards, not for all.
final class DiskRoom: Sendable {
    private struct State {
        var isRunning = false
        /// The number of shards whose amount was unknown at last, because most of them didn't exist.
        var unknown = Int.max
    }

    // With this sample size, the age of the oldest sixteenth is accurate to a few percent.
    private static let sample = 4_096
    // Attempts 100 µs apart: a tenth of a second while another task makes room.
    private static let attempts = 1_000
    let incoming: DiskIncoming
    private let limit: DiskUsage.Amount
    private let stamps: RecentStamps
    private let state = Mutex(State())

    init(limit: DiskUsage.Amount, entryByteLimit: Int64, stamps: RecentStamps) {
        self.limit = limit
        self.stamps = stamps
        incoming = DiskIncoming(byteLimit: limit.bytes, entryByteLimit: entryByteLimit)
    }

    /// Reserves at least `count` bytes for a body in progress, and makes room for them. Returns the bytes reserved.
    func reserve(_ count: Int64, in directory: DiskDirectory) async throws -> Int64 {
        let message = "The bodies in progress take all \(incoming.limit) bytes for them. Raise the store's byteLimit."
        let full = CacheStoreError(.storeFull, message)
        // Near the limit, reserve exactly what is needed.
        var reserved = max(count, incoming.step)
        if !incoming.reserve(reserved, in: directory) {
            reserved = count
            guard incoming.reserve(reserved, in: directory) else { throw full }
        }
        do {
            for _ in 0..<Self.attempts {
                try await makeRoom(in: directory)
                if try Self.fits(total(directory), limit) { return reserved }
                // Another task is making room.
                await DiskDirectory.pause()
            }
            throw full
        } catch {
            incoming.release(reserved)
            throw error
        }
    }

    // A sixteenth below the limit, so that not every new entry causes an eviction.
    private var target: DiskUsage.Amount {
        limit - DiskUsage.Amount(entries: limit.entries / 16, bytes: limit.bytes / 16)
    }

    private static func fits(_ amount: DiskUsage.Amount, _ limit: DiskUsage.Amount) -> Bool {
        amount.entries <= limit.entries && amount.bytes <= limit.bytes
    }

    private func total(_ directory: DiskDirectory) throws -> DiskUsage.Amount {
        try directory.usage.read().reduce(inProgress) { $0 + ($1 ?? DiskUsage.Amount()) }
    }

    /// Counts the shards whose amount has become unknown, for instance because the usage file was replaced by zeros. An unknown
    /// amount must not pass for none.
    private func countUnknownShards(of directory: DiskDirectory) async throws {
        func unknown() throws -> Int { try directory.usage.read().count { $0 == nil } }
        let found = try unknown()
        let isMore = state.withLock { state in
            defer { state.unknown = min(state.unknown, found) }
            return state.unknown != .max && found > state.unknown
        }
        guard isMore else { return }
        try await directory.countUnknownShards()
        let rest = try unknown()
        state.withLock { $0.unknown = rest }
    }

    private var inProgress: DiskUsage.Amount { DiskUsage.Amount(bytes: incoming.bytes) }

    /// Makes room if a limit is exceeded. One task at a time does so; the others return at once.
    func makeRoom(in directory: DiskDirectory) async throws {
        try await countUnknownShards(of: directory)
        guard try !Self.fits(total(directory), limit) else { return }
        // Bodies of other stores may have ended since the last measurement.
        incoming.reserve(0, in: directory)
        guard try !Self.fits(total(directory), limit) else { return }
        let isFirst = state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard isFirst else { return }
        defer { state.withLock { $0.isRunning = false } }
        var (before, failure) = (DiskUsage.Amount(entries: .max, bytes: .max), nil as (any Error)?)
        while case let now = try total(directory), now.entries < before.entries || now.bytes < before.bytes {
            let error = try await evict(in: directory)
            failure = failure ?? error
            if try Self.fits(total(directory), limit) { return }
            before = now
        }
        // An error without a consequence is left to a clear, which meets the same name and reports it.
        if let failure { throw failure }
    }

    /// Evicts the least recently used entries of all shards, or of a sample. Returns the first error.
    private func evict(in directory: DiskDirectory) async throws -> (any Error)? {
        let usage = try directory.usage.read()
        let filled = (0..<DiskUsage.shards).filter { usage[$0] != DiskUsage.Amount() }.map { UInt8($0) }.shuffled()
        var found: [(use: Int64, bytes: Int64, shard: UInt8)] = []
        var sampled: [UInt8] = []
        for shard in filled where found.count < Self.sample {
            sampled.append(shard)
            let path = DiskName.directory(shard)
            guard let files = try unlessMissing(try OpenedFile.openDirectory(path, in: directory.root))
            else { continue }
            for (name, listed) in try LockedShard(shard: shard, files: files, directory: directory).list().entries {
                found.append((stamps.lastUse(name, modified: listed.modified), listed.bytes, shard))
            }
        }
        found.sort { $0.use < $1.use }
        let isWhole = sampled.count == filled.count
        let seen = DiskUsage.Amount(entries: Int64(found.count), bytes: found.reduce(0) { $0 + $1.bytes })
        let total = isWhole ? seen + inProgress : try total(directory)
        // If the listing is within the limits, the counts in the usage file were too high: sweeping every shard corrects them.
        if isWhole, Self.fits(total, limit) { return try await sweep(sampled, upTo: .min, in: directory) }
        // Evicts the same share of the sample as of the whole.
        let share = isWhole ? 1 : Double(seen.entries) / Double(max(1, total.entries))
        var excess = DiskUsage.Amount(
            entries: Int64((Double(total.entries - target.entries) * share).rounded(.up)),
            bytes: Int64((Double(total.bytes - target.bytes) * share).rounded(.up))
        )
        var cutoff = Int64.min
        var touched: Set<UInt8> = []
        for entry in found where excess.entries > 0 || excess.bytes > 0 {
            excess = excess - DiskUsage.Amount(entries: 1, bytes: entry.bytes)
            cutoff = entry.use
            touched.insert(entry.shard)
        }
        return try await sweep(Array(touched), upTo: cutoff, in: directory)
    }

    /// Evicts the entries of some shards that were last used at a time or before. Returns the first error.
    private func sweep(_ shards: [UInt8], upTo cutoff: Int64, in directory: DiskDirectory) async throws -> (any Error)?
    {
        var failure: (any Error)?
        for shard in shards {
            do {
                let swept = try await directory.withShard(shard) { locked in
                    let all = try locked.list()
                    let old = all.entries.filter { stamps.lastUse($0.key, modified: $0.value.modified) <= cutoff }
                    return try locked.sweep(all, removing: Set(old.keys))
                }
                failure = failure ?? swept.failure
            } catch {
                // One name that can't be deleted, or one lock that is held, must not stop the others.
                failure = failure ?? error
            }
            await Task.yield()
        }
        return failure
    }
}
