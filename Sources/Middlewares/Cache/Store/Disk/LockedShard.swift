internal import Foundation

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Android)
internal import Android
#endif

/// A shard whose lock is held. Only this type creates, replaces and removes the files of entries.
///
/// A change keeps the shard consistent if the process is killed at any moment:
/// 1. raise the usage to the new amount, so that the count is never too low;
/// 2. write the record to `.new`;
/// 3. rename a long body from `incoming` into the shard;
/// 4. rename `.new` over the record, which commits the change: readers, who hold no lock, see the old record or the new one;
/// 5. remove the bodies that the new record no longer names, then lower the usage.
///
/// A kill before step 4 leaves the old record, and at most a body that it doesn't name. A kill after step 4 leaves the new
/// record, and at most old bodies. In both cases the usage is at most too high. The next sweep of the shard removes such
/// bodies and counts again. Nothing is synced to the disk: after a loss of power, checksums find what is missing.
struct LockedShard {
    let shard: UInt8
    let files: OpenFile
    let directory: DiskDirectory

    // The lock's holder is its only writer, so the next holder overwrites a leftover.
    private static let new = ".new"

    /// A complete body, to be renamed from `incoming` into the shard.
    struct Arrival {
        let id: UInt64
        let name: String
    }

    /// Changes the record of a key, in the steps above.
    ///
    /// - Parameter change: changes the variants, and returns whether to write them.
    func change(
        _ name: DiskName,
        of key: CacheKey,
        stamp: Int64,
        arrival: Arrival? = nil,
        _ change: (inout [DiskRecord.Variant]) -> Bool
    ) throws {
        let old = try readOld(name)
        let before = old.record?.key == key ? old.record?.variants ?? [] : []
        var variants = before
        if change(&variants) { try commit(variants, name, key, stamp, arrival, before, old) }
    }

    // Apart from the closure, because the compiler makes a copy of `change` for each of its callers' closures.
    @inline(never)
    private func commit(
        _ variants: [DiskRecord.Variant],
        _ name: DiskName,
        _ key: CacheKey,
        _ stamp: Int64,
        _ arrival: Arrival?,
        _ before: [DiskRecord.Variant],
        _ old: (record: DiskRecord?, amount: DiskUsage.Amount)
    ) throws {
        let gone = (old.record?.variants ?? []).filter { variant in !variants.contains { $0.id == variant.id } }
        let base = try amount()
        guard !variants.isEmpty else {
            return try remove(name, gone, base - old.amount)
        }
        let record = DiskRecord(key: key, variants: variants)
        let size: Int64
        do {
            size = try replace(name, with: record, stamp, arrival, base)
        } catch {
            let isRemoval = variants.allSatisfy { variant in before.contains { $0.id == variant.id } }
            guard isRemoval, variants.count < before.count else { throw error }
            // A full disk must not keep a removal from succeeding: the whole record goes.
            return try remove(name, before, base - old.amount)
        }
        // The record no longer names them: the next sweep removes a file that stays.
        try? removeBodies(of: gone, name)
        try directory.usage.write(base + DiskUsage.Amount(entries: 1, bytes: size) - old.amount, of: shard)
    }

    /// Replaces a record, or leaves everything as it was and throws. Returns the bytes that record and bodies take.
    private func replace(
        _ name: DiskName,
        with record: DiskRecord,
        _ stamp: Int64,
        _ arrival: Arrival?,
        _ base: DiskUsage.Amount
    ) throws -> Int64 {
        let bytes = try record.encoded()
        guard bytes.count <= DiskRecord.limit else {
            throw CacheStoreError(.bodyTooLarge, "The responses of a URL, without their bodies, take more than 8 MiB.")
        }
        let size = amount(of: bytes.count, record.variants)
        try directory.usage.write(base + DiskUsage.Amount(entries: 1, bytes: size), of: shard)
        do {
            try write(bytes, stamp)
            if let arrival { try directory.incoming.rename(arrival.name, to: files, name.body(arrival.id)) }
            try files.rename(Self.new, to: files, name.file)
        } catch {
            try? files.remove(Self.new)
            if let arrival { try? files.remove(name.body(arrival.id)) }
            try? directory.usage.write(base, of: shard)
            throw error
        }
        return size
    }

    private func remove(_ name: DiskName, _ variants: [DiskRecord.Variant], _ rest: DiskUsage.Amount) throws {
        try files.remove(name.file)
        try removeBodies(of: variants, name)
        try directory.usage.write(rest, of: shard)
    }

    // A damaged record counts with its length, and is replaced. An unreadable record may be intact: the error is thrown.
    private func readOld(_ name: DiskName) throws -> (record: DiskRecord?, amount: DiskUsage.Amount) {
        do {
            let file = try OpenFile.open(name.file, in: files, O_RDONLY)
            let size = try file.status().size
            var record: DiskRecord?
            do { record = try DiskDirectory.read(file, isWhole: true).0 } catch is DiskRecord.Damage {}
            return (record, DiskUsage.Amount(entries: 1, bytes: amount(of: Int(size), record?.variants ?? [])))
        } catch let error as SystemError where error.isMissing {
            return (nil, DiskUsage.Amount())
        } catch let error as SystemError where error.isOfAnotherKind {
            return (nil, DiskUsage.Amount(entries: 1, bytes: 0))
        }
    }

