internal import Foundation

// Tasks at the same time.
extension CacheStoreConformance {
    static let concurrencyLaws: [Law] = [
        Law("concurrentWritersOfAKeyLeaveOneWholeEntry", repair: "Make the commit one step.", seeds: 8) { bench in
            let key = try bench.key("a")
            try await atOnce(16) { try await bench.put(Data(repeating: UInt8($0), count: 70_000 + $0), key) }
            let bytes = try await bench.bytes(try await bench.only(key))
            let number = bytes.first ?? 0
            try expect(bytes, is: Data(repeating: number, count: 70_000 + Int(number)), "The body")
        },
        Law(
            "commitAndInvalidationExcludeEachOther",
            repair: "Ask the closure and make the entry visible under one lock, without an await between them.",
            seeds: 8
        ) { bench in
            for round in 0..<200 {
                let key = try bench.key("\(round % 5)")
                let generation = try await bench.generation(key)
                try await atOnce(2) { number in
                    if number == 0 {
                        let writer = try await bench.store.write(bench.response(), for: key, replacing: [], length: 1)
                        try await writer.append(Data("x".utf8))
                        _ = try await writer.commit { $0 == generation }
                    } else {
                        try await bench.removeAll(of: round.isMultiple(of: 2) ? key : nil)
                    }
                }
                // If the commit came first, the entry was removed; otherwise the generation had changed.
                try expect(try await bench.entries(key).count, is: 0, "The number of entries in round \(round)")
            }
        },
        Law(
            "writeThatHasReturnedIsSeenByEveryLaterLookup",
            repair: "Return from commit(if:) only when the entry is visible, and don't join commits in progress.",
            seeds: 8
        ) { bench in
            let key = try bench.key("a")
            try await atOnce(16) { number in
                try await bench.put(Data("\(number)".utf8), key)
                try expect(try await bench.entries(key).count, is: 1, "The number of entries after a commit")
            }
        },
        Law("replacingIsSeenAsOneStep", repair: "Replace under one lock, or by renaming one file.", seeds: 8) { bench in
            let key = try bench.key("a")
            @Sendable func put(_ version: Int) async throws {
                let response = bench.response(fields: ["X-Version": "\(version)"])
                try await bench.put(Data("\(version)".utf8), of: response, key)
            }
            try await put(0)
            try await atOnce(4) { number in
                for version in 1...20 {
                    if number == 0 {
                        try await put(version)
                        continue
                    }
                    let entry = try await bench.only(key)
                    do {
                        let body = String(decoding: try await bench.bytes(entry), as: UTF8.self)
                        try expect(body, is: entry.response.headers["X-Version"] ?? "", "The body")
                    } catch is CacheStoreError {
                        // The entry was replaced between the two calls.
                    }
                }
            }
        },
        Law(
            "updateAndReplacementExcludeEachOther",
            repair: "Find the entry and change it under the lock of the commit, without an await between them.",
            seeds: 8
        ) { bench in
            let key = try bench.key("a")
            let update = bench.response(fields: ["X-Update": "1"])
            for round in 0..<20 {
                try await bench.put(Data("old".utf8), key)
                let id = try await bench.only(key).id
                let response = bench.response(fields: ["X-New": "\(round)"])
                async let isUpdated: Void = bench.store.update(id, of: key, to: update)
                try await bench.put(Data("new".utf8), of: response, key)
                try await isUpdated
                try expect(try await bench.only(key).response, is: response, "The response")
                try expect(try await bench.bodies(key), is: ["new"], "The bodies")
            }
        },
        Law("bodiesOfWritersAtTheSameTimeStayApart", repair: "Keep the bytes in their writer.", seeds: 8) { bench in
            try await atOnce(8) { number in
                let key = try bench.key("\(number)")
                let writer = try await bench.store.write(bench.response(), for: key, replacing: [], length: nil)
                for _ in 0..<10 {
                    try await writer.append(Data(repeating: UInt8(number), count: 1_000))
                    await Task.yield()
                }
                _ = try await writer.commit { _ in true }
                let body = try await bench.bytes(try await bench.only(key))
                try expect(body, is: Data(repeating: UInt8(number), count: 10_000), "The body")
            }
        },
    ]
}
