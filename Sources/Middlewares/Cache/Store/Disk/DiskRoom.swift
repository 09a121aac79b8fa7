internal import Synchronization

/// Keeps a store within its limits, including bodies in progress, by evicting the least recently used entries.
///
/// Only the files' sizes and times are used, so memory doesn't grow with the entries. With few entries, all are listed and
/// exactly the least recently used are evicted. With many, some shards are a sample of the whole: the sample gives the time
/// of last use up to which entries are evicted. Then one shard after another is swept while room is needed, so that a writer
/// waits for the sweep of one shard, not of all.
final class DiskRoom: Sendable {
    private struct Plan {
        var cutoff: Int64
        var shards: [UInt8]
        var isExact: Bool
    }

    private struct State {
        var isRunning = false
        var plan: Plan?
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
        let full = CacheStoreError(
            .storeFull,
            "The bodies in progress take all of the \(incoming.limit) bytes for them. Raise the store's byteLimit."
        )
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
        DiskUsage.Amount(entries: limit.entries - limit.entries / 16, bytes: limit.bytes - limit.bytes / 16)
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
        incoming.measure(directory)
        guard try !Self.fits(total(directory), limit) else { return }
        let isFirst = state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard isFirst else { return }
        defer { state.withLock { $0.isRunning = false } }
        // More than one pass, because an earlier plan may be used up, and the counts it was made from may have been wrong.
        for _ in 0..<3 {
            try await carryOut(state.withLock { $0.plan } ?? plan(directory), in: directory)
            if try Self.fits(total(directory), limit) { return }
        }
    }

    private func carryOut(_ start: Plan, in directory: DiskDirectory) async throws {
        var plan = start
        var failure: (any Error)?
        while let shard = plan.shards.popLast() {
            let cutoff = plan.cutoff
            do {
                let swept = try await directory.withShard(shard) { locked in
                    try locked.sweep { name, listed in stamps.lastUse(name, modified: listed.modified) <= cutoff }
                }
                failure = failure ?? swept.failure
            } catch {
                // One name that can't be deleted, or one lock that is held, must not stop the others.
                failure = failure ?? error
            }
            if try Self.fits(total(directory), plan.isExact ? target : limit) { break }
            await Task.yield()
        }
        // A plan without remaining shards is done. The next task to exceed a limit makes a new plan.
        state.withLock { $0.plan = plan.shards.isEmpty ? nil : plan }
        // An error without a consequence is left to a clear, which meets the same name and reports it.
        if let failure, try !Self.fits(total(directory), limit) { throw failure }
    }

    private func plan(_ directory: DiskDirectory) throws -> Plan {
        let usage = try directory.usage.read()
        let filled = (0..<DiskUsage.shards).filter { usage[$0] != DiskUsage.Amount() }.map { UInt8($0) }.shuffled()
        var found: [(use: Int64, bytes: Int64, shard: UInt8)] = []
        var sampled = 0
        for shard in filled where found.count < Self.sample {
            sampled += 1
            let files = try unlessMissing { () throws(SystemError) in
                try OpenFile.openDirectory(DiskName.directory(shard), in: directory.root)
            }
            guard let files else { continue }
            for (file, listed) in try LockedShard(shard: shard, files: files, directory: directory).list().entries {
                let name = DiskName(shard: shard, file: file)
                found.append((stamps.lastUse(name, modified: listed.modified), listed.bytes, shard))
            }
        }
        found.sort { $0.use < $1.use }
        let isExact = sampled == filled.count
        let seen = DiskUsage.Amount(entries: Int64(found.count), bytes: found.reduce(0) { $0 + $1.bytes })
        let total = isExact ? seen + inProgress : try total(directory)
        // Evicts the same share of the sample as of the whole.
        let share = isExact ? 1 : Double(seen.entries) / Double(max(1, total.entries))
        var excess = DiskUsage.Amount(
            entries: Int64((Double(total.entries - target.entries) * share).rounded(.up)),
            bytes: Int64((Double(total.bytes - target.bytes) * share).rounded(.up))
        )
        var cutoff = Int64.min
        var touched: Set<UInt8> = []
        for entry in found {
            if excess.entries <= 0 && excess.bytes <= 0 { break }
            excess = excess - DiskUsage.Amount(entries: 1, bytes: entry.bytes)
            cutoff = entry.use
            touched.insert(entry.shard)
        }
        // If the listing is within the limits, the counts in the usage file were too high: sweeping every shard corrects them.
        let shards = isExact && Self.fits(total, limit) ? filled : isExact ? Array(touched) : filled
        return Plan(cutoff: cutoff, shards: shards, isExact: isExact)
    }
}
