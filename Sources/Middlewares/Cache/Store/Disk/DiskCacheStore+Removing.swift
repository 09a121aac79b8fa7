extension DiskCacheStore {
    /// Removes some entries of a key.
    @concurrent
    public func remove(_ entries: [CacheEntry.ID], of key: CacheKey) async throws {
        let name = DiskName(key)
        try await owingIfItFails(name) {
            // Without a file, there is no need to wait for the lock.
            guard !entries.isEmpty, try await access({ try $0.has(name) }) else { return }
            try await change(key, name) { entries.contains($0.id) }
        }
    }

    /// Removes every entry of a key, and keeps out responses to earlier requests in every store over the directory.
    @concurrent
    public func removeAll(of key: CacheKey) async throws {
        let name = DiskName(key)
        try await owingIfItFails(name) {
            try await access.changeGeneration(of: name.shard)
            // Checks for the shard only after changing the generation. A commit that read the old generation holds the shard's
            // lock until its entry is visible, and acquiring the lock waits for it.
            guard try await access({ try $0.hasShard(name.shard) }) else { return }
            try await change(key, name) { _ in true }
        }
    }

    /// Removes something from a record. If that fails, the whole record counts as removed, and is owed the removal.
    private func owingIfItFails(_ name: DiskName, _ remove: () async throws -> Void) async throws {
        do {
            try await remove()
        } catch {
            access.owed.insert(name)
            throw error.markedAsOwed
        }
    }

    private func change(
        _ key: CacheKey,
        _ name: DiskName,
        removing isRemoved: (DiskRecord.Variant) -> Bool
    ) async throws {
        try await access.withShard(name.shard) { shard in
            try shard.change(name, of: key, stamp: stamps.stamp()) { variants in
                let count = variants.count
                variants.removeAll(where: isRemoved)
                return variants.count < count
            }
        }
    }

    /// Removes the entries for which the predicate returns `true`, and keeps out responses to earlier requests in every store
    /// over the directory. An error in one entry doesn't stop the others from being removed; the first error is thrown at the
    /// end. An entry that can't be read, and every entry of a part of the store that can't be changed, counts as removed.
    @concurrent
    public func removeAll(where isRemoved: @Sendable (CacheEntrySummary) -> Bool) async throws {
        try await access.forEachShard(after: await changeEveryGeneration()) { shard in
            let files = try await access.withShard(shard) { try $0.directory.files(of: shard) }
            var failure: (any Error)?
            for file in files {
                let name = DiskName(shard: shard, file: file)
                do { try await owingIfItFails(name) { try await removeVariants(of: name, isRemoved) } } catch {
                    failure = failure ?? error
                }
            }
            await Task.yield()
            return failure
        }
    }

    // If another process doesn't see that responses in progress must not be stored, all entries are removed when it works again.
    private func changeEveryGeneration() async -> (any Error)? {
        do {
            try await access.changeGeneration()
            return nil
        } catch {
            for shard in UInt8.min...UInt8.max { access.owed.insert(shard: shard) }
            return error
        }
    }

    private func removeVariants(of name: DiskName, _ isRemoved: (CacheEntrySummary) -> Bool) async throws {
        do {
            guard let record = try await access({ try $0.anyRecord(name) }) else { return }
            // The predicate is the user's code, so it runs outside the lock.
            let removed = record.variants.filter { isRemoved($0.summary(of: record.key)) }.map(\.id)
            try await remove(removed, of: record.key)
        } catch is DiskRecord.Damage {
            // The key of a damaged record is unknown, so the predicate can't decide: it is removed.
            try await access.withShard(name.shard) { try $0.removeDamaged(name) }
        }
    }

    /// Removes every entry. Errors are thrown at the end, as in ``removeAll(where:)``.
    @concurrent
    public func removeAll() async throws {
        let older = await removeOlderLayouts()
        try await access.forEachShard(after: await changeEveryGeneration()) { shard in
            try await access.withShard(shard) { locked in
                let swept = try locked.sweep { _, _ in true }
                for name in swept.kept { access.owed.insert(name) }
                return swept.failure
            }
        }
        if let older { throw older }
    }

    private func removeOlderLayouts() async -> (any Error)? {
        do {
            try await access { try $0.removeOlderLayouts() }
            return nil
        } catch {
            return error
        }
    }
}
