internal import Foundation
internal import InterceptorsMiddlewares

// Removals, and the responses that they keep out.
extension CacheStoreConformance {
    static let removingLaws: [Law] = [
        Law("removeTakesTheNamedEntriesAndKeepsTheGeneration", repair: "Compare IDs; keep the generation.") { bench in
            let key = try bench.key("a")
            for variant in ["x", "y"] { try await bench.put(Data(variant.utf8), key, variant) }
            let generation = try await bench.generation(key)
            let id = try await bench.entries(key).first { $0.response == bench.response("x") }?.id
            try await bench.store.remove([id].compactMap(\.self), of: key)
            try expect(try await bench.bodies(key), is: ["y"], "The bodies")
            try expect(try await bench.generation(key), is: generation, "The generation")
        },
        Law(
            "invalidationRemovesTheKeysEntriesAndChangesItsGeneration",
            repair: "Count a generation up in each call, and keep it apart from the entries."
        ) { bench in
            let (key, other) = (try bench.key("a"), try bench.key("b"))
            for variant in ["x", "y"] { try await bench.put(Data(variant.utf8), key, variant) }
            try await bench.put(Data("b".utf8), other)
            var generations: Set = [try await bench.generation(key)]
            for count in 2...4 {
                // The generation must change even without an entry, because a response may be on its way.
                try await bench.store.removeAll(of: key)
                generations.insert(try await bench.generation(key))
                try expect(generations.count, is: count, "The number of generations")
            }
            try expect(try await bench.entries(key).count, is: 0, "The number of entries")
            try expect(try await bench.bodies(other), is: ["b"], "The bodies of another key")
        },
        Law(
            "clearingRemovesWhatThePredicateNamesAndChangesEveryGeneration",
            repair: "Change one generation of all keys before you ask the predicate."
        ) { bench in
            let keys = [try bench.key("a"), try bench.key("b"), try bench.key("absent")]
            for key in keys.prefix(2) { try await bench.put(Data("x".utf8), key) }
            let before = [try await bench.generation(keys[0]), try await bench.generation(keys[2])]
            try await bench.store.removeAll { $0.key == keys[0] }
            try expect(try await bench.entries(keys[0]).count, is: 0, "The number of named entries")
            try expect(try await bench.bodies(keys[1]), is: ["x"], "The bodies of another key")
            try expect(try await bench.generation(keys[0]), isNot: before[0], "The generation of a key")
            try expect(
                try await bench.generation(keys[2]),
                isNot: before[1],
                "The generation of a key without an entry"
            )
        },
        Law("clearingRemovesEverythingAndChangesEveryGeneration", repair: "Change every generation, then remove all.") {
            bench in
            let key = try bench.key("a")
            try await bench.put(Data("x".utf8), key)
            let generation = try await bench.generation(key)
            try await bench.store.removeAll()
            try expect(try await bench.store.listing().count, is: 0, "The number of listed entries")
            try expect(try await bench.generation(key), isNot: generation, "The generation")
        },
        Law(
            "responseRequestedBeforeARemovalIsNotStoredAfterIt",
            repair: "Change the key's generation in removeAll(of:), and every generation in removeAll(where:)."
        ) { bench in
            let key = try bench.key("a")
            for isClear in [false, true] {
                let generation = try await bench.generation(key)
                let content = Data((isClear ? "late" : "").utf8)
                let length = isClear ? Int64(content.count) : nil
                let writer = try await bench.store.write(bench.response(), for: key, replacing: [], length: length)
                if isClear {
                    try await writer.append(content)
                    try await bench.store.removeAll { _ in false }
                } else {
                    try await bench.store.removeAll(of: key)
                }
                try expect(try await writer.commit { $0 == generation }, is: false, "Whether the response was stored")
                try expect(try await bench.entries(key).count, is: 0, "The number of entries")
            }
        },
    ]
}
