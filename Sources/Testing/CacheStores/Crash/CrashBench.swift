internal import Foundation

extension CacheStoreConformance {
    /// A response and its body, as a script stored them.
    struct StoredVersion: Sendable, Hashable {
        let response: CachedResponse
        let body: Data
    }

    /// The versions that a store may serve, by key.
    typealias Content = [CacheKey: Set<StoredVersion>]

    /// The folders and stores of one check.
    struct CrashBench: Sendable {
        let scratch: ScratchFolder
        let open: FolderFactory
        let log = WaitLog()

        /// Opens a store over a folder.
        func store(over folder: URL) async throws -> Bench {
            try await Bench(log, "the closure that opens the store") { try await open(folder) }
        }

        /// Makes a new folder with the files of an image.
        func folder(with image: FolderImage) throws -> URL {
            let folder = try scratch.folder()
            try image.write(to: folder)
            return folder
        }
    }
}

extension CacheStoreConformance.CrashBench {
    typealias Content = CacheStoreConformance.Content

    /// Opens a store over an image, and throws unless it serves permitted content only, and goes on working.
    ///
    /// - Parameters:
    ///   - state: the files, as the end of a sentence, such as "after a kill".
    ///   - isComplete: whether the store must serve all of the content.
    ///   - mayFail: whether the store's functions may throw.
    ///   - change: changes the folder after the store has served its content once; `nil` for no change.
    func check(
        _ image: FolderImage,
        serves content: Content,
        _ state: String,
        isComplete: Bool = false,
        mayFail: Bool = false,
        whileOpen change: ((_ folder: URL) throws -> Void)? = nil
    ) async throws {
        do {
            let folder = try folder(with: image)
            let bench = try await store(over: folder)
            if let change {
                for key in content.keys { _ = try await served(bench, key, state) }
                try change(folder)
            }
            for (key, versions) in content.sorted(by: { $0.key.url < $1.key.url }) {
                let served = try await served(bench, key, state)
                if let wrong = served.subtracting(versions).first {
                    throw RuleObservation("\(state), the store served \(Self.name(wrong)) for \(key).")
                }
                if isComplete, served != versions {
                    throw RuleObservation("\(state), the store no longer served an entry for \(key).")
                }
                try await checkWrite(bench, key, state)
            }
        } catch let observation as RuleObservation {
            throw observation
        } catch  where mayFail {
            // The folder isn't one that the store can use, and the store says so.
        } catch let error as FactoryError {
            throw RuleObservation("\(state), opening the store threw \(error.error).")
        } catch {
            throw RuleObservation("\(state), the store threw \(error).")
        }
    }

    private static func name(_ version: CacheStoreConformance.StoredVersion) -> String {
        let number = version.response.headers["X-Version"] ?? "unknown"
        guard version.body == CrashScript.body(number, version.body.count) else {
            return "a body of \(version.body.count) bytes that was never stored"
        }
        return "version \(number), which was never stored so, or was replaced or removed before"
    }

    /// Reads a key's entries as a cache does: looks again after a report of damage, and removes an entry that can't be read.
    private func served(
        _ bench: CacheStoreConformance.Bench,
        _ key: CacheKey,
        _ state: String
    ) async throws -> Set<CacheStoreConformance.StoredVersion> {
        var served: Set<CacheStoreConformance.StoredVersion> = []
        var damaged: Set<CacheEntry.ID> = []
        for entry in try await entries(bench, key) {
            do {
                served.insert(.init(response: entry.response, body: try await bench.bytes(entry)))
            } catch {
                damaged.insert(entry.id)
            }
        }
        guard !damaged.isEmpty else { return served }
        try await bench.store.remove(Array(damaged), of: key)
        let remaining = Set(try await entries(bench, key).map(\.id))
        guard damaged.isDisjoint(with: remaining) else {
            throw RuleObservation("\(state), the store kept an entry for \(key) that was damaged and removed.")
        }
        return served
    }

    /// The entries of a key. A store may report damage once, and has then removed the damaged entry.
    private func entries(_ bench: CacheStoreConformance.Bench, _ key: CacheKey) async throws -> [CacheEntry] {
        do {
            return try await bench.entries(key)
        } catch let error as CacheStoreError where error.code == .entryDamaged {
            return try await bench.entries(key)
        }
    }

    private func checkWrite(_ bench: CacheStoreConformance.Bench, _ key: CacheKey, _ state: String) async throws {
        let (response, body) = (CrashScript.response("afterwards"), Data("new".utf8))
        try await bench.put(body, of: response, key)
        for entry in try await bench.entries(key) where entry.response == response {
            if try await bench.bytes(entry) == body { return }
        }
        throw RuleObservation("\(state), the store didn't serve a response stored since then.")
    }
}

/// The folder of a check, removed at its end.
struct ScratchFolder: Sendable {
    private let url: URL

