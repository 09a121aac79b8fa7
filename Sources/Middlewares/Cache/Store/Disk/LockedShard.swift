internal import Foundation

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// A shard while its lock is held: the only place from which files of entries are made, replaced and removed.
struct LockedShard {
    let shard: UInt8
    let files: OpenFile
    let directory: DiskDirectory

    // Only who holds the lock writes it, so that one that was left behind is overwritten by the next.
    private static let new = ".new"

    /// A body that has arrived, to be moved to where it belongs.
    struct Arrival {
        let id: UInt64
        let name: String
    }

    /// Changes what is stored for a key. A process that is killed anywhere in it leaves the old record or the new one.
    ///
    /// - Parameter change: changes the variants; without a change nothing is written.
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
        guard change(&variants) else { return }
        let gone = (old.record?.variants ?? []).filter { variant in !variants.contains { $0.id == variant.id } }
        let base = try amount()
        guard !variants.isEmpty else {
            try files.remove(name.file)
            try removeBodies(of: gone, name)
            return try directory.usage.write(base - old.amount, of: shard)
        }
        let record = DiskRecord(key: key, variants: variants)
        let size: Int64
        do {
            size = try replace(name, with: record, stamp, arrival, base)
        } catch {
            let isRemoval = variants.allSatisfy { variant in before.contains { $0.id == variant.id } }
            guard isRemoval, variants.count < before.count else { throw error }
            return try strikeOut(gone, variants, name, base - old.amount)
        }
        // The record has them no more: a file that stays is found by the next sweep.
        try? removeBodies(of: gone, name)
        try directory.usage.write(base + DiskUsage.Amount(entries: 1, bytes: size) - old.amount, of: shard)
    }

    /// Puts a record in the place of another, or leaves all as it was; says how many bytes it takes.
    private func replace(
        _ name: DiskName,
        with record: DiskRecord,
        _ stamp: Int64,
        _ arrival: Arrival?,
        _ base: DiskUsage.Amount
    ) throws -> Int64 {
        let bytes = try record.encoded()
        guard bytes.count <= DiskRecord.limit else { throw CacheStoreError(.tooLarge, "The fields are too long.") }
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

    /// Removes variants where they lie, which a full disk allows, and the other variants stay. Where even that fails, the whole
    /// record goes: what is to be removed must be.
    private func strikeOut(
        _ gone: [DiskRecord.Variant],
        _ rest: [DiskRecord.Variant],
        _ name: DiskName,
        _ base: DiskUsage.Amount
    ) throws {
        do {
            let file = try OpenFile.open(name.file, in: files, O_RDWR)
            for variant in gone { try file.write([DiskRecord.struck], at: Int64(DiskRecord.strikes + variant.slot)) }
            try removeBodies(of: gone, name)
            let size = amount(of: Int(try file.status().size), rest)
            try directory.usage.write(base + DiskUsage.Amount(entries: 1, bytes: size), of: shard)
        } catch {
            try files.remove(name.file)
            try removeBodies(of: gone + rest, name)
            try directory.usage.write(base, of: shard)
        }
    }

    // What is damaged counts with its length, and is replaced. What can't be opened now may be whole: nothing is done to it.
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

    /// Removes a record that is damaged; one that has become whole meanwhile stays.
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
        try sweep { _, _ in false }
    }

    private func amount() throws -> DiskUsage.Amount {
        if let known = try directory.usage.read()[Int(shard)] { return known }
        return try sweep { _, _ in false }
    }

    /// An entry as a directory shows it.
    struct Listed {
        var modified: Int64
        var bytes: Int64
        var bodies: [String] = []
    }

    /// The entries by their file's name, and what belongs to none: bodies without an entry, and what is no file.
    ///
    /// - Throws: where something can't be looked at now. What is left out of a list would be taken for lost.
    func list() throws(SystemError) -> (entries: [String: Listed], orphans: [String]) {
        var entries: [String: Listed] = [:]
        var bodies: [(name: String, size: Int64)] = []
        var orphans: [String] = []
        for name in try files.names() {
            let (isEntry, isBody) = (name.utf8.count == DiskName.length, name.utf8.count == DiskName.bodyLength)
            guard isEntry || isBody else { continue }
            let status: OpenFile.Status
            do throws(SystemError) {
                status = try files.status(of: name)
            } catch {
                if error.isMissing { continue }
                throw error
            }
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

    /// Removes the entries that are meant and whatever belongs to none, and counts what remains.
    ///
    /// What can't be removed keeps nothing else from being removed; the first error is thrown at the end.
    @discardableResult
    func sweep(_ isRemoved: (DiskName, Listed) -> Bool) throws -> DiskUsage.Amount {
        var (entries, orphans) = try list()
        var amount = DiskUsage.Amount()
        var failure: (any Error)?
        for (file, listed) in entries {
            let name = DiskName(shard: shard, file: file)
            if isRemoved(name, listed) {
                do {
                    try files.remove(file)
                    orphans += listed.bodies
                    entries[file] = nil
                    continue
                } catch {
                    failure = failure ?? error
                }
            }
            let strays = listed.bodies.isEmpty ? [] : strays(of: name, listed.bodies)
            orphans += strays
            let lost = strays.reduce(0) { $0 + directory.allocated((try? files.status(of: $1).size) ?? 0) }
            amount = amount + DiskUsage.Amount(entries: 1, bytes: listed.bytes - lost)
        }
        for orphan in orphans {
            do { try files.remove(orphan) } catch { failure = failure ?? error }
        }
        try? files.remove(Self.new)
        try directory.usage.write(amount, of: shard)
        if let failure { throw failure }
        return amount
    }

    // Bodies that a killed process had moved here before it could say whose they are. Of a record that can't be opened now
    // they may all be.
    private func strays(of name: DiskName, _ bodies: [String]) -> [String] {
        guard let old = try? readOld(name) else { return [] }
        guard let record = old.record else { return bodies }
        let known = Set(record.variants.map { name.body($0.id) })
        return bodies.filter { !known.contains($0) }
    }
}
