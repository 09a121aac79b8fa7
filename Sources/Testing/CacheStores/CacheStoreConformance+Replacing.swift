internal import Foundation
internal import InterceptorsMiddlewares

// Entries in the place of others.
extension CacheStoreConformance {
    static let replacingLaws: [Law] = [
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
    ]
}