    private func removeBodies(of variants: [DiskRecord.Variant], _ name: DiskName) throws {
        for variant in variants { try files.remove(name.body(variant.id)) }
    }

    private func amount(of record: Int, _ variants: [DiskRecord.Variant]) -> Int64 {
        variants.reduce(directory.allocated(Int64(record))) { sum, variant in
            sum + (variant.isInFile ? directory.allocated(DiskBlocks.fileSize(of: variant.length)) : 0)
        }
    }

    private func write(_ bytes: [UInt8], _ stamp: Int64) throws {
        let file = try OpenFile.make(Self.new, in: files)
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        file.setModified(stamp)
    }

    /// Removes a damaged record, unless another process has replaced it meanwhile with an intact one.
    func removeDamaged(_ name: DiskName) throws {
        do {
            _ = try DiskDirectory.read(try OpenFile.open(name.file, in: files, O_RDONLY))
            return
        } catch is DiskRecord.Damage {
        } catch let error as SystemError where error.isOfAnotherKind {
        } catch let error as SystemError where error.isMissing {
            return
        }
        try files.remove(name.file)
        _ = try count()
    }

    /// Counts the entries, and removes orphans as far as possible.
    func count() throws -> DiskUsage.Amount { try sweep { _, _ in false }.amount }

    private func amount() throws -> DiskUsage.Amount {
        if let known = try directory.usage.read()[Int(shard)] { return known }
        return try count()
    }

    /// An entry as its directory lists it.
    struct Listed {
        var modified: Int64
        var bytes: Int64
        var bodies: [String] = []
    }

    /// Lists the entries by file name, and the orphans: bodies without an entry, and anything that isn't a regular file.
    ///
    /// - Throws: if the status of a file can't be read. A file left out of the list would be taken for lost.
    func list() throws(SystemError) -> (entries: [String: Listed], orphans: [String]) {
        var entries: [String: Listed] = [:]
        var bodies: [(name: String, size: Int64)] = []
        var orphans: [String] = []
        for name in try files.names() {
            let (isEntry, isBody) = (name.utf8.count == DiskName.length, name.utf8.count == DiskName.bodyLength)
            guard isEntry || isBody else { continue }
            let found = try unlessMissing { () throws(SystemError) in try files.status(of: name) }
            guard let status = found else { continue }
            if !status.isRegular {
                orphans.append(name)
            } else if isEntry {
                entries[name] = Listed(modified: status.modified, bytes: directory.allocated(status.size))
            } else {
                bodies.append((name, directory.allocated(status.size)))
            }
        }
        for body in bodies {
            let owner = String(body.name.prefix(DiskName.length))
            if entries[owner] == nil {
                orphans.append(body.name)
            } else {
                entries[owner]?.bytes += body.size
                entries[owner]?.bodies.append(body.name)
            }
        }
        return (entries, orphans)
    }

    struct Swept {
        /// The entries that remain.
        var amount = DiskUsage.Amount()
        /// The entries that couldn't be removed.
        var kept: [DiskName] = []
        /// The first error in removing a file.
        var failure: (any Error)?
    }

    /// Removes the entries for which the closure returns `true`, and all orphans, and counts the rest.
    ///
    /// An error in removing one file doesn't stop the sweep.
    func sweep(_ isRemoved: (DiskName, Listed) -> Bool) throws -> Swept {
        let (entries, orphans) = try list()
        let marked = entries.map { file, listed in
            let name = DiskName(shard: shard, file: file)
            return (name, listed, isRemoved: isRemoved(name, listed))
        }
        return try sweep(marked, orphans)
    }

    // Apart from the closure, because the compiler makes a copy of the method above for each of its callers' closures.
    @inline(never)
    private func sweep(_ entries: [(DiskName, Listed, isRemoved: Bool)], _ orphans: [String]) throws -> Swept {
        var orphans = orphans
        var swept = Swept()
        for (name, listed, isRemoved) in entries {
            if isRemoved {
                do {
                    try files.remove(name.file)
                    orphans += listed.bodies
                    continue
                } catch {
                    swept.kept.append(name)
                    swept.failure = swept.failure ?? error
                }
            }
            let strays = listed.bodies.isEmpty ? [] : strays(of: name, listed.bodies)
            orphans += strays
            let lost = strays.reduce(0) { $0 + directory.allocated((try? files.status(of: $1).size) ?? 0) }
            swept.amount = swept.amount + DiskUsage.Amount(entries: 1, bytes: listed.bytes - lost)
        }
        for orphan in orphans {
            do { try files.remove(orphan) } catch { swept.failure = swept.failure ?? error }
        }
        try? files.remove(Self.new)
        try directory.usage.write(swept.amount, of: shard)
        return swept
    }

    // Bodies that the record doesn't name: a process was killed between moving a body here and committing its record, or
    // after replacing the record. If the record can't be read now, every body may belong to it.
    private func strays(of name: DiskName, _ bodies: [String]) -> [String] {
        guard let old = try? readOld(name) else { return [] }
        guard let record = old.record else { return bodies }
        let known = Set(record.variants.map { name.body($0.id) })
        return bodies.filter { !known.contains($0) }
    }
}
