extension DiskCacheStore {
    /// Removes some entries of a key.
    @concurrent
    public func remove(_ entries: [CacheEntry.ID], of key: CacheKey) async throws {
        let name = DiskName(key)
        // Without a file, there is no need to wait for the lock.
        guard !entries.isEmpty, try await access({ try $0.has(name) }) else { return }
        try await change(key, name) { entries.contains($0.id) }
    }

    /// Removes every entry of a key, and keeps out responses to earlier requests in every store over the directory.
    @concurrent
    public func removeAll(of key: CacheKey) async throws {
        let name = DiskName(key)
        let failure = await access.changeGeneration(of: name.shard)
        // Checks for the shard only after changing the generation. A commit that read the old generation holds the shard's lock
        // until its entry is visible, and acquiring the lock waits for it.
        if try await access({ try $0.hasShard(name.shard) }) { try await change(key, name) { _ in true } }
        if let failure { throw failure }
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
    /// end.
    @concurrent
    public func removeAll(where isRemoved: @Sendable (CacheListing) -> Bool) async throws {
        let failure = await access.changeGeneration()
        try await access.forEachShard(after: failure) { shard in
            let files = try await access.withShard(shard) { try $0.directory.files(of: shard) }
            var failure: (any Error)?
            for file in files {
                do { try await removeVariants(of: DiskName(shard: shard, file: file), isRemoved) } catch {
                    failure = failure ?? error
                }
            }
            await Task.yield()
            if let failure { throw failure }
        }
    }

    private func removeVariants(of name: DiskName, _ isRemoved: (CacheListing) -> Bool) async throws {
        do {
            guard let record = try await access({ try $0.anyRecord(name) }) else { return }
            // The predicate is the user's code, so it runs outside the lock.
            let removed = record.variants.filter { isRemoved($0.listing(record.key)) }.map(\.id)
            try await remove(removed, of: record.key)
        } catch is DiskRecord.Damage {
            // The key of a damaged record is unknown, so the predicate can't decide: it is removed.
            try await access.withShard(name.shard) { try $0.removeDamaged(name) }
        }
    }

    /// Removes every entry. Errors are thrown at the end, as in ``removeAll(where:)``.
    @concurrent
    public func removeAll() async throws {
        let failure = await access.changeGeneration()
        try await access.forEachShard(after: failure) { shard in
            try await access.withShard(shard) { _ = try $0.sweep { _, _ in true } }
        }
    }
}
