internal import Foundation

extension InterceptorConformance {
    static let waitingLaws: [Law] = [
        Law(
            "noCallWaitsForEver",
            repair: "Wake one waiter for each permit, and pass on the permit of a waiter that was cancelled.",
            seeds: 4
        ) { bench in
            let gate = bench.server.answerBehindGate()
            let calls = try (0..<60).map { bench.start(try bench.request("/things/\($0)")) }
            await bench.stage.idle()
            // Permits come back while waiters leave, and while others arrive.
            for (number, waiter) in bench.line(of: calls).enumerated() where number.isMultiple(of: 3) {
                _ = gate.letOnePass()
                waiter.cancel()
            }
            let later = try (60..<70).map { bench.start(try bench.request("/things/\($0)")) }
            await bench.stage.idle()
            gate.open()
            for call in calls + later { _ = try? await call.outcome() }
            try await WaitingCalls.race(bench)
        },
        Law(
            "aCancelledWaiterCostsNothing",
            repair: "Take the token when the wait is over; leave out this rule if the rate counts calls that ask.",
            for: { $0.includes(.limitsRate) }
        ) { bench in
            let room = try await WaitingCalls.room(try bench.fresh())
            guard room < WaitingCalls.most else { return }
            let usual = try await WaitingCalls.ends(try bench.fresh(), room: room, cancelled: 0)
            let again = try await WaitingCalls.ends(try bench.fresh(), room: room, cancelled: 0)
            // An interceptor whose waits differ from run to run can't be compared.
            guard usual == again, let last = usual.last else { return }
            // Tokens that come together hide the loss of a few. A line with a limit has room for a few only.
            for count in [max(3, room), 3] {
                let after = try await WaitingCalls.ends(try bench.fresh(), room: room, cancelled: count)
                // Other threads may be late, and time passes without them.
                guard bench.stage.queue.otherThreadsCount == 0 else { return }
                guard let lastAfter = after.last, usual.count == after.count else { continue }
                // Less than the time of one token.
                let tolerance = last / (2 * usual.count)
                try expect(
                    zip(usual, after).allSatisfy { $1 <= $0 + tolerance },
                    "Behind calls that were cancelled, the last of \(after.count) went on after \(lastAfter) instead of \(last)."
                )
                return
            }
        },
        Law(
            "waitersGoOnInOrder",
            repair: "Keep the waiters in a queue, wake the first one, and let no newcomer pass while one waits.",
            seeds: 4,
            for: { $0.includes(.keepsOrder) }
        ) { bench in
            let order = try await WaitingCalls.order(bench)
            // Other threads may be late, and a call that came later may be on time.
            guard bench.stage.queue.otherThreadsCount == 0 else { return }
            for (earlier, later) in zip(order, order.dropFirst()) {
                guard let last = earlier.max(), let first = later.min(), last > first else { continue }
                throw RuleObservation("Call \(last) went on before call \(first), for the same server.")
            }
        },
        Law(
            "noWaitOutlastsTheDeadline",
            repair: "Wait no longer than the time that is left, or fail at once if a wait can't end in time."
        ) { bench in
            for answer in RefusingAnswer.all {
                let fresh = try bench.fresh { try answer.respond($0, $1) }
                try await DeadlineCheck.run(fresh, calls: 1, "after \(answer.name)")
            }
            let crowded = try bench.fresh()
            let gate = crowded.server.answerBehindGate()
            try await DeadlineCheck.run(crowded, calls: 60, "among many")
            gate.open()
        },
    ]
}

/// Calls that wait for a token or a permit.
private enum WaitingCalls {
    typealias Bench = InterceptorConformance.Bench
    typealias Call = InterceptorConformance.Call

    static let most = 60
    private static let mostInLine = 200
    private static let mostSteps = 2_000
    private static let newcomers = 16

    /// How many calls go on before one waits.
    static func room(_ bench: Bench) async throws -> Int {
        let gate = bench.server.answerBehindGate()
        var calls: [Call] = []
        while calls.count < most, calls.count == gate.waiting {
            calls.append(bench.start(try bench.request("/first/\(calls.count)")))
            await bench.stage.idle()
        }
        gate.open()
        for call in calls { call.cancel() }
        // One that waits instead of refusing.
        return calls.last?.hasEnded == true ? most : calls.count - (calls.count == most ? 0 : 1)
    }

    /// Lets new calls look for a permit while the last ones come back.
    static func race(_ bench: Bench) async throws {
        let room = try await room(try bench.fresh())
        guard room < most else { return }
        for _ in 0..<10 {
            let fresh = try bench.fresh()
            let gate = fresh.server.answerBehindGate()
            let first = try (0..<room).map { fresh.start(try fresh.request("/first/\($0)")) }
            await fresh.stage.idle()
            let later = try (0..<5).map { fresh.start(try fresh.request("/later/\($0)")) }
            gate.open()
            for call in first + later { _ = try? await call.outcome() }
        }
    }

