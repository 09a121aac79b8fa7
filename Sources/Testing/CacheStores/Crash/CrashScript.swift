internal import Foundation
internal import InterceptorsMiddlewares

/// A script of writes, with a copy of the folder after each call of the store.
struct CrashScript: Sendable {
    /// The files after a call, and what the store may serve then.
    struct Moment: Sendable {
        /// The call, as the end of a sentence, such as "commit(if:) of version 2".
        let name: String
        let image: FolderImage
        let content: CacheStoreConformance.Content
    }

    private let bench: CacheStoreConformance.Bench
    private let folder: URL
    private(set) var moments: [Moment] = []
    private var content: CacheStoreConformance.Content = [:]

    /// Longer than what a store keeps in a file with others, and than a few of its blocks.
    private static let long = 150_000

    /// Runs the script on a store over a new folder.
    static func run(_ bench: CacheStoreConformance.CrashBench) async throws -> [Moment] {
        let folder = try bench.scratch.folder()
        var script = CrashScript(bench: try await bench.store(over: folder), folder: folder)
        try await script.play()
        return script.moments
    }

    private init(bench: CacheStoreConformance.Bench, folder: URL) {
        self.bench = bench
        self.folder = folder
    }

    private mutating func play() async throws {
        let (short, long) = (try bench.key("short"), try bench.key("long"))
        content = [short: [], long: []]
        try note("the store was opened")
        try await put("1", 300, short)
        try await put("2", Self.long, long)
        try await put("3", 400, short)
        try await put("4", Self.long, long)
        try await update("4", to: "4b", long)
        try await put("5", 500, short, variant: "x")
        try await remove("5", short)
        try await put("6", Self.long, short)
        try await bench.store.removeAll(of: short)
        content[short] = []
        try note("removeAll(of:)")
        try await put("7", 300, short)
        try await put("8", 600, long)
        try await bench.store.removeAll { $0.key == long }
        content[long] = []
        try note("removeAll(where:)")
        try await put("9", Self.long, long)
    }

    private mutating func note(_ name: String) throws {
        moments.append(Moment(name: name, image: try FolderImage(of: folder), content: content))
    }

    private mutating func put(_ version: String, _ count: Int, _ key: CacheKey, variant: String = "") async throws {
        let response = Self.response(version, variant: variant)
        let body = Self.body(version, count)
        let writer = try await bench.store.write(response, for: key, replacing: [], length: nil)
        try note("write(_:for:replacing:length:) of version \(version)")
        for part in [body.prefix(count / 2), body.dropFirst(count / 2)] {
            try await writer.append(Data(part))
            try note("append(_:) of version \(version)")
        }
        try expect(try await writer.commit { _ in true }, is: true, "The result of commit(if:)")
        let kept = (content[key] ?? []).filter { $0.response.selectingFields != response.selectingFields }
        content[key] = kept.union([.init(response: response, body: body)])
        try note("commit(if:) of version \(version)")
    }

    private mutating func update(_ version: String, to newVersion: String, _ key: CacheKey) async throws {
        let old = Self.response(version)
        var response = old
        response.headerFields["X-Update"] = newVersion
        for entry in try await bench.entries(key) where entry.response == old {
            try await bench.store.update(entry.id, of: key, to: response)
        }
        content[key] = Set(
            (content[key] ?? []).map { $0.response == old ? .init(response: response, body: $0.body) : $0 }
        )
        try note("update(_:of:to:) of version \(version)")
    }

    private mutating func remove(_ version: String, _ key: CacheKey) async throws {
        let ids = try await bench.entries(key).filter { $0.response.headerFields["X-Version"] == version }.map(\.id)
        try await bench.store.remove(ids, of: key)
        content[key] = (content[key] ?? []).filter { $0.response.headerFields["X-Version"] != version }
        try note("remove(_:of:) of version \(version)")
    }

    static func response(_ version: String, variant: String = "") -> CachedResponse {
        CachedResponse(
            status: 200,
            headerFields: [.cacheControl: "max-age=60", "X-Version": version],
            selectingFields: [.accept: variant],
            responseTime: 1_767_225_600
        )
    }

    /// The body of a version: text that belongs to no other version at any position.
    static func body(_ version: String, _ count: Int) -> Data {
        let line = Data("Version \(version) of this text. ".utf8)
        var body = Data(capacity: count + line.count)
        while body.count < count { body += line }
        return body.prefix(count)
    }
}
