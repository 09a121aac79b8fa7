internal import Foundation

extension CacheStoreConformance {
    static let fileLaws: [CrashLaw] = [
        // Stores that are opened again.
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
        // Processes that end at any moment.
        CrashLaw(
            "aKillLeavesTheOldEntryTheNewOneOrNone",
            repair: "Write each body to a new file, and make it visible by renaming one record with its checksum."
        ) { bench in
            let moments = try await CrashScript.run(bench)
            for moment in moments {
                try await bench.check(moment.image, serves: moment.content, "After a kill behind \(moment.name)")
            }
            for (earlier, later) in zip(moments, moments.dropFirst()) {
                let content = earlier.content.merging(later.content) { $0.union($1) }
                for image in later.image.partialChanges(since: earlier.image) {
                    try await bench.check(image, serves: content, "After a kill within \(later.name)")
                }
            }
        },
        // Files that were damaged.
        CrashLaw(
            "damagedFileIsAMiss",
            repair: "Open regular files only, without blocking, and compare lengths and checksums with the record."
        ) { bench in
            guard let last = try await CrashScript.run(bench).last else { return }
            for path in last.image.files {
                for damage in damages(of: last.image.bytes(path) ?? Data()) {
                    var image = last.image
                    damage.change(&image, path)
                    let state = "With \(path) \(damage.name)"
                    try await bench.check(image, serves: last.content, state, mayFail: damage.isForeign)
                }
            }
        },
        CrashLaw("fileTimesDontDecideWhatIsServed", repair: "Use file times for eviction only; a future time is old.") {
            bench in
            guard let last = try await CrashScript.run(bench).last else { return }
            for (seconds, name) in [(4_102_444_800.0, "in the future"), (1.0, "of 1970")] {
                let image = last.image.modified(at: Date(timeIntervalSince1970: seconds))
                try await bench.check(image, serves: last.content, "With file times \(name)", isComplete: true)
            }
        },
        // Files of a store that is open.
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
        },
        // Several stores over one folder, as in an app and its extension.
        CrashLaw(
            "writeThatHasReturnedIsSeenByEveryStore",
            repair: "Read the record at each lookup, or test whether it changed before you use what is in memory."
        ) { bench in
            let folder = try bench.scratch.folder()
            let (one, other) = (try await bench.store(over: folder), try await bench.store(over: folder))
            let key = try one.key("a")
            for (count, version) in ["first", "second"].enumerated() {
                try await (count == 0 ? one : other).put(Data(version.utf8), key)
                for store in [one, other] { try expect(try await store.bodies(key), is: [version], "The bodies") }
            }
            try await one.store.removeAll(of: key)
            try expect(try await other.bodies(key), is: [], "The bodies after removeAll(of:) of the other store")
        },
        CrashLaw("invalidationInOneStoreKeepsOutResponsesOfAnother", repair: "Keep generations in a file.") { bench in
            let folder = try bench.scratch.folder()
            let (one, other) = (try await bench.store(over: folder), try await bench.store(over: folder))
            let key = try one.key("a")
            for isClear in [false, true] {
                let generation = try await other.generation(key)
                let writer = try await other.store.write(other.response(), for: key, replacing: [], length: nil)
                try await one.removeAll(of: isClear ? nil : key)
                let isStored = try await writer.commit { $0 == generation }
                try expect(isStored, is: false, "Whether the older response was stored")
                try expect(try await one.entries(key).count, is: 0, "The number of entries")
            }
        },
        CrashLaw("writersOfSeveralStoresLeaveOneWholeEntry", repair: "Hold a file lock during a commit.") { bench in
            let folder = try bench.scratch.folder()
            var stores: [Bench] = []
            for _ in 0..<4 { stores.append(try await bench.store(over: folder)) }
            let key = try stores[0].key("a")
            try await atOnce(16) { [stores] number in
                let version = CrashScript.response("\(number)")
                try await stores[number % 4].put(CrashScript.body("\(number)", 70_000), of: version, key)
            }
            for store in stores {
                let entry = try await store.only(key)
                let version = entry.response.headers["X-Version"] ?? ""
                let isWhole = try await store.bytes(entry) == CrashScript.body(version, 70_000)
                try expect(isWhole, is: true, "Whether the body is that of its response")
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

    /// Something that happened to a file.
    private struct Damage {
        /// The end of a sentence that begins with the file.
        let name: String
        /// Whether the path is no file any more, which the store may report.
        var isForeign = false
        let change: (inout FolderImage, _ path: String) -> Void
    }

    private static func damages(of bytes: Data) -> [Damage] {
        let lengths = Set([0, 1, bytes.count / 2, bytes.count - 1]).filter { $0 >= 0 && $0 < bytes.count }
        let cuts = lengths.map { count in
            Damage(name: "cut to \(count) of \(bytes.count) bytes") { $0.replace($1, with: bytes.prefix(count)) }
        }
        let flips = positions(in: bytes.count).map { position in
            Damage(name: "with a changed bit in byte \(position)") { image, path in
                var changed = bytes
                changed[changed.startIndex + position] ^= 1 << (position % 8)
                image.replace(path, with: changed)
            }
        }
        return cuts + flips + [
            Damage(name: "removed") { $0.items[$1] = nil },
            Damage(name: "replaced by a pipe", isForeign: true) { $0.items[$1] = .pipe },
            Damage(name: "replaced by a folder", isForeign: true) { $0.items[$1] = .folder(permissions: 0o700) },
        ]
    }

    /// Positions in a file of a length: its ends, and some between them.
    private static func positions(in count: Int) -> [Int] {
        guard count > 0 else { return [] }
        let between = stride(from: 0, to: count, by: max(1, count / 12)).map { min(count - 1, $0 + $0 % 7) }
        return Set(between + [count - 1]).sorted()
    }

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

extension FolderImage {
    private static let mostChoices = 12

    /// The images between two others: each has some of the changes, or all of them with one file cut.
    func partialChanges(since earlier: FolderImage) -> [FolderImage] {
        let paths = changes(since: earlier)
        guard !paths.isEmpty else { return [] }
        // Each bit of a choice says whether a change has been made.
        let all = paths.count < 16 ? 1 << paths.count : 1 << 16
        let step = max(1, all / Self.mostChoices)
        var images = stride(from: 1, to: all - 1, by: step).map { choice in
            var image = earlier
            for (index, path) in paths.enumerated() where index < 16 && choice >> index & 1 == 1 {
                image.items[path] = items[path]
            }
            return image.withParents(from: self)
        }
        for path in paths {
            guard let bytes = bytes(path), bytes.count > (earlier.bytes(path)?.count ?? 0) else { continue }
            var image = self
            image.replace(path, with: bytes.prefix(((earlier.bytes(path)?.count ?? 0) + bytes.count) / 2))
            images.append(image)
        }
        return images
    }

    /// Adds the folders of all items, and removes items whose folder is none.
    private func withParents(from later: FolderImage) -> FolderImage {
        var image = self
        for path in items.keys {
            var parent = (path as NSString).deletingLastPathComponent
            while !parent.isEmpty {
                if image.items[parent] == nil {
                    image.items[parent] = later.items[parent] ?? .folder(permissions: 0o700)
                }
                parent = (parent as NSString).deletingLastPathComponent
            }
        }
        return image
    }
}
