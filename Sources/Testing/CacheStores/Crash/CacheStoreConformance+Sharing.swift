internal import Foundation
internal import InterceptorsMiddlewares

// Several stores over one folder, as in an app and its extension.
extension CacheStoreConformance {
    static let sharingLaws: [CrashLaw] = [
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
                if isClear {
                    try await one.store.removeAll { _ in true }
                } else {
                    try await one.store.removeAll(of: key)
                }
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
                let version = entry.response.headerFields["X-Version"] ?? ""
                let isWhole = try await store.bytes(entry) == CrashScript.body(version, 70_000)
                try expect(isWhole, is: true, "Whether the body is that of its response")
            }
        },
    ]
}
