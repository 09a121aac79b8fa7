internal import Foundation
internal import Middlewares

extension CacheStoreConformance {
    static let replacingRules: [Rule] = [
        Rule(name: "variantsAreKeptSideBySide") { bench in
            let key = try bench.key("a")
            for variant in ["x", "y", "z"] { try await bench.put(Data(variant.utf8), key, variant) }
            try expect(try await bench.bodies(key), is: ["x", "y", "z"], "the bodies")
            try expect(Set(try await bench.entries(key).map(\.id)).count, is: 3, "the number of IDs")
        },
        Rule(name: "partitionsAreApart") { bench in
            let (one, other) = (try bench.key("a", partition: "1"), try bench.key("a", partition: "2"))
            try await bench.put(Data("one".utf8), one)
            try expect(try await bench.entries(other).count, is: 0, "the number of entries in the other partition")
            try await bench.put(Data("other".utf8), other)
            try await bench.store.removeAll(of: other)
            try expect(try await bench.bodies(one), is: ["one"], "the bodies")
        },
        Rule(name: "entryWithTheSameSelectingFieldsIsReplaced") { bench in
            let key = try bench.key("a")
            try await bench.put(Data("x".utf8), key, "x")
            try await bench.put(Data("old".utf8), key, "y")
            let id = try await bench.entries(key).first { $0.length == 3 }?.id
            try await bench.put(Data("new".utf8), key, "y")
            try expect(try await bench.bodies(key), is: ["new", "x"], "the bodies")
            try expect(try await bench.entries(key).contains { $0.id == id }, is: false, "whether the ID is used again")
        },
        Rule(name: "namedEntriesAreReplaced") { bench in
            let key = try bench.key("a")
            for variant in ["x", "y"] { try await bench.put(Data(variant.utf8), key, variant) }
            let ids = try await bench.entries(key).map(\.id)
            try await bench.put(Data("z".utf8), key, "z", replacing: ids)
            try expect(try await bench.bodies(key), is: ["z"], "the bodies")
        },
        Rule(name: "entriesAreReplacedOnlyByACommit") { bench in
            let key = try bench.key("a")
            try await bench.put(Data("old".utf8), key)
            let id = try await bench.only(key).id
            for isAbandoned in [true, false] {
                let writer = try await bench.store.write(bench.response(), for: key, replacing: [id], length: nil)
                try await writer.append(Data("new".utf8))
                if isAbandoned { writer.abandon() } else { _ = try await writer.commit { _ in false } }
                try expect(try await bench.bodies(key), is: ["old"], "the bodies")
            }
        },
        Rule(name: "updateChangesTheResponseAndKeepsTheBody") { bench in
            let key = try bench.key("a")
            try await bench.put(Data("body".utf8), key)
            let entry = try await bench.only(key)
            let response = bench.response(fields: [.cacheControl: "max-age=1", .eTag: "\"2\""])
            try await bench.store.update(entry.id, of: key, to: response)
            try expect(try await bench.only(key).response, is: response, "the response")
            try expect(try await bench.bodies(key), is: ["body"], "the bodies")
            try expect(try await bench.only(key).length, is: 4, "the length")
        },
        Rule(name: "updateOfAReplacedEntryChangesNothing") { bench in
            let key = try bench.key("a")
            try await bench.put(Data("old".utf8), key)
            let old = try await bench.only(key).id
            try await bench.store.removeAll(of: key)
            try await bench.put(Data("new".utf8), key)
            try await bench.store.update(old, of: key, to: bench.response("other", fields: [:]))
            try expect(try await bench.only(key).response, is: bench.response(), "the response")
        },
        Rule(name: "concurrentWritersOfAKeyLeaveOneWholeEntry") { bench in
            let key = try bench.key("a")
            try await withThrowingTaskGroup { group in
                for number in 0..<16 {
                    group.addTask { try await bench.put(Data(repeating: UInt8(number), count: 70_000 + number), key) }
                }
                try await group.waitForAll()
            }
            let bytes = try await bench.bytes(try await bench.only(key))
            let number = bytes.first ?? 0
            try expect(bytes, is: Data(repeating: number, count: 70_000 + Int(number)), "the body")
        },
    ]

