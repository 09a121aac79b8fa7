internal import Foundation
internal import InterceptorsMiddlewares

// The rules about the results of lookups and lists.
extension CacheStoreConformance {
    static let readingLaws: [Law] = [
        Law(
            "bodyOfAnyLengthIsReturnedInWholeAndInParts",
            expected: "A body of any length must be returned whole and in each range of its bytes.",
            harm: "Otherwise videos seek to wrong places, and long documents end in the middle.",
            repair: "Return exactly the bytes of the range that CacheEntry asks for."
        ) { bench in
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
        Law(
            "listingNamesEveryEntry",
            expected: "listing() must name each entry with its key, response and length.",
            harm: "Otherwise a program that removes an account's data misses some of it.",
            repair: "Keep the key with each entry."
        ) { bench in
            let keys = [try bench.key("a"), try bench.key("a", partition: "p"), try bench.key("b?c=d")]
            for (index, key) in keys.enumerated() { try await bench.put(Data(count: index + 1), key) }
            let listing = try await bench.store.listing().sorted { $0.length < $1.length }
            try expect(listing.map(\.key), is: keys, "The keys")
            try expect(listing.map(\.length), is: [1, 2, 3], "The lengths")
            try expect(listing.map(\.response), is: keys.map { _ in bench.response() }, "The responses")
        },
        Law(
            "digestKeyStaysTheSame",
            expected: "digestKey() must return the same 32 bytes at each call.",
            harm: "Otherwise no entry of a signed-in user is ever found again.",
            repair: "Make the key once, and return the kept key."
        ) { bench in
            let key = try await bench.store.digestKey()
            try expect(key.count, is: 32, "The number of bytes")
            try expect(try await bench.store.digestKey(), is: key, "The key")
        },
        Law(
            "orderOfArrivalsStaysTheSame",
            expected: "arrivals must be the same object at each call.",
            harm: "Otherwise, with two caches over the store, an older response replaces a newer one.",
            repair: "Make it a stored property: let arrivals = CacheArrivals()."
        ) { bench in
            try expect(bench.store.arrivals === bench.store.arrivals, is: true, "Whether it is the same object")
        },
        Law(
            "variantsAreKeptSideBySide",
            expected:
                "Entries of a key with different selecting fields must be kept side by side, with different IDs.",
            harm: "Otherwise two languages of a page replace each other at each request.",
            repair: "Compare selectingFields when you replace an entry of a key."
        ) { bench in
            let key = try bench.key("a")
            for variant in ["x", "y", "z"] { try await bench.put(Data(variant.utf8), key, variant) }
            try expect(try await bench.bodies(key), is: ["x", "y", "z"], "The bodies")
            try expect(Set(try await bench.entries(key).map(\.id)).count, is: 3, "The number of IDs")
        },
        Law(
            "partitionsAreApart",
            expected: "Keys that differ in their partition must share nothing.",
            harm: "Otherwise one user sees another user's data.",
            repair: "Use the whole CacheKey, or CacheKey.text, as the name of an entry."
        ) { bench in
            let (one, other) = (try bench.key("a", partition: "1"), try bench.key("a", partition: "2"))
            try await bench.put(Data("one".utf8), one)
            try expect(try await bench.entries(other).count, is: 0, "The number of entries in the other partition")
            try await bench.put(Data("other".utf8), other)
            try await bench.store.removeAll(of: other)
            try expect(try await bench.bodies(one), is: ["one"], "The bodies")
        },
        Law(
            "readerThatHasBegunGetsTheWholeOldBody",
            expected:
                "A body that CacheEntry.body(_:) has returned must be readable to its end after a replacement.",
            harm: "Otherwise a download from the cache breaks off, or mixes two versions of a file.",
            repair: "Open the body's bytes in the entry's closure, and keep them open until the last reader ends."
        ) { bench in
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
        Law(
            "entryFoundEarlierIsNeverAnotherBody",
            expected: "The body of a replaced entry must be its own, or throw a CacheStoreError.",
            harm: "Otherwise the fields of one response come with the content of another.",
            repair: "Find the bytes by the entry's ID, and throw entryGone if they are gone."
        ) { bench in
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
