internal import Foundation

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
    let files: OpenedFile
    let directory: DiskDirectory

    // The lock's holder is its only writer, so the next holder overwrites a leftover.
    private static let new = ".new"

    /// The record that a change replaces.
    struct Old {
        /// `nil` if the shard has no such record, or if the record is damaged.
        var record: DiskRecord?
        /// A damaged record counts with its length.
        var amount = DiskUsage.Amount()

        /// The responses of a key, unless another key with the same hash has the record.
        func variants(of key: CacheKey) -> [DiskRecord.Variant] { record?.key == key ? record?.variants ?? [] : [] }
    }

    /// Reads the record of a name, to change it. An unreadable record may be intact: the error is thrown.
    func old(_ name: DiskName) throws -> Old {
        guard let status = try unlessMissing(try files.status(of: name.file)) else { return Old() }
        var record: DiskRecord?
        do { record = try DiskDirectory.read(name.file, in: files)?.record } catch is DiskRecord.Damage {}
        let bytes = amount(of: status.isRegular ? status.size : 0, record?.variants ?? [])
        return Old(record: record, amount: DiskUsage.Amount(entries: 1, bytes: bytes))
    }

    /// Replaces the variants of a key, in the steps above.
    ///
    /// - Parameters:
    ///   - old: the record that was read under this lock.
    ///   - arrival: the name of a file in `incoming` with the body of the last variant.
    func change(_ old: Old, _ name: DiskName, to record: DiskRecord, stamp: Int64, arrival: String? = nil) throws {
        let gone = (old.record?.variants ?? []).filter { variant in !record.variants.contains { $0.id == variant.id } }
        let base = try amount()
        guard !record.variants.isEmpty else { return try remove(name, gone, base - old.amount) }
        let size: Int64
        do {
            size = try replace(name, with: record, stamp, arrival, base)
        } catch {
            let before = old.variants(of: record.key)
            let isRemoval = record.variants.allSatisfy { variant in before.contains { $0.id == variant.id } }
            guard isRemoval, record.variants.count < before.count else { throw error }
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
        _ arrival: String?,
        _ base: DiskUsage.Amount
    ) throws -> Int64 {
        let bytes = record.encoded()
        guard bytes.count <= DiskRecord.limit else {
            throw CacheStoreError(.bodyTooLarge, "The responses of a URL, without their bodies, take more than 8 MiB.")
        }
        let size = amount(of: Int64(bytes.count), record.variants)
        let body = record.variants.last.map { name.body($0.id) } ?? ""
        try directory.usage.write(base + DiskUsage.Amount(entries: 1, bytes: size), of: shard)
        do {
            let file = try OpenedFile.make(Self.new, in: files)
            try file.write(bytes, at: 0)
            file.setModified(stamp)
            if let arrival { try directory.incoming.rename(arrival, to: files, body) }
            try files.rename(Self.new, to: files, name.file)
        } catch {
            try? files.remove(Self.new)
            if arrival != nil { try? files.remove(body) }
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

    private func removeBodies(of variants: [DiskRecord.Variant], _ name: DiskName) throws {
        for variant in variants { try files.remove(name.body(variant.id)) }
    }

    private func amount(of record: Int64, _ variants: [DiskRecord.Variant]) -> Int64 {
        variants.reduce(directory.allocated(record)) { sum, variant in
            sum + (variant.isInFile ? directory.allocated(DiskBody.fileSize(of: variant.length)) : 0)
        }
    }

    /// Removes a damaged record, unless another process has replaced it meanwhile with an intact one.
    func removeDamaged(_ name: DiskName) throws {
        do {
            _ = try DiskDirectory.read(name.file, in: files)
        } catch is DiskRecord.Damage {
            try files.remove(name.file)
            _ = try count()
        }
    }

    /// Counts the entries, and removes orphans as far as possible.
    func count() throws -> DiskUsage.Amount { try sweep(list()).amount }

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

    /// The entries by file name, and the orphans: bodies without an entry, and anything that isn't a regular file.
    struct Listing {
        var entries: [DiskName: Listed] = [:]
        var orphans: [String] = []
    }

    /// - Throws: if the status of a file can't be read. A file left out of the list would be taken for lost.
    func list() throws(SystemCallFailure) -> Listing {
        var listing = Listing()
        // Entries come before their bodies, whose names are longer.
        for name in try files.names().sorted() {
            let (isEntry, isBody) = (name.utf8.count == DiskName.length, name.utf8.count == DiskName.bodyLength)
            guard isEntry || isBody, let status = try unlessMissing(try files.status(of: name)) else { continue }
            let owner = DiskName(shard: shard, file: String(name.prefix(DiskName.length)))
            if !status.isRegular || (isBody && listing.entries[owner] == nil) {
                listing.orphans.append(name)
            } else if isEntry {
                listing.entries[owner] = Listed(modified: status.modified, bytes: directory.allocated(status.size))
            } else {
                listing.entries[owner]?.bytes += directory.allocated(status.size)
                listing.entries[owner]?.bodies.append(name)
            }
        }
        return listing
    }

    struct Swept {
        /// The entries that remain.
        var amount = DiskUsage.Amount()
        /// The entries that couldn't be removed.
        var kept: [DiskName] = []
        /// The first error in removing a file.
        var failure: (any Error)?
    }

    /// Removes the named entries and all orphans of a listing, and counts the rest.
    ///
    /// An error in removing one file doesn't stop the sweep.
    func sweep(_ listing: Listing, removing removed: Set<DiskName> = []) throws -> Swept {
        var orphans = listing.orphans
        var swept = Swept()
        for (name, listed) in listing.entries {
            if removed.contains(name) {
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
        guard let old = try? old(name) else { return [] }
        guard let record = old.record else { return bodies }
        let known = Set(record.variants.map { name.body($0.id) })
        return bodies.filter { !known.contains($0) }
    }
}
