internal import Foundation
internal import InterceptorsMiddlewares

// Files of a store that is open.
extension CacheStoreConformance {
    static let removedFileLaws: [CrashLaw] = [
        CrashLaw(
            "fileRemovedUnderAnOpenStoreIsAMiss",
            repair: "Treat a missing file as a miss, and make missing files and folders again when you write."
        ) { bench in
            guard let last = try await CrashScript.run(bench).last else { return }
            for path in last.image.files {
                try await bench.check(
                    last.image,
                    serves: last.content,
                    "With \(path) removed under the open store",
                    whileOpen: { try remove([path], in: $0) }
                )
            }
            try await bench.check(
                last.image,
                serves: last.content,
                "With all files removed under the open store",
                whileOpen: { try remove(try FileManager.default.contentsOfDirectory(atPath: $0.path), in: $0) }
            )
        }
    ]

    /// Removes what the store doesn't remove itself, before or meanwhile.
    private static func remove(_ paths: [String], in folder: URL) throws {
        for path in paths.map({ folder.appending(path: $0) }) where FileManager.default.fileExists(atPath: path.path) {
            do { try FileManager.default.removeItem(at: path) } catch {
                if FileManager.default.fileExists(atPath: path.path) { throw error }
            }
        }
    }

    #if os(Linux)
    static let descriptorLaws: [CrashLaw] = [
        CrashLaw(
            "noFileStaysOpen",
            repair: "Close with defer on the next line, at a body's end, when it is discarded, and in abandon()."
        ) { bench in
            let folder = try bench.scratch.folder()
            let store = try await bench.store(over: folder)
            try await useFiles(of: store, "first")
            let before = descriptors(in: folder)
            let cycles = 20
            var count = 0
            // Files may be closed later, on another thread that the machine delays. Files that stay open become more each time.
            for round in 1...3 {
                for cycle in 0..<cycles { try await useFiles(of: store, "\(round)-\(cycle)") }
                count = descriptors(in: folder) - before
                guard count >= round * cycles else { return }
            }
            throw RuleObservation("After \(3 * cycles) bodies were written and read, \(count) more files were open.")
        }
    ]

    /// Writes, reads and removes a body, and abandons one.
    private static func useFiles(of store: Bench, _ path: String) async throws {
        let (key, response) = (try store.key(path), CrashScript.response("1"))
        let body = CrashScript.body("1", 150_000)
        let abandoned = try await store.store.write(response, for: key, replacing: [], length: nil)
        try await abandoned.append(body)
        abandoned.abandon()
        try await store.put(body, of: response, key)
        for entry in try await store.entries(key) {
            _ = try await store.bytes(entry)
            let unread = try await entry.body(nil)
            unread.discard()
            let begun = try await entry.body(nil)
            var chunks = begun.makeAsyncIterator()
            _ = try await chunks.next()
            begun.discard()
        }
        try await store.store.removeAll(of: key)
    }

    /// The number of descriptors of files in a folder. Other tests use other folders.
    private static func descriptors(in folder: URL) -> Int {
        let own = "/proc/self/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: own)) ?? []
        // A descriptor of another thread may be gone meanwhile.
        let targets = names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(own)/\($0)") }
        return targets.count { $0.hasPrefix(folder.path + "/") }
    }
    #else
    // Only Linux tells the path of a descriptor in a form that Foundation reads.
    static let descriptorLaws: [CrashLaw] = []
    #endif
}
