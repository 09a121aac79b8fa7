extension DiskCacheStore {
    /// Removes some entries of a key.
    @concurrent
    public func remove(_ entries: [CacheEntry.ID], of key: CacheKey) async throws {
        guard !entries.isEmpty else { return }
        try await removeAll(of: key) { entries.contains($0.id) }
    }

    /// Removes every entry of a key.
    @concurrent
    public func removeAll(of key: CacheKey) async throws { try await removeAll(of: key) { _ in true } }

    private func removeAll(of key: CacheKey, _ isRemoved: (DiskRecord.Variant) -> Bool) async throws {
        let name = DiskName(key)
        // Without a file there is nothing to wait for.
        guard try await access({ try $0.has(name) }) else { return }
        try await access.withShard(name.shard) { shard in
            try shard.change(name, of: key, stamp: stamps.stamp()) { variants in
                let count = variants.count
                variants.removeAll(where: isRemoved)
                return variants.count < count
            }
        }
    }

    /// Removes what the predicate says, and what is being stored meanwhile. What can't be removed keeps nothing else from being
    /// removed; the first error is thrown at the end.
    @concurrent
    public func removeAll(where isRemoved: @Sendable (CacheListing) -> Bool) async throws {
        // A writer that has looked at it before holds its shard, and is done once that can be had; none comes after.
        clearCount.add(1, ordering: .acquiringAndReleasing)
        try await access.forEachShard { shard in
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
            // The predicate is the user's: it is called outside the lock.
            let removed = record.variants.filter { isRemoved($0.listing(record.key)) }.map(\.id)
            try await remove(removed, of: record.key)
        } catch is DiskRecord.Damage {
            // Whose it was can't be told.
            try await access.withShard(name.shard) { try $0.removeDamaged(name) }
        }
    }

    /// Removes everything, and what is being stored meanwhile, with errors as in ``removeAll(where:)``.
    @concurrent
    public func removeAll() async throws {
        clearCount.add(1, ordering: .acquiringAndReleasing)
        try await access.forEachShard { shard in try await access.withShard(shard) { _ = try $0.sweep { _, _ in true } } }
    }
}
