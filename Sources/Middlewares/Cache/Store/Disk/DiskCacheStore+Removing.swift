extension DiskCacheStore {
    /// Removes some entries of a key.
    @concurrent
    public func remove(_ entries: [CacheEntry.ID], of key: CacheKey) async throws {
        let name = DiskName(key)
        // Without a file there is nothing to wait for.
        guard !entries.isEmpty, try await access({ try $0.has(name) }) else { return }
        try await change(key, name) { entries.contains($0.id) }
    }

    /// Removes every entry of a key, and keeps out responses that were requested before, by whatever store of the directory.
    @concurrent
    public func removeAll(of key: CacheKey) async throws {
        let name = DiskName(key)
        let failure = await access.changeGeneration(of: name.shard)
        // Whether there is an entry shows once nobody holds the shard who found the generation unchanged.
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

    /// Removes what the predicate picks, and keeps out responses that were requested before, by whatever store of the
    /// directory. What can't be removed keeps nothing else from being removed; the first error is thrown at the end.
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
            // The predicate is the user's: it is called outside the lock.
            let removed = record.variants.filter { isRemoved($0.listing(record.key)) }.map(\.id)
            try await remove(removed, of: record.key)
        } catch is DiskRecord.Damage {
            // Whose it was can't be told.
            try await access.withShard(name.shard) { try $0.removeDamaged(name) }
        }
    }

    /// Removes everything, with errors as in ``removeAll(where:)``.
    @concurrent
    public func removeAll() async throws {
        let failure = await access.changeGeneration()
        try await access.forEachShard(after: failure) { shard in
            try await access.withShard(shard) { _ = try $0.sweep { _, _ in true } }
        }
    }
}