    static let removingRules: [Rule] = [
        Rule(name: "removeTakesTheNamedEntriesAndKeepsTheGeneration") { bench in
            let key = try bench.key("a")
            for variant in ["x", "y"] { try await bench.put(Data(variant.utf8), key, variant) }
            let generation = try await bench.generation(key)
            let id = try await bench.entries(key).first { $0.response == bench.response("x") }?.id
            try await bench.store.remove([id].compactMap(\.self), of: key)
            try expect(try await bench.bodies(key), is: ["y"], "the bodies")
            try expect(try await bench.generation(key), is: generation, "the generation")
        },
        Rule(name: "invalidationRemovesTheKeysEntriesAndChangesItsGeneration") { bench in
            let (key, other) = (try bench.key("a"), try bench.key("b"))
            for variant in ["x", "y"] { try await bench.put(Data(variant.utf8), key, variant) }
            try await bench.put(Data("b".utf8), other)
            var generations: Set = [try await bench.generation(key)]
            for count in 2...4 {
                // The generation must change even without an entry, because a response may be on its way.
                try await bench.store.removeAll(of: key)
                generations.insert(try await bench.generation(key))
                try expect(generations.count, is: count, "the number of generations")
            }
            try expect(try await bench.entries(key).count, is: 0, "the number of entries")
            try expect(try await bench.bodies(other), is: ["b"], "the bodies of another key")
        },
        Rule(name: "clearingRemovesWhatThePredicateNamesAndChangesEveryGeneration") { bench in
            let keys = [try bench.key("a"), try bench.key("b"), try bench.key("absent")]
            for key in keys.prefix(2) { try await bench.put(Data("x".utf8), key) }
            let before = [try await bench.generation(keys[0]), try await bench.generation(keys[2])]
            try await bench.store.removeAll { $0.key == keys[0] }
            try expect(try await bench.entries(keys[0]).count, is: 0, "the number of named entries")
            try expect(try await bench.bodies(keys[1]), is: ["x"], "the bodies of another key")
            try expect(try await bench.generation(keys[0]), isNot: before[0], "the generation of a key")
            try expect(
                try await bench.generation(keys[2]),
                isNot: before[1],
                "the generation of a key without an entry"
            )
        },
        Rule(name: "clearingRemovesEverythingAndChangesEveryGeneration") { bench in
            let key = try bench.key("a")
            try await bench.put(Data("x".utf8), key)
            let generation = try await bench.generation(key)
            try await bench.store.removeAll()
            try expect(try await bench.store.listing().count, is: 0, "the number of listed entries")
            try expect(try await bench.generation(key), isNot: generation, "the generation")
        },
        Rule(name: "responseRequestedBeforeAnInvalidationIsNotStoredAfterIt") { bench in
            for isWhole in [false, true] {
                let key = try bench.key("a")
                let generation = try await bench.generation(key)
                let writer = try await bench.store.write(bench.response(), for: key, replacing: [], length: nil)
                try await bench.store.removeAll(of: key)
                let isStored =
                    isWhole
                    ? try await bench.store.store(Data(), of: bench.response(), for: key, replacing: []) {
                        $0 == generation
                    }
                    : try await writer.commit { $0 == generation }
                if isWhole { writer.abandon() }
                try expect(isStored, is: false, "whether the response is stored")
                try expect(try await bench.entries(key).count, is: 0, "the number of entries")
            }
        },
        Rule(name: "commitAndInvalidationExcludeEachOther") { bench in
            for round in 0..<200 {
                let key = try bench.key("\(round % 5)")
                let generation = try await bench.generation(key)
                try await withThrowingTaskGroup { group in
                    group.addTask {
                        let writer = try await bench.store.write(bench.response(), for: key, replacing: [], length: 1)
                        try await writer.append(Data("x".utf8))
                        _ = try await writer.commit { $0 == generation }
                    }
                    group.addTask {
                        if round.isMultiple(of: 2) {
                            try await bench.store.removeAll(of: key)
                        } else {
                            try await bench.store.removeAll { _ in true }
                        }
                    }
                    try await group.waitForAll()
                }
                // If the commit came first, the entry was removed; otherwise the generation had changed.
                try expect(try await bench.entries(key).count, is: 0, "the number of entries in round \(round)")
            }
        },
    ]
}
