internal import Foundation
internal import InterceptorsCore

extension InterceptorConformance.Law {
    /// Checks an interceptor, once for each seed.
    func check(
        _ roles: Placement,
        answering content: HTTPBody?,
        patience: RulePatience,
        _ make: @escaping InterceptorConformance.Factory
    ) async throws {
        let bytes = try await (content ?? InterceptorConformance.usualContent).collect(upTo: 16 << 20)
        for seed in 1...(seeds ?? 1) {
            let clock = ManualClock()
            let world = try InterceptorConformance.World(clock: clock, seed: seed)
            let log = InterceptorConformance.CallLog(rule: text, seed: seed)
            // The closure may hold the world, which holds the closure.
            defer { world.deadlines.change { $0 = nil } }
            try await RuleStage.run(seed: seed, clock: clock, patience: patience, report: log.failure) { stage in
                let bench = InterceptorConformance.Bench(
                    log: log,
                    roles: roles,
                    world: world,
                    stage: stage,
                    content: bytes,
                    make: make,
                    interceptor: try make(world),
                    server: ScriptedServer(content: bytes)
                )
                // The first call shows whether other threads take part, and pays for what is made only once.
                try? await bench.fresh().send(bench.request()).body.discard()
                log.forgetCalls()
                try await body(bench)
            }
        }
    }
}

extension InterceptorConformance {
    fileprivate static let usualContent = HTTPBody(
        #"{"id":42,"name":"Ada","films":[1,2,3],"note":"\#(String(repeating: "The quick brown fox. ", count: 40))"}"#
    )
}

extension InterceptorConformance.World {
    init(clock: ManualClock, seed: UInt64) throws {
        guard let origin = URL(string: "https://api.example.com").flatMap({ Origin($0) }) else {
            throw TransportError(.unsupportedURL, "The check's URL is wrong.")
        }
        self.init(clock: clock, time: .manual(clock, seed: seed), origin: origin, secret: "world-secret-4711")
    }
}
