internal import Foundation
internal import InterceptorsCore

extension InterceptorConformance {
    static let attemptLaws: [Law] = [
        Law(
            "eachAttemptIsTheSameRequest",
            repair: "Keep the request as it came, and call next with it again; change only what the role is about.",
            for: { $0.includes(.resends) }
        ) { bench in
            for answer in Attempts.answers {
                for method in [HTTPRequest.Method.get, .put, .post] {
                    let fresh = try bench.fresh()
                    let marks = try await Attempts.make(fresh, answer, method)
                    guard let difference = try await Attempts.difference(fresh.server.arrivals, marks) else { continue }
                    throw RuleObservation("After \(answer?.name ?? "no answer for a time"), a \(method) \(difference).")
                }
            }
        },
        Law(
            "anAttemptThatLosesEnds",
            repair: "Cancel the other attempts, wait for them, and discard a response that one of them still returns.",
            for: { $0.includes(.resends) }
        ) { bench in
            for race in Attempts.races {
                let fresh = try bench.fresh { arrival, server in
                    let time = arrival.number == 1 ? race.first : race.second
                    do { try await bench.world.clock.sleep(for: time) } catch {
                        if !race.ignoresCancellation { throw error }
                    }
                    return server.usual(arrival.request)
                }
                if let response = try? await fresh.send(try fresh.request(mode: .streamed)) {
                    try await fresh.drain(response.body)
                }
                await fresh.stage.idle()
                let (running, open) = (fresh.server.running, fresh.server.openStreams.count)
                try expect(running == 0, "After the call, \(running) other attempts went on.")
                try expect(open == 0, "After the call, the bodies of \(open) other attempts stayed open.")
            }
        },
    ]
}

/// Calls that may lead to several attempts.
private enum Attempts {
    /// The answers to the first attempt; `nil` is a late response.
    static let answers: [RefusingAnswer?] = RefusingAnswer.all + [nil]

    /// When the attempts get their responses, and whether the server goes on after a cancellation.
    struct Race: Sendable {
        let first: Duration
        let second: Duration
        let ignoresCancellation: Bool
    }

    static let races: [Race] = [false, true].flatMap { ignores in
        [
            Race(first: .seconds(60), second: .seconds(1), ignoresCancellation: ignores),
            Race(first: .seconds(20), second: .seconds(60), ignoresCancellation: ignores),
        ]
    }

    private static let fields: HTTPFields = [.accept: "application/json", "X-Many": "1", "X-Other": "x", "X-Many": "2"]

    /// Makes a call whose first attempt gets an answer and whose later attempts succeed. Returns the mark in the context of each
    /// attempt.
    static func make(
        _ bench: InterceptorConformance.Bench,
        _ answer: RefusingAnswer?,
        _ method: HTTPRequest.Method
    ) async throws -> [Int] {
        let marks = Guarded<[Int]>([])
        bench.server.answer { arrival, server in
            marks.change { $0.append(arrival.request.context.mark) }
            guard arrival.number == 1 else { return server.usual(arrival.request) }
            if let answer { return try answer.respond(arrival, server) }
            try await bench.world.clock.sleep(for: .seconds(100))
            return server.usual(arrival.request)
        }
        var fields = fields
        if method == .post { fields[.idempotencyKey] = "the caller's key" }
        let content = { @Sendable in ScriptedStream([Data("the content".utf8)]).body() }
        let body: HTTPBody = method == .get ? .empty : method == .put ? .restartable { content() } : "the content"
        var request = try bench.request("/things?page=2", method, fields: fields, body: body)
        request.context.mark = 7
        (try? await bench.send(request))?.body.discard()
        return marks.value
    }

    /// How a later attempt differs from the first, as the end of a sentence.
    static func difference(_ arrivals: [ScriptedServer.Arrival], _ marks: [Int]) async throws -> String? {
        guard let first = arrivals.first?.request, arrivals.count > 1 else { return nil }
        if marks.contains(where: { $0 != marks.first }) { return "was sent again without the values of its context" }
        let content = try? await first.body.collect(upTo: 1 << 20)
        for later in arrivals.dropFirst().map(\.request) {
            if later.method != first.method { return "was sent again as a \(later.method)" }
            let laterContent = try? await later.body.collect(upTo: 1 << 20)
            if laterContent != content { return "was sent again with another content" }
            for name in Set(fields.map(\.name) + [.idempotencyKey])
            where later.headerFields[values: name] != first.headerFields[values: name] {
                return "was sent again with another field \(name)"
            }
        }
        return nil
    }
}