    init() throws {
        let name = "store-conformance-\(UUID().uuidString)"
        url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().appending(path: name)
        try Self.make(url)
    }

    /// Makes an empty folder in this one.
    func folder() throws -> URL {
        let folder = url.appending(path: UUID().uuidString)
        try Self.make(folder)
        return folder
    }

    private static func make(_ folder: URL) throws {
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false, attributes: attributes)
    }

    // The system's temporary folder may keep what can't be removed.
    func remove() { try? FileManager.default.removeItem(at: url) }
}

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
        response.headers["X-Update"] = newVersion
        for entry in try await bench.entries(key) where entry.response == old {
            try await bench.store.update(entry.id, of: key, to: response)
        }
        content[key] = Set(
            (content[key] ?? []).map { $0.response == old ? .init(response: response, body: $0.body) : $0 }
        )
        try note("update(_:of:to:) of version \(version)")
    }

    private mutating func remove(_ version: String, _ key: CacheKey) async throws {
        let ids = try await bench.entries(key).filter { $0.response.headers["X-Version"] == version }.map(\.id)
        try await bench.store.remove(ids, of: key)
        content[key] = (content[key] ?? []).filter { $0.response.headers["X-Version"] != version }
        try note("remove(_:of:) of version \(version)")
    }

    static func response(_ version: String, variant: String = "") -> CachedResponse {
        CachedResponse(
            status: 200,
            headers: [.cacheControl: "max-age=60", "X-Version": version],
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

/// The content of a folder at one moment.
struct FolderImage: Sendable {
    enum Item: Sendable, Equatable {
        case folder(permissions: Int)
        case file(Data, permissions: Int, modified: Date)
        case pipe
    }

    /// The items by their paths below the folder.
    var items: [String: Item] = [:]

    /// Reads a folder. Leaves out files that vanish meanwhile, and items that are neither files nor folders.
    init(of folder: URL) throws {
        let manager = FileManager.default
        for path in try manager.subpathsOfDirectory(atPath: folder.path) {
            let full = folder.appending(path: path).path
            guard let attributes = try? manager.attributesOfItem(atPath: full) else { continue }
            let permissions = attributes[.posixPermissions] as? Int ?? 0o600
            switch attributes[.type] as? FileAttributeType {
            case .typeDirectory: items[path] = .folder(permissions: permissions)
            case .typeRegular:
                guard let bytes = manager.contents(atPath: full) else { continue }
                let modified = attributes[.modificationDate] as? Date ?? Date(timeIntervalSince1970: 0)
                items[path] = .file(bytes, permissions: permissions, modified: modified)
            default: continue
            }
        }
    }

    /// Makes the items in an empty folder.
    func write(to folder: URL) throws {
        let manager = FileManager.default
        // A folder's path is a prefix of its content's paths, so it comes first.
        for (path, item) in items.sorted(by: { $0.key < $1.key }) {
            let full = folder.appending(path: path).path
            switch item {
            case .folder(let permissions):
                try manager.createDirectory(
                    atPath: full,
                    withIntermediateDirectories: true,
                    attributes: [.posixPermissions: permissions]
                )
            case .file(let bytes, let permissions, let modified):
                let attributes: [FileAttributeKey: Any] = [.posixPermissions: permissions, .modificationDate: modified]
                try bytes.write(to: URL(filePath: full))
                try manager.setAttributes(attributes, ofItemAtPath: full)
            case .pipe:
                guard mkfifo(full, 0o600) == 0 else { throw SystemCallFailure("mkfifo", full, errno) }
            }
        }
    }

    /// The paths of the files, sorted.
    var files: [String] {
        items.compactMap { path, item in if case .file = item { path } else { nil } }.sorted()
    }

    /// The bytes of a file.
    func bytes(_ path: String) -> Data? {
        if case .file(let bytes, _, _)? = items[path] { bytes } else { nil }
    }

    /// Replaces the bytes of a file, and keeps the rest.
    mutating func replace(_ path: String, with bytes: Data) {
        guard case .file(_, let permissions, let modified)? = items[path] else { return }
        items[path] = .file(bytes, permissions: permissions, modified: modified)
    }

    /// The same files with another time of modification.
    func modified(at time: Date) -> FolderImage {
        var copy = self
        copy.items = items.mapValues { item in
            if case .file(let bytes, let permissions, _) = item {
                .file(bytes, permissions: permissions, modified: time)
            } else {
                item
            }
        }
        return copy
    }

    /// The paths at which the bytes or the kinds of two images differ, sorted.
    func changes(since earlier: FolderImage) -> [String] {
        Set(items.keys).union(earlier.items.keys).filter { path in
            switch (items[path], earlier.items[path]) {
            case (.file(let new, _, _), .file(let old, _, _)): new != old
            case (let new, let old): new != old
            }
        }.sorted()
    }
}
