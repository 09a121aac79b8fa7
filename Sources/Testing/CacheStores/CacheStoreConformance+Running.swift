internal import InterceptorsMiddlewares

extension CacheStoreConformance {
    /// The text of a rule.
    struct Law: Sendable {
        let name: String
        /// The rule's expectation, as a sentence.
        let expected: String
        /// Why it matters to the program's users, as a sentence.
        let harm: String
        /// The usual repair, as a sentence.
        let repair: String

        init(_ name: String, expected: String, harm: String, repair: String) {
            self.name = name
            self.expected = expected
            self.harm = harm
            self.repair = repair
        }
    }

    /// Thrown when a store breaks a promise.
    struct Failure: Error, Sendable, CustomStringConvertible {
        let law: Law
        /// The store's behavior, as a sentence.
        let observed: String

        var description: String { "\(law.name): \(observed) \(law.expected) \(law.harm) \(law.repair)" }
    }

    /// The reason why a check fails, as a sentence.
    struct Observation: Error, Sendable, CustomStringConvertible {
        let description: String
    }

    /// An error of the author's closure, which a check rethrows.
    struct FactoryError: Error {
        let error: any Error
    }
}

extension CacheStoreConformance.Rule {
    /// As the public method.
    func check(_ patience: RulePatience, _ make: @escaping CacheStoreConformance.Factory) async throws {
        for seed in 0..<seeds { try await play(seed: seed, patience, make) }
        let log = WaitLog()
        try await law.watch(log, patience: patience.otherThreads) { try await perform(log, make) }
    }

    private func play(
        seed: UInt64,
        _ patience: RulePatience,
        _ make: @escaping CacheStoreConformance.Factory
    )
        async throws
    {
        let log = WaitLog()
        do {
            let play = try RulePlay(
                seed: seed,
                clock: ManualClock(),
                patience: patience,
                report: { law.failure($0, log) },
                { _ in try await law.judging { try await perform(log, make) } }
            )
            try await play.run()
        } catch let error as CacheStoreConformance.FactoryError {
            throw error.error
        } catch is JobQueue.Unavailable {
            // The usual threads remain, which find a race by chance only.
        }
    }

    private func perform(_ log: WaitLog, _ make: CacheStoreConformance.Factory) async throws {
        let store: any CacheStore
        do {
            store = try await log.waiting(for: "the closure that makes the store") { try await make() }
        } catch {
            throw CacheStoreConformance.FactoryError(error: error)
        }
        try await body(CacheStoreConformance.Bench(store: LoggedStore(base: store, log: log)))
    }
}

extension CacheStoreConformance.Law {
    /// Runs a check on the usual threads, and ends the check when nothing goes on.
    func watch(_ log: WaitLog, patience: Duration, _ body: @escaping @Sendable () async throws -> Void) async throws {
        let watch = RuleWatch(patience: patience, progress: { log.count }, report: { failure($0, log) })
        do {
            try await watch.run { try await judging(body) }
        } catch let error as CacheStoreConformance.FactoryError {
            throw error.error
        }
    }

    /// Runs a check, and turns what it throws into a failure of this rule.
    func judging(_ body: @Sendable () async throws -> Void) async throws {
        do {
            try await body()
        } catch let error as CacheStoreConformance.FactoryError {
            throw error
        } catch let observation as CacheStoreConformance.Observation {
            throw CacheStoreConformance.Failure(law: self, observed: observation.description)
        } catch {
            throw CacheStoreConformance.Failure(law: self, observed: "The store threw an error: \(error).")
        }
    }

    func failure(_ standstill: RuleStandstill, _ log: WaitLog) -> any Error {
        let reason =
            switch standstill {
            case .stuck: "Nothing goes on."
            case .endless: "Tasks follow each other without end."
            case .blockedThread: "A task blocks its thread, so that no other can go on."
            }
        return CacheStoreConformance.Failure(law: self, observed: "\(reason) \(log)")
    }
}
