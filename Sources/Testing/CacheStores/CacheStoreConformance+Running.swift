internal import InterceptorsMiddlewares

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
