internal import Foundation
internal import InterceptorsCore

extension DiskCacheStore {
    /// Returns the entries of a key, and the generation of its shard. Bodies longer than 64 KiB are read on request.
    @concurrent
    public func snapshot(of key: CacheKey) async throws -> (entries: [CacheEntry], generation: UInt64) {
        let name = DiskName(key)
        if await access.owesRemoval(of: name) {
            return try await access { directory in
                ([], try directory.generations.generation(of: name.shard))
            }
        }
        do {
            let (found, directory) = try await access(isChecked: false) { (try snapshot(of: key, name, in: $0), $0) }
            // The generation of a removed directory isn't the generation of the directory that replaces it.
            guard found.entries.isEmpty, !directory.isIntact else { return found }
            return try await access { try snapshot(of: key, name, in: $0) }
        } catch is DiskRecord.Damage {
            try await access.withShard(name.shard) { try $0.removeDamaged(name) }
            throw CacheStoreError(.entryDamaged, "A stored response was damaged; it has been removed.")
        }
    }

    private func snapshot(
        of key: CacheKey,
        _ name: DiskName,
        in directory: DiskDirectory
    ) throws -> (entries: [CacheEntry], generation: UInt64) {
        let generation = try directory.generations.generation(of: name.shard)
        guard let found = try DiskDirectory.read(name.path, in: directory.root), found.record.key == key else {
            return ([], generation)
        }
        if let stamp = stamps.use(name, modified: found.modified) { found.file.setModified(stamp) }
        let entries = found.record.variants.map { variant in
            CacheEntry(id: variant.id, response: variant.response, length: variant.length) { range, isCollected in
                variant.isInFile
                    ? try await Self.longBody(of: variant, name, range, isCollected: isCollected, in: directory)
                    : HTTPBody(Data(try variant.body().dropFirst(Int(range.lowerBound)).prefix(range.count)))
            }
        }
        return (entries, generation)
    }

    // Reads files, so never on the caller's actor. Checks the range before returning a stream: damage must be a miss, not an
    // error in the middle of a response.
    @concurrent
    private static func longBody(
        of variant: DiskRecord.Variant,
        _ name: DiskName,
        _ range: Range<Int64>,
        isCollected: Bool,
        in directory: DiskDirectory
    ) async throws -> HTTPBody {
        do {
            let body = try DiskBody(variant.id, of: name, length: variant.length, in: directory.root)
            if isCollected { return HTTPBody(try await body.collected(range)) }
            try await body.check(range)
            return .restartable(length: range.length) { body.chunks(range) }
        } catch {
            throw error.asBodyError
        }
    }

    /// Lists the stored responses, in no particular order. Reads every record.
    @concurrent
    public func listing() async throws -> [CacheEntrySummary] {
        var all: [CacheEntrySummary] = []
        for shard in UInt8.min...UInt8.max {
            let names = try await access { try $0.files(of: shard) }
            // On a busy machine each yield waits for all other tasks, and most shards of a small store are empty.
            guard !names.isEmpty else { continue }
            for name in names where !access.owed.contains(name, in: shard) {
                // The next lookup of the key reports and removes a damaged record.
                do { all += try await access { try $0.summaries(of: name) } } catch is DiskRecord.Damage {}
            }
            await Task.yield()
        }
        return all
    }
}

extension DiskDirectory {
    /// The responses in a record.
    func summaries(of name: DiskName) throws -> [CacheEntrySummary] {
        guard let record = try Self.read(name.path, in: root)?.record else { return [] }
        return record.variants.map { CacheEntrySummary(key: record.key, response: $0.response, length: $0.length) }
    }
}
