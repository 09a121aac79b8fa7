internal import Foundation
internal import Middlewares
internal import Synchronization

extension CacheStoreConformance {
    static let storingRules: [Rule] = [
        Rule(name: "committedEntryIsReturnedAsItWasWritten") { bench in
            let key = try bench.key("a")
            let fields: HTTPFields = ["Set-Cookie": "a", "set-cookie": "b", "X-Empty": "", "X-Text": "é"]
            let response = bench.response("text/html", fields: fields)
            let writer = try await bench.store.write(response, for: key, replacing: [], length: nil)
            for chunk in ["ab", "cde"] { try await writer.append(Data(chunk.utf8)) }
            try expect(try await writer.commit { _ in true }, is: true, "the result of commit(if:)")
            let entry = try await bench.only(key)
            try expect(entry.response, is: response, "the response")
            try expect(
                entry.response.headerFields.map(\.name.rawName),
                is: fields.map(\.name.rawName),
                "the field names"
            )
            try expect(entry.length, is: 5, "the length")
            try expect(try await bench.bodies(key), is: ["abcde"], "the body")
        },
        Rule(name: "bodyOfAnyLengthIsReturnedInWholeAndInParts") { bench in
            for count in [0, 1, 2_000, 65_535, 65_536, 65_537, 131_073, 500_000] {
                let key = try bench.key("\(count)")
                let body = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
                try await bench.put(body, key)
                let entry = try await bench.only(key)
                try expect(entry.length, is: Int64(count), "the length")
                try expect(try await bench.bytes(entry), is: body, "the body of \(count) bytes")
                for (from, to) in [(0, 1), (1, count), (count / 2, count), (65_535, 65_537)]
                where from <= to && to <= count {
                    let part = try await bench.bytes(entry, Int64(from)..<Int64(to))
                    try expect(part, is: Data(body[from..<to]), "bytes \(from) to \(to) of \(count)")
                }
            }
        },
        Rule(name: "completeBodyIsStoredLikeAWrittenOne") { bench in
            let key = try bench.key("a")
            let (response, body) = (bench.response(), Data("xxwhole".utf8).dropFirst(2))
            let isStored = try await bench.store.store(body, of: response, for: key, replacing: []) { _ in true }
            try expect(isStored, is: true, "the result of store(_:of:for:replacing:if:)")
            try expect(try await bench.only(key).response, is: response, "the response")
            try expect(try await bench.bodies(key), is: ["whole"], "the body")
            let isRefused = try await bench.store.store(body, of: bench.response("b"), for: key, replacing: []) { _ in
                false
            }
            try expect(isRefused, is: false, "the result for a response that isn't wanted")
            try expect(try await bench.bodies(key), is: ["whole"], "the bodies after a response that isn't wanted")
        },
        Rule(name: "nothingIsSeenBeforeTheCommit") { bench in
            let key = try bench.key("a")
            try await bench.put(Data("old".utf8), key)
            let writer = try await bench.store.write(bench.response(), for: key, replacing: [], length: 3)
            try await writer.append(Data("new".utf8))
            try expect(try await bench.bodies(key), is: ["old"], "the bodies before the commit")
            try expect(try await bench.store.listing().count, is: 1, "the number of listed entries before the commit")
            try expect(try await writer.commit { _ in true }, is: true, "the result of commit(if:)")
            try expect(try await bench.bodies(key), is: ["new"], "the bodies after the commit")
        },
        Rule(name: "abandonedBodyLeavesNothing") { bench in
            let key = try bench.key("a")
            let writer = try await bench.store.write(bench.response(), for: key, replacing: [], length: nil)
            try await writer.append(Data(count: 100_000))
            writer.abandon()
            try expect(try await writer.commit { _ in true }, is: false, "the result of a commit after abandon()")
            try expect(try await bench.entries(key).count, is: 0, "the number of entries")
        },
        Rule(name: "abandonAfterTheCommitDoesNothing") { bench in
            let key = try bench.key("a")
            let writer = try await bench.store.write(bench.response(), for: key, replacing: [], length: nil)
            try await writer.append(Data("a".utf8))
            _ = try await writer.commit { _ in true }
            writer.abandon()
            try expect(try await bench.bodies(key), is: ["a"], "the bodies")
        },
        Rule(name: "commitAsksOnceWithTheGenerationOfTheKey") { bench in
            let key = try bench.key("a")
            try await bench.store.removeAll(of: key)
            let generation = try await bench.generation(key)
            for isWanted in [false, true] {
                let writer = try await bench.store.write(bench.response(), for: key, replacing: [], length: 0)
                let asked = Asked()
                let isStored = try await writer.commit { generation in
                    asked.generations.withLock { $0.append(generation) }
                    return isWanted
                }
                try expect(asked.generations.withLock { $0 }, is: [generation], "the generations asked for")
                try expect(isStored, is: isWanted, "the result of commit(if:)")
                try expect(try await bench.entries(key).count, is: isWanted ? 1 : 0, "the number of entries")
            }
        },
        Rule(name: "listingNamesEveryEntry") { bench in
            let keys = [try bench.key("a"), try bench.key("a", partition: "p"), try bench.key("b?c=d")]
            for (index, key) in keys.enumerated() { try await bench.put(Data(count: index + 1), key) }
            let listing = try await bench.store.listing().sorted { $0.length < $1.length }
            try expect(listing.map(\.key), is: keys, "the keys")
            try expect(listing.map(\.length), is: [1, 2, 3], "the lengths")
            try expect(listing.map(\.response), is: keys.map { _ in bench.response() }, "the responses")
        },
        Rule(name: "digestKeyStaysTheSame") { bench in
            let key = try await bench.store.digestKey()
            try expect(key.count, is: 32, "the number of bytes")
            try expect(try await bench.store.digestKey(), is: key, "the key")
        },
    ]

    private final class Asked: Sendable {
        let generations = Mutex<[CacheGeneration]>([])
    }
}
