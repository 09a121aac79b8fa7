internal import Foundation
internal import Interceptors

extension InterceptorConformance {
    static let concurrencyLaws: [Law] = [
        Law(
            "callsDontWaitForEachOther",
            expected: "Calls must run at the same time, unless a role such as .limits says otherwise.",
            harm: "Otherwise one slow answer holds up all other calls of the app.",
            repair: "Hold no lock, permit or actor's turn while you call next.",
            seeds: 3,
            for: { !$0.limits && !$0.answersItself }
        ) { bench in
            let gate = Gate()
            bench.server.answer { arrival, server in
                try await gate.pass()
                return server.usual(arrival.request)
            }
            let calls = try (0..<50).map { bench.start(try bench.request("/things/\($0)")) }
            let allArrive = await bench.stage.reaches { gate.waiting >= 50 || calls.allSatisfy(\.hasEnded) }
            let count = gate.waiting
            gate.open()
            for call in calls { _ = try? await call.outcome() }
            try bench.expect(allArrive, "Of 50 calls at once, only \(count) reached the rest of the chain.")
        },
        Law(
            "aThousandCallsGetTheirOwnResponses",
            expected: "Each of a thousand calls at once must end, with the response to its own request.",
            harm: "Otherwise users see each other's data, or calls that never end.",
            repair: "Keep nothing about a single call in the interceptor; keep it in local variables.",
            seeds: 2
        ) { bench in
            bench.server.answer { arrival, server in
                try await bench.world.clock.sleep(for: .milliseconds(arrival.number * 7 % 50))
                return server.usual(arrival.request)
            }
            let calls = try (0..<1_000).map { bench.start(try bench.request("/things/\($0)")) }
            for (number, call) in calls.enumerated() {
                do {
                    let answer = try await call.outcome().headerFields["X-Answer"] ?? ""
                    try bench.expect(
                        answer == "/things/\(number)",
                        "The call for /things/\(number) got the response to \(answer)."
                    )
                } catch let failure as InterceptorConformance.Failure {
                    throw failure
                } catch {
                    try bench.expect(bench.roles.limits, "One of a thousand calls at once failed: \(error).")
                }
            }
        },
        Law(
            "aCallMayRunInsideAnother",
            expected:
                "While a call waits for the rest of the chain, the rest may make another call through the same interceptor.",
            harm: "Otherwise a token refresh that goes through the same chain waits for itself.",
            repair: "Hold no lock or permit while you call next, or leave the inner call out of the limit.",
            for: { !$0.includes(.limitsConcurrency) }
        ) { bench in
            bench.server.answer { arrival, server in
                if arrival.request.url.path == "/outer" {
                    let inner = try await bench.succeed(try bench.request("/inner"))
                    inner.body.discard()
                }
                return server.usual(arrival.request)
            }
            let response = try await bench.succeed(try bench.request("/outer"))
            let answer = response.headerFields["X-Answer"] ?? ""
            try bench.expect(answer == "/outer", "A call with another one inside got the response to \(answer).")
        },
        Law(
            "worksTwiceInAChain",
            expected: "An interceptor must work twice in a chain, in a group, and in a chain inside a chain.",
            harm: "Otherwise a shared part of a chain breaks as soon as another part has the same interceptor.",
            repair: "Don't mark requests to recognise a second visit, and don't require to be the only one.",
            // An interceptor that changes content may not understand its own result.
            for: { !$0.includes(.changesResponse) }
        ) { bench in
            let own = bench.interceptor
            for chain in [[own, own], [.group([own]), AnyInterceptor(own)]] as [[any Interceptor]] {
                do {
                    let response = try await bench.send(try bench.request(), through: chain)
                    try bench.expect(
                        response.status == 200,
                        "Twice in a chain, the interceptor made a \(response.status) of a 200."
                    )
                } catch let failure as InterceptorConformance.Failure {
                    throw failure
                } catch {
                    throw bench.fail("Twice in a chain, the interceptor failed: \(error).")
                }
            }
        },
        Law(
            "answersOfTwoUsersAreNeverCrossed",
            expected: "A response to one user's request must never answer another user's.",
            harm: "Otherwise one user sees the private data of another.",
            repair: "Use request.caller as part of the key of whatever you keep or share.",
            seeds: 5
        ) { bench in
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
                    try bench.expect(other == "\(user)", "User \(user) got a response that was made for user \(other).")
                }
            }
        },
        Law(
            "noThreadIsBlocked",
            expected: "An interceptor must never block the thread that it runs on.",
            harm:
                "Otherwise the caller's actor, often the main actor, freezes, and a few calls stop the whole program.",
            repair:
                "Replace semaphores, sleep() and synchronous reading by await; put slow work into a @concurrent function."
        ) { bench in
            bench.server.answer { arrival, server in
                try await bench.world.clock.sleep(for: .seconds(1))
                return server.usual(arrival.request)
            }
            let calls = try (0..<10).map { bench.start(try bench.request("/things/\($0)")) }
            for call in calls { _ = try? await call.outcome() }
        },
    ]
}
