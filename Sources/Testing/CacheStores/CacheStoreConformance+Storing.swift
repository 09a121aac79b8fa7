internal import Foundation
internal import InterceptorsMiddlewares

// The rules about the entries of a writer.
extension CacheStoreConformance {
    static let storingLaws: [Law] = [
        Law(
            "committedEntryIsReturnedAsItWasWritten",
            expected:
                "A committed entry must return the response and the body as they were written, with the spelling and order of fields.",
            harm: "Otherwise the program gets other data from the cache than from the server.",
            repair: "Store every property of CachedResponse, and every chunk in order."
        ) { bench in
            let key = try bench.key("a")
            let fields: HTTPFields = ["Set-Cookie": "a", "set-cookie": "b", "X-Empty": "", "X-Text": "é"]
            let response = bench.response("text/html", fields: fields)
            let writer = try await bench.store.write(response, for: key, replacing: [], length: nil)
            for chunk in ["ab", "cde"] { try await writer.append(Data(chunk.utf8)) }
            try expect(try await writer.commit { _ in true }, is: true, "The result of commit(if:)")
            let entry = try await bench.only(key)
            try expect(entry.response, is: response, "The response")
            try expect(
                entry.response.headerFields.map(\.name.rawName),
                is: fields.map(\.name.rawName),
                "The field names"
            )
            try expect(entry.length, is: 5, "The length")
            try expect(try await bench.bodies(key), is: ["abcde"], "The body")
        },
        Law(
            "nothingIsSeenBeforeTheCommit",
            expected: "A body must stay invisible until commit(if:) has returned.",
            harm: "Otherwise a reader gets half of a response as if it were complete.",
            repair: "Collect the body apart, and make it visible in one step."
        ) { bench in
            let key = try bench.key("a")
            try await bench.put(Data("old".utf8), key)
            let writer = try await bench.store.write(bench.response(), for: key, replacing: [], length: 3)
            try await writer.append(Data("new".utf8))
            try expect(try await bench.bodies(key), is: ["old"], "The bodies before the commit")
            try expect(try await bench.store.listing().count, is: 1, "The number of listed entries before the commit")
            try expect(try await writer.commit { _ in true }, is: true, "The result of commit(if:)")
            try expect(try await bench.bodies(key), is: ["new"], "The bodies after the commit")
        },
        Law(
            "abandonedBodyLeavesNothing",
            expected: "After abandon(), nothing of the body may remain, and commit(if:) must return false.",
            harm: "Otherwise a download that the user broke off counts as complete.",
            repair: "Drop the collected bytes in abandon(), and remember the end."
        ) { bench in
            let key = try bench.key("a")
            let writer = try await bench.store.write(bench.response(), for: key, replacing: [], length: nil)
            try await writer.append(Data(count: 100_000))
            writer.abandon()
            try expect(try await writer.commit { _ in true }, is: false, "The result of a commit after abandon()")
            try expect(try await bench.entries(key).count, is: 0, "The number of entries")
        },
        Law(
            "abandonAfterTheCommitDoesNothing",
            expected: "abandon() after a commit must change nothing.",
            harm: "Otherwise responses vanish when their last reader ends.",
            repair: "Return at once from abandon() if the commit has been made."
        ) { bench in
            let key = try bench.key("a")
            let writer = try await bench.store.write(bench.response(), for: key, replacing: [], length: nil)
            try await writer.append(Data("a".utf8))
            _ = try await writer.commit { _ in true }
            writer.abandon()
            try expect(try await bench.bodies(key), is: ["a"], "The bodies")
        },
        Law(
            "commitAsksOnceWithTheGenerationOfTheKey",
            expected:
                "commit(if:) must call its closure once, with the key's current generation, and return the closure's result.",
            harm: "Otherwise the cache can't keep out a response that an unsafe request has made wrong.",
            repair: "Call the closure under the lock that guards the generation, and store only if it returns true."
        ) { bench in
            let key = try bench.key("a")
            try await bench.store.removeAll(of: key)
            let generation = try await bench.generation(key)
            for isWanted in [false, true] {
                let writer = try await bench.store.write(bench.response(), for: key, replacing: [], length: 0)
                let asked = Guarded<[CacheGeneration]>([])
                let isStored = try await writer.commit { generation in
                    asked.change { $0.append(generation) }
                    return isWanted
                }
                try expect(asked.value, is: [generation], "The generations asked for")
                try expect(isStored, is: isWanted, "The result of commit(if:)")
                try expect(try await bench.entries(key).count, is: isWanted ? 1 : 0, "The number of entries")
            }
        },
        Law(
            "bodyThatIsTooLargeDoesNoHarm",
            expected:
                "A body that can't fit must cost no other entry; a store that refuses it must throw a CacheStoreError.",
            harm: "Otherwise one large download empties the cache or fills the disk.",
            repair: "Compare the length with your limit before you make room."
        ) { bench in
            let key = try bench.key("a")
            try await bench.put(Data("old".utf8), key)
            do {
                let writer = try await bench.store.write(bench.response(), for: key, replacing: [], length: 1 << 50)
                writer.abandon()
            } catch is CacheStoreError {}
            try expect(try await bench.bodies(key), is: ["old"], "The bodies")
        },
        Law(
            "anOpenWriterBlocksNobody",
            expected: "While a writer waits for its body, lookups, removals and other writers must go on.",
            harm: "Otherwise one slow download stops every request for the same page.",
            repair: "Hold no lock between write(_:for:replacing:length:) and commit(if:)."
        ) { bench in
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
    ]
}
