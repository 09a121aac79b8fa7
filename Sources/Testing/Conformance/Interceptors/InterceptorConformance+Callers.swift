internal import Foundation
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
                var fresh = try bench.fresh { arrival, server in
                    var response = try answer.respond(arrival, server)
                    response.headers[.setCookie] = "session=response-secret-9"
                    return response
                }
                let fields: HTTPFields = [.authorization: "Bearer request-secret-9"]
                fresh.journal = Journal(time: fresh.world.time)
                do {
                    let request = try fresh.request("/things?access_token=query-secret-9", fields: fields)
                    try await fresh.send(request).body.discard()
                } catch {
                    let text = "\(error) \(String(reflecting: error)) \(error.localizedDescription)"
                    try look(at: text, "After \(answer.name), the text of the \(type(of: error))")
                }
                let notes = fresh.journal?.calls.compactMap(\.root).flatMap(Self.notes(of:)) ?? []
                try look(at: notes.joined(separator: "\n"), "After \(answer.name), a note in the journal")
            }
        },
        Law(
            "eachCallIsSentOnce",
            repair: "Call next once on every path, or declare the role that says otherwise.",
            for: { !$0.includes(.resends) && !$0.answersItself && !$0.includes(.breaksCircuit) }
        ) { bench in
            for answer in RefusingAnswer.all {
                for method in [HTTPRequest.Method.get, .post] {
                    let fresh = try bench.fresh { try answer.respond($0, $1) }
                    let body: HTTPBody = method == .post ? "content" : .empty
                    (try? await fresh.send(try fresh.request("/things", method, body: body)))?.body.discard()
                    await fresh.stage.settle()
                    let count = fresh.server.arrivals.count
                    try expect(count == 1, "A \(method) that got \(answer.name) was sent \(count) times.")
                }
            }
        },
        Law(
            "aPostOfUnknownFateIsNotRepeated",
            repair: "Repeat only if the method is idempotent, there is a key, or the error says sentNothing.",
            for: { $0.includes(.resends) }
        ) { bench in
            for isLate in [false, true] {
                let fresh = try bench.fresh { arrival, _ in
                    if isLate { try await bench.world.clock.sleep(for: .seconds(100)) }
                    throw TransportError(.connectionLost, "The connection was lost.", request: arrival.request)
                }
                _ = try? await fresh.send(try fresh.request("/orders", .post, body: "an order"))
                let arrivals = fresh.server.arrivals
                let keys = Set(arrivals.map { $0.request.headers[.idempotencyKey] })
                let end = isLate ? "didn't answer for a time" : "lost its connection"
                let kind = keys.contains(nil) ? "without a key" : "with \(keys.count) keys"
                try expect(
                    arrivals.count <= 1 || keys.count == 1 && !keys.contains(nil),
                    "A POST that \(end) was sent \(arrivals.count) times \(kind)."
                )
            }
        },
        Law(
            "aCredentialGoesToItsOriginOnly",
            repair: "Add the credential only if Origin(request.url) is the credential's origin.",
            for: { $0.includes(.addsCredentials) }
        ) { bench in
            for (scheme, host) in Self.strangers {
                let fresh = try bench.fresh()
                _ = try? await fresh.send(try fresh.request(scheme: scheme, host: host))
                for arrival in fresh.server.arrivals {
                    try expect(!fresh.showsSecret(arrival.request), "The credential was sent to \(scheme)://\(host).")
                }
            }
        },
        Law(
            "aCredentialIsDeclared",
            repair: "Call request.identifyCaller(by:as:) for each request, before you add the credential.",
            for: { $0.includes(.identifiesCaller) && $0.includes(.addsCredentials) }
        ) { bench in
            var request = try bench.request()
            request.shareResponse(by: "cache")
            do {
                _ = try await bench.send(request)
            } catch {
                return
            }
            for arrival in bench.server.arrivals {
                try expect(
                    !bench.showsSecret(arrival.request),
                    "A credential was added inside a cache, and no error said so."
                )
            }
        },
        Law("aSharedResponseIsDeclared", repair: "Call shareResponse(by:).", for: { $0.includes(.shares) }) { bench in
            bench.server.answer { $1.usual($0.request, fields: [.cacheControl: "max-age=600"]) }
            _ = try await bench.succeed(try bench.request())
            try expect(
                bench.server.arrivals.allSatisfy { $0.sharedBy != nil },
                "A request whose response is shared went on without saying so."
            )
        },
    ]

    private static func notes(of step: JournalCall.Step) -> [String] {
        step.notes.map(\.description) + step.steps.flatMap(notes(of:))
    }

    /// Servers that resemble the one of a credential.
    private static let strangers = [
        ("https", "other.example"), ("http", "api.example.com"), ("https", "api.example.com:8443"),
        ("https", "evil-api.example.com"), ("https", "api.example.com.other.example"), ("https", "example.com"),
        ("https", "v2.api.example.com"),
    ]
}

extension InterceptorConformance.Bench {
    /// Whether the URL or a field of a request has the credential, in plain text or in Base64.
    fileprivate func showsSecret(_ request: HTTPRequest) -> Bool {
        let texts = [request.url.absoluteString] + request.headers.map(\.value)
        for text in texts {
            if text.contains(world.secret) { return true }
            let words = text.components(separatedBy: CharacterSet(charactersIn: " ,;="))
            for word in words {
                let padding = String(repeating: "=", count: (4 - word.count % 4) % 4)
                guard let bytes = Data(base64Encoded: word + padding) else { continue }
                if String(decoding: bytes, as: UTF8.self).contains(world.secret) { return true }
            }
        }
        return false
    }
}
