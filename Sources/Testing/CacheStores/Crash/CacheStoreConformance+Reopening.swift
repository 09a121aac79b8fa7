internal import Foundation
internal import InterceptorsMiddlewares

// Stores that are opened again.
extension CacheStoreConformance {
    static let reopeningLaws: [CrashLaw] = [
        CrashLaw("entriesOutliveTheStore", repair: "Write an entry's file before commit(if:) returns.") { bench in
            let folder = try bench.scratch.folder()
            let key = try await put("old", over: folder, bench)
            let later = try await bench.store(over: folder)
            let entry = try await later.only(key)
            try expect(entry.response, is: CrashScript.response("old"), "The response")
            try expect(try await later.bytes(entry), is: CrashScript.body("old", 150_000), "The body")
        },
        CrashLaw("digestKeyOutlivesTheStore", repair: "Keep the key in a file with the entries.") { bench in
            let folder = try bench.scratch.folder()
            let key = try await bench.store(over: folder).store.digestKey()
            try expect(try await bench.store(over: folder).store.digestKey(), is: key, "The key")
            // As a later launch finds it: a key that only the process remembers isn't in the copy, and is in another folder.
            let copy = try bench.folder(with: FolderImage(of: folder))
            try expect(try await bench.store(over: copy).store.digestKey(), is: key, "The key in a copy of the folder")
            let other = try bench.scratch.folder()
            try expect(try await bench.store(over: other).store.digestKey(), isNot: key, "The key in another folder")
        },
        CrashLaw("removedContentIsOffTheDisk", repair: "Remove the files of removed and abandoned bodies.") { bench in
            let folder = try bench.scratch.folder()
            for version in ["old", "new"] { _ = try await put(version, over: folder, bench) }
            let store = try await bench.store(over: folder)
            try await store.put(CrashScript.body("short", 300), of: CrashScript.response("short"), try store.key("b"))
            try await store.store.removeAll()
            let image = try FolderImage(of: folder)
            for version in ["old", "new", "short"] {
                let text = CrashScript.body(version, 60)
                for path in image.files where image.bytes(path)?.range(of: text) != nil {
                    throw RuleObservation("After removeAll(), \(path) still contained the body of \(version).")
                }
            }
        },
    ]

    /// Stores a long body through a store that is then forgotten.
    private static func put(_ version: String, over folder: URL, _ bench: CrashBench) async throws -> CacheKey {
        let store = try await bench.store(over: folder)
        let key = try store.key("a")
        try await store.put(CrashScript.body(version, 150_000), of: CrashScript.response(version), key)
        return key
    }
}
