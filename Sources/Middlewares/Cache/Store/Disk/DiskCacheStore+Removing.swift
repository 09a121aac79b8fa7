extension DiskCacheStore {
    /// Removes some entries of a key.
    @concurrent
    public func remove(_ entries: [CacheEntry.ID], of key: CacheKey) async throws {
        let name = DiskName(key)
        try await owingIfItFails(name) {
            // Without a file, there is no need to wait for the lock.
            guard !entries.isEmpty, try await access({ try $0.exists(name.path) }) else { return }
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
            guard try await access({ try $0.exists(DiskName.directory(name.shard)) }) else { return }
            try await change(key, name) { _ in true }
        }
    }

    /// Removes something from a record. If that fails, the whole record counts as removed, and is owed the removal.
    private func owingIfItFails(_ name: DiskName, _ remove: () async throws -> Void) async throws {
        do {
            try await remove()
        } catch {
            access.owed.insert(name, in: name.shard)
            guard var error = error as? CacheStoreError else { throw error }
            error.isOwed = true
            throw error
        }
    }

    private func change(
        _ key: CacheKey,
        _ name: DiskName,
        removing isRemoved: (DiskRecord.Variant) -> Bool
    ) async throws {
        try await access.withShard(name.shard) { shard in
            let old = try shard.old(name)
            let variants = old.variants(of: key)
            let record = DiskRecord(key: key, variants: variants.filter { !isRemoved($0) })
            guard record.variants.count < variants.count else { return }
            try shard.change(old, name, to: record, stamp: stamps.stamp())
        }
    }

    /// Removes the entries for which the predicate returns `true`, and keeps out responses to earlier requests in every store
    /// over the directory. An error in one entry doesn't stop the others from being removed; the first error is thrown at the
    /// end. An entry that can't be read, and every entry of a part of the store that can't be changed, counts as removed.
    @concurrent
    public func removeAll(where isRemoved: @Sendable (CacheEntrySummary) -> Bool) async throws {
        try await clear { shard in
            var failure: (any Error)?
            for name in try await access.withShard(shard, { try $0.directory.files(of: shard) }) {
                do { try await owingIfItFails(name) { try await removeVariants(of: name, isRemoved) } } catch {
                    failure = failure ?? error
                }
            }
            await Task.yield()
            return failure
        }
    }

    private func removeVariants(of name: DiskName, _ isRemoved: (CacheEntrySummary) -> Bool) async throws {
        do {
            guard let record = try await access({ try DiskDirectory.read(name.path, in: $0.root)?.record }) else {
                return
            }
            // The predicate is the user's code, so it runs outside the lock.
            let removed = record.variants.filter {
                isRemoved(CacheEntrySummary(key: record.key, response: $0.response, length: $0.length))
            }
            try await remove(removed.map(\.id), of: record.key)
        } catch is DiskRecord.Damage {
            // The key of a damaged record is unknown, so the predicate can't decide: it is removed.
            try await access.withShard(name.shard) { try $0.removeDamaged(name) }
        }
    }

    /// Removes every entry. Errors are thrown at the end, as in ``removeAll(where:)``.
    @concurrent
    public func removeAll() async throws {
        var failure: (any Error)?
        do { try await access { try $0.removeOlderLayouts() } } catch { failure = error }
        try await clear(after: failure) { shard in
            try await access.withShard(shard) { locked in
                let listing = try locked.list()
                let swept = try locked.sweep(listing, removing: Set(listing.entries.keys))
                for name in swept.kept { access.owed.insert(name, in: shard) }
                return swept.failure
            }
        }
    }

    /// Changes every generation, and clears each shard that exists. An error in one shard doesn't keep the others from being
    /// cleared: the first error is thrown at the end.
    ///
    /// - Parameters:
    ///   - error: an earlier error.
    ///   - clear: throws if the shard couldn't be cleared. Returns the first error about a single record, which it has noted as
    ///     owed.
    private func clear(after error: (any Error)? = nil, _ clear: (UInt8) async throws -> (any Error)?) async throws {
        var failure = error
        do { try await access.changeGeneration() } catch {
            // Another process doesn't see that responses in progress must not be stored: removes all entries when it works again.
            for shard in UInt8.min...UInt8.max { access.owed.insert(nil, in: shard) }
            failure = failure ?? error
        }
        for shard in UInt8.min...UInt8.max {
            do {
                guard try await access({ try $0.exists(DiskName.directory(shard)) }) else { continue }
                let error = try await clear(shard)
                failure = failure ?? error
            } catch {
                access.owed.insert(nil, in: shard)
                failure = failure ?? error
            }
        }
        if let failure { throw failure.asStoreError }
    }
}
