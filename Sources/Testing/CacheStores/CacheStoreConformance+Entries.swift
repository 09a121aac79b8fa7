internal import Foundation

extension CacheStoreConformance {
    static let entryLaws: [Law] = [
        // The rules about the entries of a writer.
        Law("committedEntryIsReturnedAsItWasWritten", repair: "Store all properties, and chunks in order.") { bench in
            let key = try bench.key("a")
            let fields: HTTPFields = ["Set-Cookie": "a", "set-cookie": "b", "X-Empty": "", "X-Text": "é"]
            let response = bench.response("text/html", fields: fields)
            let writer = try await bench.store.write(response, for: key, replacing: [], length: nil)
            for chunk in ["ab", "cde"] { try await writer.append(Data(chunk.utf8)) }
            try expect(try await writer.commit { _ in true }, is: true, "The result of commit(if:)")
            let entry = try await bench.only(key)
            try expect(entry.response, is: response, "The response")
            try expect(
                entry.response.headers.map(\.name.rawName),
                is: fields.map(\.name.rawName),
                "The field names"
            )
            try expect(entry.length, is: 5, "The length")
            try expect(try await bench.bodies(key), is: ["abcde"], "The body")
        },
        Law("nothingIsSeenBeforeTheCommit", repair: "Collect a body apart; show it in one step.") { bench in
            let key = try bench.key("a")
            try await bench.put(Data("old".utf8), key)
            let writer = try await bench.store.write(bench.response(), for: key, replacing: [], length: 3)
            try await writer.append(Data("new".utf8))
            try expect(try await bench.bodies(key), is: ["old"], "The bodies before the commit")
            try expect(try await bench.store.listing().count, is: 1, "The number of listed entries before the commit")
            try expect(try await writer.commit { _ in true }, is: true, "The result of commit(if:)")
            try expect(try await bench.bodies(key), is: ["new"], "The bodies after the commit")
        },
        Law("abandonedBodyLeavesNothing", repair: "Drop the collected bytes, and remember the end.") { bench in
            let key = try bench.key("a")
            let writer = try await bench.store.write(bench.response(), for: key, replacing: [], length: nil)
            try await writer.append(Data(count: 100_000))
            writer.abandon()
            try expect(try await writer.commit { _ in true }, is: false, "The result of a commit after abandon()")
            try expect(try await bench.entries(key).count, is: 0, "The number of entries")
        },
        Law("abandonAfterTheCommitDoesNothing", repair: "Return at once if the commit has been made.") { bench in
            let key = try bench.key("a")
            let writer = try await bench.store.write(bench.response(), for: key, replacing: [], length: nil)
            try await writer.append(Data("a".utf8))
            _ = try await writer.commit { _ in true }
            writer.abandon()
            try expect(try await bench.bodies(key), is: ["a"], "The bodies")
        },
        Law(
            "commitAsksOnceWithTheGenerationOfTheKey",
            repair: "Call the closure under the lock that guards the generation, and store only if it returns true."
        ) { bench in
            let key = try bench.key("a")
            try await bench.store.removeAll(of: key)
            let generation = try await bench.generation(key)
            for isWanted in [false, true] {
                let writer = try await bench.store.write(bench.response(), for: key, replacing: [], length: 0)
                let asked = Guarded<[UInt64]>([])
                let isStored = try await writer.commit { generation in
                    asked.change { $0.append(generation) }
                    return isWanted
                }
                try expect(asked.value, is: [generation], "The generations asked for")
                try expect(isStored, is: isWanted, "The result of commit(if:)")
                try expect(try await bench.entries(key).count, is: isWanted ? 1 : 0, "The number of entries")
            }
        },
        Law("bodyThatIsTooLargeDoesNoHarm", repair: "Compare the length with the limit first.") { bench in
            let key = try bench.key("a")
            try await bench.put(Data("old".utf8), key)
            do {
                let writer = try await bench.store.write(bench.response(), for: key, replacing: [], length: 1 << 50)
                writer.abandon()
            } catch is CacheStoreError {}
            try expect(try await bench.bodies(key), is: ["old"], "The bodies")
        },
        Law("anOpenWriterBlocksNobody", repair: "Hold no lock between write(…) and commit(if:).") { bench in
            let key = try bench.key("open")
            let writer = try await bench.store.write(bench.response(), for: key, replacing: [], length: 2)
            try await writer.append(Data("a".utf8))
            try await bench.put(Data("other".utf8), key)
            try expect(try await bench.bodies(key), is: ["other"], "The bodies")
            try await bench.store.removeAll(of: key)
            try await writer.append(Data("b".utf8))
            try expect(try await writer.commit { _ in true }, is: true, "The result of commit(if:)")
            try expect(try await bench.bodies(key), is: ["ab"], "The bodies after the commit")
        },
        // The rules about the results of lookups and lists.
        Law("bodyOfAnyLengthIsReturnedInWholeAndInParts", repair: "Return exactly the bytes of the range.") { bench in
            for count in [0, 1, 2_000, 65_535, 65_536, 65_537, 131_073, 500_000] {
                let key = try bench.key("\(count)")
                let body = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
                try await bench.put(body, key)
                let entry = try await bench.only(key)
                try expect(entry.length, is: Int64(count), "The length")
                try expect(try await bench.bytes(entry), is: body, "The body of \(count) bytes")
                for (from, to) in [(0, 1), (1, count), (count / 2, count), (65_535, 65_537)]
                where from <= to && to <= count {
                    let part = try await bench.bytes(entry, Int64(from)..<Int64(to))
                    try expect(part, is: Data(body[from..<to]), "Bytes \(from) to \(to) of \(count)")
                }
            }
        },
        Law("listingNamesEveryEntry", repair: "Keep the key with each entry.") { bench in
            let keys = [try bench.key("a"), try bench.key("a", partition: "p"), try bench.key("b?c=d")]
            for (index, key) in keys.enumerated() { try await bench.put(Data(count: index + 1), key) }
            let listing = try await bench.store.listing().sorted { $0.length < $1.length }
            try expect(listing.map(\.key), is: keys, "The keys")
            try expect(listing.map(\.length), is: [1, 2, 3], "The lengths")
            try expect(listing.map(\.response), is: keys.map { _ in bench.response() }, "The responses")
        },
        Law("digestKeyStaysTheSame", repair: "Make the key once, and return the kept key.") { bench in
            let key = try await bench.store.digestKey()
            try expect(key.count, is: 32, "The number of bytes")
            try expect(try await bench.store.digestKey(), is: key, "The key")
        },
        Law("orderOfArrivalsStaysTheSame", repair: "Store it once: let arrivals = CacheArrivals().") { bench in
            try expect(bench.store.arrivals === bench.store.arrivals, is: true, "Whether it is the same object")
        },
        Law("variantsAreKeptSideBySide", repair: "Replace only an entry with equal selectingFields.") { bench in
            let key = try bench.key("a")
            for variant in ["x", "y", "z"] { try await bench.put(Data(variant.utf8), key, variant) }
            try expect(try await bench.bodies(key), is: ["x", "y", "z"], "The bodies")
            try expect(Set(try await bench.entries(key).map(\.id)).count, is: 3, "The number of IDs")
        },
        Law("partitionsAreApart", repair: "Name an entry by the whole CacheKey, or by CacheKey.text.") { bench in
            let (one, other) = (try bench.key("a", partition: "1"), try bench.key("a", partition: "2"))
            try await bench.put(Data("one".utf8), one)
            try expect(try await bench.entries(other).count, is: 0, "The number of entries in the other partition")
            try await bench.put(Data("other".utf8), other)
            try await bench.store.removeAll(of: other)
            try expect(try await bench.bodies(one), is: ["one"], "The bodies")
        },
        Law("readerThatHasBegunGetsTheWholeOldBody", repair: "Keep a body's bytes for its last reader.") { bench in
            let key = try bench.key("a")
            let old = Data(repeating: 1, count: 200_000)
            try await bench.put(old, key)
            var iterator = try await bench.only(key).body().makeAsyncIterator()
            var bytes = try await iterator.next() ?? Data()
            try await bench.put(Data(repeating: 2, count: 200_000), key)
            try await bench.store.removeAll(of: key)
            while let chunk = try await iterator.next() { bytes += chunk }
            try expect(bytes == old, is: true, "Whether the old body was complete")
        },
        Law("entryFoundEarlierIsNeverAnotherBody", repair: "Find bytes by the entry's ID, or throw.") { bench in
            let key = try bench.key("a")
            let old = Data(repeating: 1, count: 100_000)
            try await bench.put(old, key)
            let entry = try await bench.only(key)
            try await bench.put(Data(repeating: 2, count: 100_000), key)
            do {
                try expect(try await bench.bytes(entry) == old, is: true, "Whether the body was the entry's")
            } catch is CacheStoreError {}
        },
        // Entries in the place of others.
        Law(
            "entryWithTheSameSelectingFieldsIsReplaced",
            repair: "Remove the entry with equal selectingFields in the commit, and never use an ID twice."
        ) { bench in
            let key = try bench.key("a")
            try await bench.put(Data("x".utf8), key, "x")
            try await bench.put(Data("old".utf8), key, "y")
            let id = try await bench.entries(key).first { $0.length == 3 }?.id
            try await bench.put(Data("new".utf8), key, "y")
            try expect(try await bench.bodies(key), is: ["new", "x"], "The bodies")
            try expect(try await bench.entries(key).contains { $0.id == id }, is: false, "Whether the ID is used again")
        },
        Law("namedEntriesAreReplaced", repair: "Remove the named entries in the commit's one step.") { bench in
            let key = try bench.key("a")
            for variant in ["x", "y"] { try await bench.put(Data(variant.utf8), key, variant) }
            let ids = try await bench.entries(key).map(\.id)
            try await bench.put(Data("z".utf8), key, "z", replacing: ids)
            try expect(try await bench.bodies(key), is: ["z"], "The bodies")
        },
        Law("entriesAreReplacedOnlyByACommit", repair: "Remove replaced entries in the commit only.") { bench in
            let key = try bench.key("a")
            try await bench.put(Data("old".utf8), key)
            let id = try await bench.only(key).id
            for isAbandoned in [true, false] {
                let writer = try await bench.store.write(bench.response(), for: key, replacing: [id], length: nil)
                try await writer.append(Data("new".utf8))
                if isAbandoned { writer.abandon() } else { _ = try await writer.commit { _ in false } }
                try expect(try await bench.bodies(key), is: ["old"], "The bodies")
            }
        },
        Law("updateChangesTheResponseAndKeepsTheBody", repair: "Keep the response apart from the body.") { bench in
            let key = try bench.key("a")
            try await bench.put(Data("body".utf8), key)
            let entry = try await bench.only(key)
            let response = bench.response(fields: [.cacheControl: "max-age=1", .eTag: "\"2\""])
            try await bench.store.update(entry.id, of: key, to: response)
            try expect(try await bench.only(key).response, is: response, "The response")
            try expect(try await bench.bodies(key), is: ["body"], "The bodies")
            try expect(try await bench.only(key).length, is: 4, "The length")
        },
        Law("updateOfAReplacedEntryChangesNothing", repair: "Find the entry by an ID that is never reused.") { bench in
            let key = try bench.key("a")
            try await bench.put(Data("old".utf8), key)
            let old = try await bench.only(key).id
            try await bench.store.removeAll(of: key)
            try await bench.put(Data("new".utf8), key)
            try await bench.store.update(old, of: key, to: bench.response("other", fields: [:]))
            try expect(try await bench.only(key).response, is: bench.response(), "The response")
        },
        // Removals, and the responses that they keep out.
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
                let length: Int64? = isClear ? 4 : nil
                let writer = try await bench.store.write(bench.response(), for: key, replacing: [], length: length)
                if isClear {
                    try await writer.append(Data("late".utf8))
                    // Keeps out every earlier response, also of keys that the predicate doesn't name.
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
