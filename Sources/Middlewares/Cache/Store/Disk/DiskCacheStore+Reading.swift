internal import Foundation
internal import InterceptorsCore

extension DiskCacheStore {
    /// Returns the entries of a key, and the generation of its shard. Bodies longer than 64 KiB are read on request.
    @concurrent
    public func snapshot(of key: CacheKey) async throws -> CacheSnapshot {
        let name = DiskName(key)
        if await access.owesRemoval(of: name) {
            return try await access { directory in
                CacheSnapshot(entries: [], generation: try directory.generations.generation(of: name.shard))
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

    private func snapshot(of key: CacheKey, _ name: DiskName, in directory: DiskDirectory) throws -> CacheSnapshot {
        let generation = try directory.generations.generation(of: name.shard)
        let record = try directory.record(name, of: key) { stamps.use(name, modified: $0) }
        return CacheSnapshot(
            entries: record?.variants.map { entry($0, of: key, name, directory) } ?? [],
            generation: generation
        )
    }

    private func entry(
        _ variant: DiskRecord.Variant,
        of key: CacheKey,
        _ name: DiskName,
        _ directory: DiskDirectory
    ) -> CacheEntry {
        let (id, length) = (variant.id, variant.length)
        switch variant.content {
        case .inline:
            return CacheEntry(id: id, response: variant.response, length: length) { range in
                HTTPBody(Self.part(range, of: try variant.body()))
            }
        case .later:
            return CacheEntry(id: id, response: variant.response, length: length) { range in
                HTTPBody(try await Self.reading { Self.part(range, of: try directory.body(id, name, of: key)) })
            }
        case .file:
            return CacheEntry(id: id, response: variant.response, length: length) { range in
                try await Self.reading {
                    let body = try directory.longBody(id, name, length: length)
                    try await body.check(range)
                    return .restartable(length: range.length) { body.chunks(range) }
                }
            } collect: { range in
                try await Self.reading { try await directory.longBody(id, name, length: length).bytes(range) }
            }
        }
    }

    private static func part(_ range: Range<Int64>, of bytes: ArraySlice<UInt8>) -> Data {
        let start = bytes.startIndex + Int(range.lowerBound)
        return Data(bytes[start..<(start + range.count)])
    }

    // Reads files, so never on the caller's actor. Checks the range before returning a body: damage must be a miss, not an
    // error in the middle of a response.
    @concurrent
    private static func reading<Value: Sendable>(_ read: @Sendable () async throws -> Value) async throws -> Value {
        do {
            return try await read()
        } catch is DiskRecord.Damage {
            throw CacheStoreError.damagedBody
        } catch let error as SystemError {
            if error.isOfAnotherKind { throw CacheStoreError.damagedBody }
            throw error.isMissing ? CacheStoreError.gone : error.storeError
        }
    }

    /// Lists the stored responses, in no particular order. Reads every record.
    @concurrent
    public func listing() async throws -> [CacheEntrySummary] {
        var all: [CacheEntrySummary] = []
        for shard in UInt8.min...UInt8.max {
            let files = try await access { try $0.files(of: shard) }
            // On a busy machine each yield waits for all other tasks, and most shards of a small store are empty.
            guard !files.isEmpty else { continue }
            for file in files {
                let name = DiskName(shard: shard, file: file)
                do {
                    let record = access.owed.contains(name) ? nil : try await access { try $0.anyRecord(name) }
                    if let record { all += record.variants.map { $0.summary(of: record.key) } }
                } catch is DiskRecord.Damage {
                    // The next lookup of the key reports and removes it.
                }
            }
            await Task.yield()
        }
        return all
    }
}

extension DiskDirectory {
    fileprivate func longBody(_ id: CacheEntry.ID, _ name: DiskName, length: Int64) throws -> DiskBody {
        let path = DiskName.directory(name.shard) + "/" + name.body(id)
        return try DiskBody(try OpenFile.open(path, in: root), id: id, length: length)
    }
}

extension CacheStoreError {
    static let gone = CacheStoreError(
        .entryGone,
        "A stored body is gone: its entry was replaced, or the file was removed."
    )
    static let damagedBody = CacheStoreError(.entryDamaged, "A stored body was damaged.")
}

extension DiskRecord.Variant {
    func summary(of key: CacheKey) -> CacheEntrySummary {
        CacheEntrySummary(key: key, response: response, length: length)
    }
}
