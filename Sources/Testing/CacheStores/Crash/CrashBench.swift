internal import Foundation
internal import InterceptorsMiddlewares

extension CacheStoreConformance {
    /// A response and its body, as a script stored them.
    struct StoredVersion: Sendable, Hashable {
        let response: CachedResponse
        let body: Data
    }

    /// The versions that a store may serve, by key.
    typealias Content = [CacheKey: Set<StoredVersion>]

    /// The folders and stores of one check.
    struct CrashBench: ConformanceBench {
        static let everySubject: Void = ()
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
        let number = version.response.headerFields["X-Version"] ?? "unknown"
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
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
    }

    // The system's temporary folder may keep what can't be removed.
    func remove() { try? FileManager.default.removeItem(at: url) }
}
