internal import Foundation

extension InterceptorConformance {
    static let concurrencyLaws: [Law] = [
        Law("everyPermitComesBack", repair: "Release when next throws, and at a body's end: onEnd(_:).") { bench in
            let before = try await Capacity.count(try bench.fresh(), expecting: nil)
            for end in Capacity.End.allCases {
                // Without a limit no call waits for its turn.
                if end == .isCancelledInTurn, before >= Capacity.calls { continue }
                let fresh = try bench.fresh()
                fresh.log.blame("everyPermitComesBack")
                defer { fresh.log.blame(nil) }
                // A call that doesn't end breaks another rule.
                guard try await Capacity.makeCalls(fresh, end, room: before) else { return }
                let after = try await Capacity.countLater(fresh, expecting: before)
                guard after != before else { continue }
                // Work elsewhere may be late before the first return from there shows that there is any.
                _ = await fresh.stage.reaches { fresh.stage.queue.otherThreadsCount > 0 }
                // If other threads take part, they may be late, and only a limit with room for no call is certain.
                if fresh.stage.queue.otherThreadsCount > 0, after > 0 { continue }
                // Time alone may change the number, such as for a credential that expires.
                guard try await Capacity.isKeptInTime(bench, before) else { return }
                throw RuleObservation(
                    "Of \(Capacity.calls) calls at once, \(before) reached the rest of the chain, and \(after) after \(Capacity.endings) calls \(end.rawValue)."
                )
            }
        },
        Law(
            "callsDontWaitForEachOther",
            repair: "Hold no lock, permit or actor's turn while you call next.",
            seeds: 3,
            for: { !$0.limits && !$0.answersItself }
        ) { bench in
            let gate = bench.server.answerBehindGate()
            let calls = try (0..<50).map { bench.start(try bench.request("/things/\($0)")) }
            let allArrive = await bench.stage.reaches { gate.waiting >= 50 || calls.allSatisfy(\.hasEnded) }
            let count = gate.waiting
            gate.open()
            for call in calls { _ = try? await call.outcome() }
            try expect(allArrive, "Of 50 calls at once, only \(count) reached the rest of the chain.")
        },
        Law("aThousandCallsGetTheirOwnResponses", repair: "Keep a call's state in local values.", seeds: 2) { bench in
            bench.server.answer { arrival, server in
                try await bench.world.clock.sleep(for: .milliseconds(arrival.number * 7 % 50))
                return server.usual(arrival.request)
            }
            let calls = try (1...1_000).map { number in
                var request = try bench.request("/things/\(number)")
                request.context.mark = number
                return bench.start(request)
            }
            for (number, call) in zip(1..., calls) {
                do {
                    try bench.check(try await call.outcome(), answers: number, "/things/\(number)")
                } catch  where !(error is RuleObservation) {
                    try expect(bench.roles.limits, "One of a thousand calls at once failed: \(error).")
                }
            }
        },
        Law(
            "aCallMayRunInsideAnother",
            repair: "Hold no lock or permit while you call next, or leave the inner call out of the limit.",
            for: { !$0.includes(.limitsConcurrency) }
        ) { bench in
            let hasInner = Guarded(false)
            bench.log.blame("aCallMayRunInsideAnother")
            bench.server.answer { arrival, server in
                if !hasInner.value {
                    hasInner.change { $0 = true }
                    var request = try bench.request("/inner")
                    request.context.mark = 2
                    try bench.check(try await bench.succeed(request), answers: 2, "/inner")
                }
                return server.usual(arrival.request)
            }
            var request = try bench.request("/outer")
            request.context.mark = 1
            try bench.check(try await bench.succeed(request), answers: 1, "/outer")
        },
        Law(
            "worksTwiceInAChain",
            repair: "Don't mark requests to recognise a second visit, and don't require to be the only one.",
            // An interceptor that changes content may not understand its own result. A call that has the only permit and waits for
            // a second one waits for itself.
            for: { !$0.includes(.changesResponse) && !$0.includes(.limitsConcurrency) }
        ) { bench in
            let own = bench.interceptor
            bench.log.blame("worksTwiceInAChain")
            for chain in [[own, own], [.group([own]), AnyInterceptor(own)]] as [[any Interceptor]] {
                var twice = bench
                twice.chain = chain
                do {
                    let response = try await twice.send(try bench.request())
                    try expect(
                        response.status == 200,
                        "Twice in a chain, the interceptor made a \(response.status) of a 200."
                    )
                } catch  where !(error is RuleObservation) {
                    throw RuleObservation("Twice in a chain, the interceptor failed: \(error).")
                }
            }
        },
        Law("answersOfTwoUsersAreNeverCrossed", repair: "Use request.caller in each key.", seeds: 5) { bench in
            bench.server.answer { arrival, server in
                // Known by the field, or by the context if an interceptor puts another credential into the field.
                let field = arrival.request.headers[.authorization] ?? ""
                let user =
                    field.hasPrefix("Bearer user-") ? String(field.dropFirst(12)) : "\(arrival.request.context.mark)"
                try await bench.world.clock.sleep(for: .milliseconds(20))
                return server.usual(arrival.request, fields: [.cacheControl: "max-age=600", "X-User": user])
            }
            for isAtOnce in [true, false] {
                var calls: [(user: Int, call: Call)] = []
                for user in [1, 2, 1, 3, 2] {
                    var request = try bench.request(fields: [.authorization: "Bearer user-\(user)"])
                    request.context.mark = user
                    let call = bench.start(request)
                    if !isAtOnce { _ = try? await call.outcome() }
                    calls.append((user, call))
                }
                for (user, call) in calls {
                    guard let response = try? await call.outcome() else { continue }
                    let other = response.headers["X-User"] ?? "\(user)"
                    try expect(other == "\(user)", "User \(user) got a response that was made for user \(other).")
                }
            }
        },
        Law("noThreadIsBlocked", repair: "Use await, or a @concurrent function for slow work.") { bench in
            bench.server.answer { arrival, server in
                try await bench.world.clock.sleep(for: .seconds(1))
                return server.usual(arrival.request)
            }
            let calls = try (0..<10).map { bench.start(try bench.request("/things/\($0)")) }
            for call in calls { _ = try? await call.outcome() }
        },
    ]
}

