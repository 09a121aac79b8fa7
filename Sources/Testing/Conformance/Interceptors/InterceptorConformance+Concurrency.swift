internal import Foundation
internal import InterceptorsCore

extension InterceptorConformance {
    static let concurrencyLaws: [Law] = [
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
                do {
                    let response = try await bench.send(try bench.request(), through: chain)
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
                let field = arrival.request.headerFields[.authorization] ?? ""
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
                    let other = response.headerFields["X-User"] ?? "\(user)"
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
        let answered = response.headerFields[ScriptedServer.markField].flatMap { Int($0) } ?? 0
        let answeredPath = response.headerFields[ScriptedServer.pathField] ?? path
        let isOwnPath = roles.rewritesRequest || answeredPath.hasSuffix(path)
        try expect(
            isOwnPath && [0, mark].contains(answered),
            "The call for \(path) got the response to \(answered > 0 && isOwnPath ? "call \(answered)" : answeredPath)."
        )
    }
}
