internal import Foundation

extension CacheStoreConformance {
    /// The store of one check.
    struct Bench: Sendable {
        let store: any CacheStore

        /// - Parameter name: the closure that makes the store, as a report names it.
        init(_ log: WaitLog, _ name: String, _ make: () async throws -> any CacheStore) async throws {
            do {
                store = LoggedStore(base: try await log.waiting(for: name) { try await make() }, log: log)
            } catch {
                throw FactoryError(error: error)
            }
        }

        func key(_ path: String, partition: String = "") throws -> CacheKey {
            let key = URL(string: "https://a.example/\(path)").flatMap { CacheKey(url: $0, partition: partition) }
            guard let key else { throw RuleObservation("The check's path \(path) is wrong.") }
            return key
        }

        /// A response of the variant that the request field `Accept` selects.
        func response(_ variant: String = "", fields: HTTPFields = [.cacheControl: "max-age=60"]) -> CachedResponse {
            CachedResponse(
                status: 203,
                headers: fields,
                selectingFields: [.accept: variant],
                initialAge: 7,
                responseTime: 1_767_225_600,
                needsValidation: true
            )
        }

        /// Stores a body in chunks through a writer, whatever the generation is.
        ///
        /// - Parameter response: by default that of the variant.
        func put(
            _ body: Data,
            of response: CachedResponse? = nil,
            _ key: CacheKey,
            _ variant: String = "",
            replacing entries: [CacheEntry.ID] = []
        ) async throws {
            let response = response ?? self.response(variant)
            let writer = try await store.write(response, for: key, replacing: entries, length: Int64(body.count))
            var rest = body[...]
            while !rest.isEmpty {
                try await writer.append(Data(rest.prefix(50_000)))
                rest = rest.dropFirst(50_000)
            }
            let isStored = try await writer.commit { _ in true }
            try expect(isStored, is: true, "The result of commit(if:)")
        }

        /// Removes the entries of a key, or of all keys.
        func removeAll(of key: CacheKey?) async throws {
            if let key { try await store.removeAll(of: key) } else { try await store.removeAll { _ in true } }
        }

        func entries(_ key: CacheKey) async throws -> [CacheEntry] { try await store.snapshot(of: key).entries }

        func generation(_ key: CacheKey) async throws -> UInt64 { try await store.snapshot(of: key).generation }

        /// The bodies of all entries of a key, as text, sorted.
        func bodies(_ key: CacheKey) async throws -> [String] {
            var bodies: [String] = []
            for entry in try await entries(key) {
                bodies.append(String(decoding: try await bytes(entry), as: UTF8.self))
            }
            return bodies.sorted()
        }

        func bytes(_ entry: CacheEntry, _ range: Range<Int64>? = nil) async throws -> Data {
            try await entry.body(range).collect(upTo: 4 << 20)
        }

        func only(_ key: CacheKey) async throws -> CacheEntry {
            let entries = try await entries(key)
            try expect(entries.count, is: 1, "The number of entries of a key")
            return entries[0]
        }
    }
}

extension CacheStoreConformance.Law {
    /// Checks a store in some orders of tasks, and on the usual threads.
    func check(_ patience: RulePatience, _ make: @escaping CacheStoreConformance.Factory) async throws {
        for seed in 0..<(seeds ?? 0) {
            let log = WaitLog()
            let report: RuleStage.Report = { text.failure(of: $0, "\(log)") }
            do {
                try await RuleStage.run(seed: seed, clock: ManualClock(), patience: patience, report: report) { _ in
                    try await text.judgingStore { try await perform(log, make) }
                }
            } catch is JobQueue.Unavailable {
                // The usual threads remain, which find a race by chance only.
            }
        }
        let log = WaitLog()
        try await text.watch(log, patience) { try await perform(log, make) }
    }

    private func perform(_ log: WaitLog, _ make: CacheStoreConformance.Factory) async throws {
        try await body(CacheStoreConformance.Bench(log, "the closure that makes the store", make))
    }
}

extension CacheStoreConformance.CrashLaw {
    /// Checks a store in a folder that is removed afterwards.
    func check(_ patience: RulePatience, _ open: @escaping CacheStoreConformance.FolderFactory) async throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let bench = CacheStoreConformance.CrashBench(scratch: scratch, open: open)
        try await text.watch(bench.log, patience) { try await body(bench) }
    }
}

extension RuleText {
    /// Runs a check on the usual threads, and ends the check when no function of the store returns.
    fileprivate func watch(
        _ log: WaitLog,
        _ patience: RulePatience,
        _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let watch = RuleWatch(patience: patience.otherThreads, progress: { log.count }) { failure(of: $0, "\(log)") }
        try await watch.run { try await judgingStore(body) }
    }

    fileprivate func judgingStore(_ body: @Sendable () async throws -> Void) async throws {
        try await judging("The store threw an error", body)
    }
}
