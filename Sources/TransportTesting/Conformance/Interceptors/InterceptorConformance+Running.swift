internal import Foundation
internal import Interceptors

extension InterceptorConformance.Rule {
    /// As the public method.
    func check(
        answering content: HTTPBody?,
        patience: InterceptorConformance.Patience,
        _ make: @escaping InterceptorConformance.Factory
    ) async throws {
        let bytes = try await (content ?? Self.usualContent).collect(upTo: 16 << 20)
        for seed in 1...law.seeds {
            let play = try RulePlay(self, seed: seed, content: bytes, patience: patience, make)
            try await play.run()
        }
    }

    private static let usualContent = HTTPBody(
        #"{"id":42,"name":"Ada","films":[1,2,3],"note":"\#(String(repeating: "The quick brown fox. ", count: 40))"}"#
    )
}

/// One seed of a check.
private final class RulePlay: Sendable {
    private let log: InterceptorConformance.CallLog
    private let stage: RuleStage
    private let makeBench: @Sendable () throws -> InterceptorConformance.Bench
    private let patience: InterceptorConformance.Patience

    init(
        _ rule: InterceptorConformance.Rule,
        seed: UInt64,
        content: Data,
        patience: InterceptorConformance.Patience,
        _ make: @escaping InterceptorConformance.Factory
    ) throws {
        let clock = ManualClock()
        let world = try InterceptorConformance.World(clock: clock, seed: seed)
        let stage = try RuleStage(seed: seed, clock: clock, patience: patience)
        let log = InterceptorConformance.CallLog(law: rule.law, seed: seed)
        makeBench = {
            try InterceptorConformance.Bench(
                log: log,
                roles: rule.roles,
                world: world,
                stage: stage,
                content: content,
                make: make
            )
        }
        self.log = log
        self.stage = stage
        self.patience = patience
    }

    // On a separate thread, because the check owns its thread, and an interceptor may block it.
    func run() async throws {
        try await WatchedThread.run(
            limit: patience.blockedThread,
            progress: { [stage] in stage.progress },
            blocked: { [log] in log.blockedThread() }
        ) { [self] in try play() }
    }

    private func play() throws {
        try stage.play(reportingBy: log.failure) { [makeBench, log] in
            let bench = try makeBench()
            try await log.law.body(bench)
        }
    }
}

extension InterceptorConformance.World {
    init(clock: ManualClock, seed: UInt64) throws {
        guard let origin = URL(string: "https://api.example.com").flatMap({ Origin($0) }) else {
            throw TransportError(.unsupportedURL, "The check's URL is wrong.")
        }
        self.init(clock: clock, time: .manual(clock, seed: seed), origin: origin, secret: "world-secret-4711")
    }
}
