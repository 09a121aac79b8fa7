internal import Foundation
internal import Interceptors

extension DiskCacheStore {
    /// Returns the entries of a key, and the generation of its shard. Bodies longer than 64 KiB are read on request.
    @concurrent
    public func snapshot(of key: CacheKey) async throws -> CacheSnapshot {
        let name = DiskName(key)
        do {
            let (found, directory) = try await access(isChecked: false) { (try snapshot(of: key, name, in: $0), $0) }
            // The generation of a removed directory isn't the generation of the directory that replaces it.
            guard found.entries.isEmpty, directory.isGone else { return found }
            return try await access { try snapshot(of: key, name, in: $0) }
        } catch is DiskRecord.Damage {
            try await access.withShard(name.shard) { try $0.removeDamaged(name) }
            throw CacheStoreError(.damaged, "A stored response was damaged; it has been removed.")
        }
    }

    private func snapshot(of key: CacheKey, _ name: DiskName, in directory: DiskDirectory) throws -> CacheSnapshot {
        let generation = try access.generation(of: name.shard, in: directory)
        let record = try directory.record(name, of: key) { stamps.use(name, modified: $0) }
        return CacheSnapshot(
            entries: record?.variants.map { entry($0, name, directory) } ?? [],
            generation: generation
        )
    }

    private func entry(_ variant: DiskRecord.Variant, _ name: DiskName, _ directory: DiskDirectory) -> CacheEntry {
        let (id, length) = (variant.id, variant.length)
        switch variant.content {
        case .inline:
            return CacheEntry(id: id, packed: variant.packed, length: length) { range in
                HTTPBody(try Self.bytes(range, of: variant))
            }
        case .later:
            return CacheEntry(id: id, packed: variant.packed, length: length) { range in
                HTTPBody(try await Self.bytesFromDisk(range, of: variant))
            }
        case .file:
            return CacheEntry(id: id, packed: variant.packed, length: length) { range in
                try await Self.reading(id, length, name, directory) { body in
                    try await body.check(range)
                    return .restartable(length: Int64(range.count)) { body.chunks(range) }
                }
            } collect: { range in
                try await Self.reading(id, length, name, directory) { try await $0.bytes(range) }
            }
        }
    }

    private static func bytes(_ range: Range<Int64>, of variant: DiskRecord.Variant) throws -> Data {
        let bytes = try variant.body()
        let start = bytes.startIndex + Int(range.lowerBound)
        return Data(bytes[start..<(start + range.count)])
    }

    // Reads the record's file, so never on the caller's actor.
    @concurrent
    private static func bytesFromDisk(_ range: Range<Int64>, of variant: DiskRecord.Variant) async throws -> Data {
        try bytes(range, of: variant)
    }

    // Checks the range before returning a body: damage must be a miss, not an error in the middle of a response.
    @concurrent
    private static func reading<Value: Sendable>(
        _ id: UInt64,
        _ length: Int64,
        _ name: DiskName,
        _ directory: DiskDirectory,
        _ read: @Sendable (DiskBody) async throws -> Value
    ) async throws -> Value {
        do {
            let path = DiskName.directory(name.shard) + "/" + name.body(id)
            return try await read(try DiskBody(try OpenFile.open(path, in: directory.root), id: id, length: length))
        } catch is DiskRecord.Damage {
            throw CacheStoreError(.damaged, "A stored body was damaged.")
        } catch let error as SystemError {
            if error.isOfAnotherKind { throw CacheStoreError(.damaged, "A stored body was damaged.") }
            guard error.isMissing else { throw error.storeError }
            throw CacheStoreError(.gone, "A stored body is gone: its entry was replaced, or the file was removed.")
        }
    }

    /// Lists the stored responses, in no particular order. Reads every record.
    @concurrent
    public func listing() async throws -> [CacheListing] {
        var all: [CacheListing] = []
        for shard in UInt8.min...UInt8.max {
            for file in try await access({ try $0.files(of: shard) }) {
                do {
                    let record = try await access { try $0.anyRecord(DiskName(shard: shard, file: file)) }
                    if let record { all += record.variants.map { $0.listing(record.key) } }
                } catch is DiskRecord.Damage {
                    // The next lookup of the key reports and removes it.
                }
            }
            await Task.yield()
        }
        return all
    }
}

extension DiskRecord.Variant {
    func listing(_ key: CacheKey) -> CacheListing { CacheListing(key: key, response: response, length: length) }
}
