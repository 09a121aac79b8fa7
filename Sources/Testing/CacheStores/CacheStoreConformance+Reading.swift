internal import Foundation
internal import InterceptorsMiddlewares

// The rules about the results of lookups and lists.
extension CacheStoreConformance {
    static let readingLaws: [Law] = [
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
    ]
}
