internal import Foundation
internal import InterceptorsMiddlewares

// Entries in the place of others.
extension CacheStoreConformance {
    static let replacingLaws: [Law] = [
        Law(
            "entryWithTheSameSelectingFieldsIsReplaced",
            expected: "A new entry must replace the entry with the same selecting fields, under a new ID.",
            harm: "Otherwise an old response is served beside the new one, or an update hits the wrong entry.",
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
        Law(
            "namedEntriesAreReplaced",
            expected: "A commit must remove the entries named by replacing.",
            harm: "Otherwise a response that was replaced is served again.",
            repair: "Remove the named entries in the step that makes the new entry visible."
        ) { bench in
            let key = try bench.key("a")
            for variant in ["x", "y"] { try await bench.put(Data(variant.utf8), key, variant) }
            let ids = try await bench.entries(key).map(\.id)
            try await bench.put(Data("z".utf8), key, "z", replacing: ids)
            try expect(try await bench.bodies(key), is: ["z"], "The bodies")
        },
        Law(
            "entriesAreReplacedOnlyByACommit",
            expected: "A body that is abandoned or refused must leave the entries that it was to replace.",
            harm: "Otherwise a broken download deletes a good entry.",
            repair: "Remove replaced entries in the commit, not in write(_:for:replacing:length:)."
        ) { bench in
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
        Law(
            "updateChangesTheResponseAndKeepsTheBody",
            expected: "update(_:of:to:) must replace the response of an entry, and keep its body and length.",
            harm: "Otherwise a 304 costs a new download, or the entry stays stale for ever.",
            repair: "Keep the response apart from the body."
        ) { bench in
            let key = try bench.key("a")
            try await bench.put(Data("body".utf8), key)
            let entry = try await bench.only(key)
            let response = bench.response(fields: [.cacheControl: "max-age=1", .eTag: "\"2\""])
            try await bench.store.update(entry.id, of: key, to: response)
            try expect(try await bench.only(key).response, is: response, "The response")
            try expect(try await bench.bodies(key), is: ["body"], "The bodies")
            try expect(try await bench.only(key).length, is: 4, "The length")
        },
        Law(
            "updateOfAReplacedEntryChangesNothing",
            expected: "An update under the ID of a removed entry must change nothing.",
            harm: "Otherwise a late 304 makes another response look fresh.",
            repair: "Find the entry by its ID, and never use an ID twice for a key."
        ) { bench in
            let key = try bench.key("a")
            try await bench.put(Data("old".utf8), key)
            let old = try await bench.only(key).id
            try await bench.store.removeAll(of: key)
            try await bench.put(Data("new".utf8), key)
            try await bench.store.update(old, of: key, to: bench.response("other", fields: [:]))
            try expect(try await bench.only(key).response, is: bench.response(), "The response")
        },
    ]
}
