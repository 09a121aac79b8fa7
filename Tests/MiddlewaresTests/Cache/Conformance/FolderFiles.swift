import Foundation
import Interceptors

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

/// A record of a ``FolderStore``.
struct FolderRecord: Codable, Sendable {
    let id: CacheEntry.ID
    var response: CachedResponse
    let length: Int
    let file: String
    let checksum: String

    func summary(_ key: CacheKey) -> CacheEntrySummary {
        CacheEntrySummary(key: key, response: response, length: Int64(length))
    }
}

/// The records of a key, as bytes with their checksum.
struct FolderShelf: Sendable {
    private struct Content: Codable {
        let url: String
        let partition: String
        let records: [FolderRecord]
    }

    let key: CacheKey
    let records: [FolderRecord]

    init(_ key: CacheKey, _ records: [FolderRecord]) {
        self.key = key
        self.records = records
    }

    init?(_ bytes: Data) {
        let text = bytes.dropFirst(16)
        guard Self.checksum(text) == String(decoding: bytes.prefix(16), as: UTF8.self),
            let content = try? JSONDecoder().decode(Content.self, from: Data(text)),
            let url = URL(string: content.url), let key = CacheKey(url: url, partition: content.partition)
        else { return nil }
        self.init(key, content.records)
    }

    var bytes: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let text = try? encoder.encode(Content(url: key.url, partition: key.partition, records: records))
        return Data(Self.checksum(text ?? Data()).utf8) + (text ?? Data())
    }

    static func name(_ key: CacheKey) -> String { checksum(Data(key.text.utf8)) + ".entry" }

    /// FNV-1a, as 16 hexadecimal digits.
    static func checksum(_ bytes: Data) -> String {
        let hash = bytes.withUnsafeBytes { bytes in
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            return hash
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// The folder of a ``FolderStore``.
struct FolderFiles: Sendable {
    let folder: URL

    init(_ folder: URL) throws {
        self.folder = folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func path(_ name: String) -> String { folder.appending(path: name).path }

    private func attributes(_ name: String) -> [FileAttributeKey: Any] {
        (try? FileManager.default.attributesOfItem(atPath: path(name))) ?? [:]
    }

    /// The names of the files of keys.
    var entries: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".entry") }
    }

    func isPipe(_ name: String) -> Bool {
        var status = stat()
        return lstat(path(name), &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    }

    func time(_ name: String) -> Date { attributes(name)[.modificationDate] as? Date ?? .distantPast }

    func read(_ name: String) -> Data? {
        guard attributes(name)[.type] as? FileAttributeType == .typeRegular else { return nil }
        return FileManager.default.contents(atPath: path(name))
    }

    func leaveOpen(_ name: String) { _ = open(path(name), O_RDONLY | O_NONBLOCK | O_CLOEXEC) }

    func write(_ bytes: Data, to name: String) throws {
        try bytes.write(to: folder.appending(path: name), options: .atomic)
    }

    func remove(_ name: String) { unlink(path(name)) }

    /// Excludes the other stores over the folder.
    func locked<Value>(_ body: () throws -> Value) throws -> Value {
        let descriptor = open(path("lock"), O_CREAT | O_RDWR | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CacheStoreError(.storeUnavailable, "There is no lock.") }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX) == 0 else { throw CacheStoreError(.storeBusy, "The lock failed.") }
        return try body()
    }
}
