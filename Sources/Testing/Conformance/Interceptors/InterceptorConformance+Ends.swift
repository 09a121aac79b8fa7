internal import Foundation

extension InterceptorConformance {
    static let cancellationLaws: [Law] = [
        law("cancellationEndsACallAtOnce", repair: "Await next, sleep, or withTaskCancellationHandler.") { point in
            try expect(point.endedAtOnce, "A call that was cancelled \(point.place) went on waiting.")
        },
        law("cancellationIsACancellationError", repair: "Rethrow CancellationError first.") { point in
            guard case .failure(let error)? = point.call.result, !(error is CancellationError) else { return }
            if point.place == "before it began", point.bench.roles.limits { return }
            throw RuleObservation("A call that was cancelled \(point.place) threw \(type(of: error)).")
        },
        law(
            "cancellationLeavesNothingBehind",
            repair: "Cancel the tasks that you started, and wait for them; discard a response that comes too late."
        ) { point in
            guard point.endedAtOnce else { return }
            let (bench, call) = (point.bench, point.call)
            if case .success(let response)? = call.result {
                point.bodyGate.open()
                // Read to its end, because a body that can't be discarded breaks another rule.
                try await bench.drain(response.body)
            }
            let (server, clock) = (bench.server, bench.world.clock)
            _ = await bench.stage.reaches {
                server.running == 0 && !server.isLastStreamOpen && clock.pendingSleeps <= point.timers && !call.hasTasks
            }
            let text = "After a call that was cancelled \(point.place),"
            try expect(server.running == 0, "\(text) an exchange went on.")
            try expect(!server.isLastStreamOpen, "\(text) the body of a response stayed open.")
            try expect(clock.pendingSleeps <= point.timers, "\(text) a sleep was left on the clock.")
            try expect(!call.hasTasks, "\(text) a task that it had started went on.")
        },
        law(
            "aCancelledCallIsNotSentAgain",
            repair: "Rethrow CancellationError before you decide to repeat, and wait with try, not with try?."
        ) { point in
            try expect(!point.isSentAgain, "A call that was cancelled \(point.place) was sent again.")
        },
    ]

    /// A rule about a call that is cancelled at each point at which it waits.
    private static func law(
        _ name: String,
        repair: String,
        _ judge: @escaping @Sendable (Suspensions.Point) async throws -> Void
    ) -> Law {
        Law(name, repair: repair, seeds: 2) { bench in try await Suspensions.forEach(bench, judge) }
    }
}

/// Cancels a call at each point at which it waits.
enum Suspensions {
    typealias Bench = InterceptorConformance.Bench

    /// A call that was cancelled.
    struct Point: Sendable {
        let bench: Bench
        let call: InterceptorConformance.Call
        /// Where the call was cancelled, as the end of a sentence.
        let place: String
        let endedAtOnce: Bool
        /// Whether the call had been sent before its cancellation, and was sent again after that.
        var isSentAgain = false
        let bodyGate: Gate
        /// The number of sleeps before the call, such as those of a timer that no call starts.
        let timers: Int
    }

    private static let mostPoints = 16

    static func forEach(_ bench: Bench, _ judge: (Point) async throws -> Void) async throws {
        for mode in [ResponseBodyMode.buffered, .streamed] {
            for number in 0..<mostPoints {
                guard let point = try await cancel(try bench.fresh(), at: number, mode) else { break }
                try await judge(point)
            }
        }
        let positions = bench.roles.limits ? Position.allCases : [.last]
        for position in positions {
            if let point = try await cancelInACrowd(try bench.fresh(), position) { try await judge(point) }
        }
    }

