internal import Foundation
internal import InterceptorsCore
internal import InterceptorsInsight

extension InterceptorConformance {
    static let callerLaws: [Law] = [
        Law(
            "taskLocalsReachTheRest",
            repair: "Call next on the caller's task, in a child task or in Task { }, never in Task.detached."
        ) { bench in
            let value = try await CallerValue.$number.withValue(42) {
                _ = try await bench.succeed(try bench.request())
                return bench.server.arrivals.last?.taskLocal ?? 42
            }
            try expect(value == 42, "The caller's task-local value was gone.")
        },
        Law("noTaskOutlivesItsCall", repair: "Use child tasks, or cancel your tasks and wait for them.") { bench in
            await bench.stage.idle()
            // An interceptor may have a timer that no call starts.
            let timers = bench.world.clock.pendingSleeps
            let call = bench.start(try bench.request(mode: .streamed), keepsResponse: false, reading: bench.drain)
            _ = try? await call.outcome()
            try call.throwFailure()
            await bench.stage.idle()
            let sleeps = bench.world.clock.pendingSleeps - timers
            try expect(sleeps <= 0, "After the call, \(sleeps) sleeps were left on the clock.")
            try expect(!call.hasTasks, "After the call, a task that it started went on.")
        },
        Law(
            "timeComesFromTheWorld",
            repair: "Sleep on the clock of a TimeSource; leave out this rule if the interceptor needs a thread.",
            for: { !$0.includes(.stores) }
        ) { bench in
            let before = bench.stage.queue.otherThreadsCount
            for answer in RefusingAnswer.all {
                let fresh = try bench.fresh { arrival, server in
                    arrival.number == 1 ? try answer.respond(arrival, server) : server.usual(arrival.request)
                }
                (try? await fresh.send(try fresh.request()))?.body.discard()
            }
            let calls = try (0..<20).map { bench.start(try bench.request("/things/\($0)")) }
            for call in calls { _ = try? await call.outcome() }
            let count = bench.stage.queue.otherThreadsCount - before
            try expect(
                count == 0,
                "The interceptor waited \(count) times for a clock of the system, or for another thread."
            )
        },
        Law("noSecretIsPrinted", repair: "Put request.summary, and no credential, into descriptions.") { bench in
            let secrets = [bench.world.secret, "request-secret-9", "query-secret-9", "response-secret-9"]
            func look(at text: String, _ what: String) throws {
                guard let secret = secrets.first(where: { text.contains($0) }) else { return }
                let owner = secret == bench.world.secret ? "its own credential" : "a secret of the call"
                throw RuleObservation("\(what) showed \(owner).")
            }
            let own: Any = (bench.interceptor as? AnyInterceptor)?.base ?? bench.interceptor
            try look(at: "\(own)", "The interceptor's description")
            try look(at: String(reflecting: own), "The interceptor's debug description")
            for answer in RefusingAnswer.all {
                let fresh = try bench.fresh { arrival, server in
                    var response = try answer.respond(arrival, server)
                    response.headerFields[.setCookie] = "session=response-secret-9"
                    return response
                }
                let fields: HTTPFields = [.authorization: "Bearer request-secret-9"]
                let journal = Journal(time: fresh.world.time)
                do {
                    let request = try fresh.request("/things?access_token=query-secret-9", fields: fields)
                    let response = try await fresh.send(request, journal: journal)
                    response.body.discard()
                } catch {
                    let text = "\(error) \(String(reflecting: error)) \(error.localizedDescription)"
                    try look(at: text, "After \(answer.name), the text of the \(type(of: error))")
                }
                let notes = journal.calls.compactMap(\.root).flatMap(Self.notes(of:))
                try look(at: notes.joined(separator: "\n"), "After \(answer.name), a note in the journal")
            }
        },
    ]

    private static func notes(of step: JournalCall.Step) -> [String] {
        step.notes.map(\.description) + step.steps.flatMap(notes(of:))
    }
}
