internal import Foundation
internal import InterceptorsMiddlewares

// The rules about the entries of a writer.
extension CacheStoreConformance {
    static let storingLaws: [Law] = [
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
                entry.response.headerFields.map(\.name.rawName),
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
    ]
}