    /// Cancels a call at the point with a number; `nil` if the call ends earlier.
    private static func cancel(_ bench: Bench, at number: Int, _ mode: ResponseBodyMode) async throws -> Point? {
        let (gate, bodyGate) = (Gate(), Gate())
        await bench.stage.idle()
        let timers = bench.world.clock.pendingSleeps
        bench.server.answer { arrival, server in
            try await gate.pass()
            // The first answer makes an interceptor that retries wait for its next attempt.
            let status: HTTPResponse.Status = arrival.number == 1 ? 503 : 200
            let stream = mode == .streamed ? ScriptedStream(server.content, in: 3, gate: bodyGate) : nil
            return server.usual(arrival.request, status, fields: [.retryAfter: "2"], stream: stream)
        }
        let call = bench.start(try bench.request("/things", mode: mode)) {
            if mode == .streamed { try await bench.readToEnd($0) }
        }
        guard let place = await walk(bench, call, to: number, gate, bodyGate) else {
            if case .success(let response)? = call.result { response.body.discard() }
            try call.throwFailure()
            return nil
        }
        let attempts = bench.server.arrivals.count
        call.cancel()
        let ended = await bench.stage.reaches { call.hasEnded }
        if !ended {
            gate.open()
            bodyGate.open()
        }
        try call.throwFailure()
        return Point(
            bench: bench,
            call: call,
            place: place,
            endedAtOnce: ended,
            isSentAgain: attempts > 0 && bench.server.arrivals.count > attempts,
            bodyGate: bodyGate,
            timers: timers
        )
    }

    /// Lets a call go on to the point with a number, and returns where the call waits; `nil` if the call ends earlier.
    private static func walk(
        _ bench: Bench,
        _ call: InterceptorConformance.Call,
        to number: Int,
        _ gate: Gate,
        _ bodyGate: Gate
    ) async -> String? {
        var place = "before it began"
        for step in 0..<number {
            await bench.stage.idle()
            if call.hasEnded { return nil }
            let isLast = step == number - 1
            if gate.waiting > 0 {
                place = "while the rest of the chain worked"
                if !isLast { _ = gate.letOnePass() }
            } else if bodyGate.waiting > 0 {
                place = "while it read a body"
                if !isLast { _ = bodyGate.letOnePass() }
            } else if let deadline = bench.world.clock.nextDeadline {
                place = "while it slept"
                if !isLast { bench.world.clock.advance(to: deadline) }
            } else {
                return nil
            }
        }
        return place
    }

    /// The call to cancel among those that wait in a line.
    private enum Position: String, CaseIterable {
        case first = "while it waited as the first of many calls"
        case middle = "while it waited between many other calls"
        case last = "while many other calls ran"
    }

    /// Cancels a call while many others run, which may make it wait in a line.
    private static func cancelInACrowd(_ bench: Bench, _ position: Position) async throws -> Point? {
        let gate = bench.server.answerBehindGate()
        var calls: [InterceptorConformance.Call] = []
        for number in 0...40 {
            calls.append(bench.start(try bench.request("/things/\(number)")))
            // One after the other, so that the first of the line is known.
            if bench.roles.limits || number >= 39 { await bench.stage.idle() }
        }
        let line = bench.line(of: calls)
        let call =
            position == .first ? line.first : position == .middle ? line.dropFirst(line.count / 2).first : line.last
        guard let call = call ?? calls.last, !call.hasEnded else {
            gate.open()
            for call in calls { _ = try? await call.outcome() }
            return nil
        }
        call.cancel()
        let ended = await bench.stage.reaches { call.hasEnded }
        gate.open()
        for other in calls { _ = try? await other.outcome() }
        return Point(
            bench: bench,
            call: call,
            place: position.rawValue,
            endedAtOnce: ended,
            bodyGate: gate,
            // Another rule is about timers that the other calls leave behind.
            timers: .max
        )
    }
}

extension InterceptorConformance.Bench {
    /// The calls that neither ended nor reached the rest of the chain.
    func line(of calls: [InterceptorConformance.Call]) -> [InterceptorConformance.Call] {
        let arrived = Set(server.arrivals.map(\.request.url.path))
        return calls.filter { !$0.hasEnded && !arrived.contains($0.path) }
    }
}