extension InterceptorConformance.Bench {
    /// Throws unless a response answers the call with a mark and a path.
    ///
    /// An interceptor may change the URL by contract, or lose the context and break another rule by that.
    fileprivate func check(_ response: HTTPResponse, answers mark: Int, _ path: String) throws {
        let answered = response.headers[ScriptedServer.markField].flatMap { Int($0) } ?? 0
        let answeredPath = response.headers[ScriptedServer.pathField] ?? path
        let isOwnPath = roles.rewritesRequest || answeredPath.hasSuffix(path)
        try expect(
            isOwnPath && [0, mark].contains(answered),
            "The call for \(path) got the response to \(answered > 0 && isOwnPath ? "call \(answered)" : answeredPath)."
        )
    }
}

/// How many calls an interceptor lets through at a time.
private enum Capacity {
    static let calls = 200
    static let endings = 40
    private static let mostYields = 100
    /// How long the check lets a limit recover. In years, a limit of one call a day gains room for all calls of the check. But
    /// credentials expire, and some limits count what they missed in a loop, so an hour comes first.
    private static let refills: [Duration] = [.seconds(3_600), .seconds(10 * 365 * 86_400)]

    /// How a call ends, as the end of a sentence.
    enum End: String, CaseIterable {
        case fails = "that failed"
        case isCancelled = "that were cancelled"
        case isCancelledAtOnce = "that were cancelled before they began"
        case isCancelledInTurn = "that were cancelled when their turn came"
        case isRead = "whose streams were read to their ends"
        case breaks = "whose streams broke"
        case isDiscarded = "whose streams were discarded"
        case isDropped = "whose streams were dropped"
    }

    /// How many of many calls at once reach the rest of the chain while no time passes.
    ///
    /// - Parameter number: the number to wait for, if other threads take part; all of the calls if it is `nil`.
    static func count(_ bench: InterceptorConformance.Bench, expecting number: Int?) async throws -> Int {
        let gate = bench.server.answerBehindGate()
        let all = try (0..<calls).map { bench.start(try bench.request("/together/\($0)")) }
        await bench.stage.idle()
        if bench.stage.queue.otherThreadsCount > 0 {
            _ = await bench.stage.reaches { gate.waiting + all.count(where: \.hasEnded) >= number ?? calls }
        }
        let reached = gate.waiting
        gate.open()
        for call in all { call.cancel() }
        await bench.stage.idle()
        return reached
    }