    /// Fills the room, lets calls wait, some of which are cancelled, and returns when the others reached the rest of the chain.
    ///
    /// - Parameters:
    ///   - room: the number of calls that go on at once.
    ///   - count: how many calls are cancelled, first, and again between the others.
    static func ends(_ bench: Bench, room: Int, cancelled count: Int) async throws -> [Duration] {
        let times = Guarded<[Duration]>([])
        let clock = bench.world.clock
        let start = clock.now
        bench.server.answer { arrival, server in
            if arrival.request.url.path.hasSuffix("/kept") { times.change { $0.append(start.duration(to: clock.now)) } }
            return server.usual(arrival.request)
        }
        for number in 0..<room { try await enter(bench, "/first/\(number)") }
        var (kept, cancelled): ([Call], [Call]) = ([], [])
        for _ in 0..<3 {
            for number in 0..<count { cancelled.append(try await enter(bench, "/cancelled/\(number)")) }
            for _ in 0..<3 { kept.append(try await enter(bench, "/kept")) }
        }
        for call in cancelled {
            call.cancel()
            await bench.stage.idle()
        }
        for call in kept { _ = try? await call.outcome() }
        // An interceptor whose new calls cancel older ones does so by contract.
        if bench.roles.includes(.supersedes) { return times.value }
        for case .failure(is CancellationError)? in kept.map(\.result) {
            throw RuleObservation("A call that nobody cancelled got a CancellationError, because others were.")
        }
        return times.value
    }

    @discardableResult
    private static func enter(_ bench: Bench, _ path: String) async throws -> Call {
        let call = bench.start(try bench.request(path))
        await bench.stage.idle()
        return call
    }

    /// The numbers of the calls in the order in which they went on. Calls that went on together are one element.
    static func order(_ bench: Bench) async throws -> [[Int]] {
        let gate = bench.server.answerBehindGate()
        var calls: [Call] = []
        // More than what may go on at once, so that the line goes on in several parts.
        while calls.count < mostInLine, bench.line(of: calls).count <= max(12, gate.waiting) {
            calls.append(try await enter(bench, "/things/\(calls.count)"))
        }
        var order: [[Int]] = []
        var step = 0
        while step < mostSteps, !bench.line(of: calls).isEmpty {
            let before = bench.arrived(of: calls)
            if !gate.letOnePass() {
                guard let deadline = bench.world.clock.nextDeadline else { break }
                bench.world.clock.advance(to: deadline)
            }
            // A newcomer that comes together with a permit must not pass the line.
            if step < newcomers {
                for _ in 0..<step / 2 % 4 { await Task.yield() }
                calls.append(bench.start(try bench.request("/things/\(calls.count)")))
            }
            await bench.stage.idle()
            let gone = bench.arrived(of: calls).subtracting(before)
            if !gone.isEmpty { order.append(Array(gone)) }
            step += 1
        }
        gate.open()
        for call in calls { call.cancel() }
        return order
    }
}

/// Calls with a deadline that the author's interceptor can read.
private enum DeadlineCheck {
    private static let limit = Duration.milliseconds(5)

    /// Makes calls at once, and throws if one of them waits in the interceptor when its deadline has passed.
    static func run(_ bench: InterceptorConformance.Bench, calls count: Int, _ place: String) async throws {
        guard let setDeadline = bench.world.deadlines.value else { return }
        let end = bench.world.clock.now.advanced(by: limit)
        let calls = try (0..<count).map { number in
            var request = try bench.request("/things/\(number)")
            setDeadline(&request, limit)
            return bench.start(request)
        }
        await bench.stage.idle()
        while let next = bench.world.clock.nextDeadline, next <= end {
            bench.world.clock.advance(to: next)
            await bench.stage.idle()
        }
        bench.world.clock.advance(to: end)
        await bench.stage.idle()
        // Calls on another thread may need a moment to come to the server or to their ends.
        _ = await bench.stage.reaches { calls.count { !$0.hasEnded } <= bench.server.running }
        let atServer = bench.server.running
        let waiting = calls.count { !$0.hasEnded } - atServer
        for call in calls { call.cancel() }
        await bench.stage.idle()
        try expect(waiting <= 0, "When its deadline had passed, a call \(place) waited in the interceptor.")
        guard bench.roles.includes(.setsDeadline) else { return }
        try expect(atServer == 0, "When its deadline had passed, a call \(place) went on.")
    }
}

extension InterceptorConformance.Bench {
    /// The numbers of the calls that have reached the rest of the chain. Calls that were refused have not.
    fileprivate func arrived(of calls: [InterceptorConformance.Call]) -> Set<Int> {
        let paths = Set(server.arrivals.map(\.request.url.path))
        return Set(calls.indices.filter { paths.contains(calls[$0].path) })
    }
}