    /// How many calls reach the rest of the chain when the limit has had time to recover.
    static func countLater(_ bench: InterceptorConformance.Bench, expecting number: Int) async throws -> Int {
        var count = 0
        for refill in refills where count != number {
            try await recover(bench, refill)
            count = try await self.count(bench, expecting: number)
        }
        return count
    }

    /// Whether the number of calls stays the same when nothing but time passes.
    static func isKeptInTime(_ bench: InterceptorConformance.Bench, _ number: Int) async throws -> Bool {
        for refill in refills {
            let fresh = try bench.fresh()
            await fresh.stage.settle()
            fresh.world.clock.advance(by: refill)
            await fresh.stage.settle()
            guard try await count(fresh, expecting: number) == number else { return false }
        }
        return true
    }

    /// Makes calls that end in a way, and returns whether they ended.
    ///
    /// - Parameter room: how many calls the interceptor lets through at a time.
    static func makeCalls(_ bench: InterceptorConformance.Bench, _ end: End, room: Int) async throws -> Bool {
        if end == .isCancelledInTurn { return try await cancelInTurn(bench, room: room) }
        for _ in 0..<endings {
            guard try await makeCall(bench, end) else { return false }
        }
        return true
    }

    /// Fills the room, and cancels waiters at about the moment at which a permit comes back for them.
    private static func cancelInTurn(_ bench: InterceptorConformance.Bench, room: Int) async throws -> Bool {
        let gate = bench.server.answerBehindGate()
        var calls = try (0..<room).map { bench.start(try bench.request("/runs/\($0)")) }
        await bench.stage.idle()
        for number in 0..<endings {
            let waiter = bench.start(try bench.request("/waits/\(number)"))
            await bench.stage.idle()
            let ended = calls.count(where: \.hasEnded)
            guard gate.letOnePass() else { break }
            // Until the permit is back. The seed determines whether the waiter goes on with the permit before its cancellation.
            for _ in 0..<mostYields where calls.count(where: \.hasEnded) == ended { await Task.yield() }
            waiter.cancel()
            calls += [waiter, bench.start(try bench.request("/runs/\(room + number)"))]
            await bench.stage.idle()
        }
        for call in calls { call.cancel() }
        let haveEnded = await bench.stage.reaches { [calls] in calls.allSatisfy(\.hasEnded) }
        gate.open()
        return haveEnded
    }

    /// Makes a call that ends in a way, and returns whether it ended.
    private static func makeCall(_ bench: InterceptorConformance.Bench, _ end: End) async throws -> Bool {
        let gate = Gate()
        bench.server.answer { arrival, server in
            let broken = TransportError(.connectionLost, "The connection was lost.", request: arrival.request)
            if end == .fails { throw broken }
            if end == .isCancelled { try await gate.pass() }
            let breaks = end == .breaks ? ScriptedStream(server.content, in: 3, failingWith: broken) : nil
            return server.usual(arrival.request, stream: breaks)
        }
        switch end {
        case .fails: _ = try? await bench.send(try bench.request("/fails", .post, body: "content"))
        case .isCancelled:
            let call = bench.start(try bench.request("/waits"))
            await bench.stage.idle()
            call.cancel()
            let hasEnded = await bench.stage.reaches { call.hasEnded }
            gate.open()
            return hasEnded
        case .isCancelledAtOnce:
            let call = bench.start(try bench.request("/gone"))
            call.cancel()
            return await bench.stage.reaches { call.hasEnded }
        case .isRead, .breaks:
            guard let response = try? await bench.send(try bench.request("/things", mode: .streamed)) else { break }
            try await bench.drain(response.body)
        case .isDiscarded: (try? await bench.send(try bench.request("/things", mode: .streamed)))?.body.discard()
        case .isCancelledInTurn: break
        case .isDropped:
            _ = try? await bench.start(try bench.request("/things", mode: .streamed), keepsResponse: false).outcome()
        }
        return true
    }

    /// Lets the time of a rate limit pass, and closes an open circuit.
    private static func recover(_ bench: InterceptorConformance.Bench, _ refill: Duration) async throws {
        bench.server.answer { arrival, server in server.usual(arrival.request) }
        for isFirst in [true, false] {
            await bench.stage.settle()
            bench.world.clock.advance(by: refill)
            guard isFirst else { break }
            for _ in 0..<10 { _ = try? await bench.send(try bench.request("/again")) }
        }
        await bench.stage.settle()
    }
}
