internal import Foundation

extension InterceptorConformance {
    static let requestLaws: [Law] = [
        Law("theRequestGoesOnUnchanged", repair: "Declare a role such as .changesRequest for changes.") { bench in
            let fields: HTTPFields = [.accept: "application/json", "X-Many": "1", "X-Other": "x", "X-Many": "2"]
            for method in [HTTPRequest.Method.get, .post] {
                let body: HTTPBody = method == .post ? "the content of the request" : .empty
                _ = try await bench.succeed(try bench.request("/things?page=2", method, fields: fields, body: body))
                guard let arrived = bench.server.arrivals.last?.request else {
                    if bench.roles.answersItself { continue }
                    throw RuleObservation("A \(method) didn't reach the rest of the chain.")
                }
                try expect(arrived.method == method, "A \(method) arrived as \(arrived.method).")
                if bench.roles.rewritesRequest { continue }
                let path = arrived.url.path
                try expect(path == "/things", "A request for /things arrived as one for \(path).")
                let query = arrived.url.query() ?? ""
                let items = query.split(separator: "&")
                try expect(items.contains("page=2"), "The query page=2 arrived as \(query).")
                let sent = fields.map { "\($0.name.rawName): \($0.value)" }
                let received = arrived.headers.map { "\($0.name.rawName): \($0.value)" }
                let missing = sent.filter { !received.contains($0) }
                try expect(missing.isEmpty, "The field \(missing.first ?? "") didn't arrive.")
                let extra = received.filter { !sent.contains($0) }
                let mayAdd = bench.roles.addsFields
                try expect(
                    mayAdd || extra.isEmpty,
                    "A field \(extra.first ?? "") was added without a role that says so."
                )
                let content = try await arrived.body.collect(upTo: 1 << 20)
                let text = String(decoding: content, as: UTF8.self)
                try expect(
                    text == (method == .post ? "the content of the request" : ""),
                    "The content arrived as “\(text)”."
                )
            }
        },
        Law("theContextOfARequestGoesOn", repair: "Change the request, instead of making another one.") { bench in
            var request = try bench.request()
            request.context.mark = 7
            _ = try await bench.succeed(request)
            let marks = bench.server.arrivals.map(\.request.context.mark)
            try expect(marks.allSatisfy { $0 == 7 }, "A value in the request's context was gone.")
        },
        Law(
            "fieldsKeepTheirOrder",
            repair: "Append to HTTPFields or set single names; never sort fields or collect them in a dictionary."
        ) { bench in
            bench.server.answer { arrival, server in
                server.usual(
                    arrival.request,
                    fields: ["X-Many": "9", .setCookie: "b=1", "X-Many": "3", .setCookie: "a=2"]
                )
            }
            let request = try bench.request(fields: ["X-Many": "2", "X-After": "a", "X-Many": "1", "X-Before": "b"])
            let response = try await bench.succeed(request)
            let names: Set<HTTPField.Name> = ["X-Many", "X-After", "X-Before"]
            if !bench.roles.rewritesRequest, let arrived = bench.server.arrivals.last?.request {
                let values = arrived.headers.filter { names.contains($0.name) }.map(\.value)
                try expect(values == ["2", "a", "1", "b"], "Fields with the values 2, a, 1, b arrived as \(values).")
            }
            let many = response.headers[values: "X-Many"]
            try expect(many == ["9", "3"], "Two fields of a response with the values 9, 3 came back as \(many).")
        },
        Law(
            "aRequestsStreamStaysAStream",
            repair: "Pass request.body on, or wrap it with wrapped(length:_:) or map(_:); don't collect it.",
            for: { !$0.rewritesRequest && !$0.includes(.signs) }
        ) { bench in
            let stream = ScriptedStream(bench.content, in: 4)
            let atArrival = Guarded<Int?>(nil)
            bench.server.answer { arrival, server in
                atArrival.change { $0 = $0 ?? stream.pulls }
                _ = try await arrival.request.body.collect(upTo: 1 << 24)
                return server.usual(arrival.request)
            }
            _ = try await bench.succeed(try bench.request("/upload", .post, body: stream.body()))
            let count = atArrival.value ?? 0
            try expect(count == 0, "\(count) chunks of a streamed request were read before it was passed on.")
        },
        Law(
            "aOneShotBodyIsSentAtMostOnce",
            repair: "Before another attempt, throw TransportError.bodyNotReplayable unless body.isReadable."
        ) { bench in
            for answer in RefusingAnswer.all {
                for method in [HTTPRequest.Method.put, .post] {
                    let fresh = try bench.fresh { arrival, server in
                        _ = try? await arrival.request.body.collect(upTo: 1 << 24)
                        return try answer.respond(arrival, server)
                    }
                    let body = HTTPBody.oneShot(ScriptedStream([Data("the content".utf8)]).body())
                    let result = fresh.start(try fresh.request("/upload", method, body: body))
                    if let response = try? await result.outcome() { response.body.discard() }
                    let spent = fresh.server.arrivals.filter { !$0.isReadable }.count
                    try expect(
                        spent == 0,
                        "After \(answer.name), a \(method) was passed on again with a body that was used up."
                    )
                }
            }
        },
        Law(
            "eachAttemptIsTheSameRequest",
            repair: "Keep the request as it came, and call next with it again; change only what the role is about.",
            for: { $0.includes(.resends) }
        ) { bench in
            for answer in Attempts.answers {
                for method in [HTTPRequest.Method.get, .put, .post] {
                    let fresh = try bench.fresh()
                    try await Attempts.make(fresh, answer, method)
                    guard let difference = try await Attempts.difference(fresh.server.arrivals) else { continue }
                    throw RuleObservation("After \(answer?.name ?? "no answer for a time"), a \(method) \(difference).")
                }
            }
        },
        Law(
            "anAttemptThatLosesEnds",
            repair: "Cancel the other attempts, wait for them, and discard a response that one of them still returns.",
            for: { $0.includes(.resends) }
        ) { bench in
            for (first, second, ignoresCancellation) in Attempts.races {
                let fresh = try bench.fresh { arrival, server in
                    let time = Duration.seconds(arrival.number == 1 ? first : second)
                    do { try await bench.world.clock.sleep(for: time) } catch {
                        if !ignoresCancellation { throw error }
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

/// An answer that may make an interceptor send a request again.
struct RefusingAnswer: Sendable {
    let name: String
    private let status: HTTPResponse.Status?
    private let fields: HTTPFields

    static let all: [Self] = [
        Self(name: "a 503", status: 503, fields: [.retryAfter: "1"]),
        Self(name: "a 429", status: 429, fields: [.retryAfter: "1"]),
        Self(name: "a 401", status: 401, fields: [.wwwAuthenticate: #"Basic realm="a""#]),
        Self(name: "a 307", status: 307, fields: [.location: "/elsewhere"]),
        Self(name: "a 404", status: 404, fields: [:]),
        Self(name: "a 500", status: 500, fields: [:]),
        Self(name: "a lost connection", status: nil, fields: [:]),
    ]

    func respond(_ arrival: ScriptedServer.Arrival, _ server: ScriptedServer) throws -> HTTPResponse {
        guard let status else {
            throw TransportError(.connectionLost, "The connection was lost.", request: arrival.request)
        }
        return server.usual(arrival.request, status, fields: fields)
    }
}

/// Calls that may lead to several attempts.
private enum Attempts {
    typealias Bench = InterceptorConformance.Bench

    /// The answers to the first attempt; `nil` is a late response.
    static let answers: [RefusingAnswer?] = RefusingAnswer.all + [nil]

    /// When the attempts get their responses, in seconds, and whether the server goes on after a cancellation.
    static let races = [(60, 1, false), (20, 60, false), (60, 1, true), (20, 60, true)]

    private static let fields: HTTPFields = [.accept: "application/json", "X-Many": "1", "X-Other": "x", "X-Many": "2"]

    /// Makes a call whose first attempt gets an answer and whose later attempts succeed.
    static func make(_ bench: Bench, _ answer: RefusingAnswer?, _ method: HTTPRequest.Method) async throws {
        bench.server.answer { arrival, server in
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
    }

    /// How a later attempt differs from the first, as the end of a sentence.
    static func difference(_ arrivals: [ScriptedServer.Arrival]) async throws -> String? {
        guard let first = arrivals.first?.request, arrivals.count > 1 else { return nil }
        let content = try? await first.body.collect(upTo: 1 << 20)
        for later in arrivals.dropFirst().map(\.request) {
            if later.context.mark != first.context.mark { return "was sent again without the values of its context" }
            if later.method != first.method { return "was sent again as a \(later.method)" }
            let laterContent = try? await later.body.collect(upTo: 1 << 20)
            if laterContent != content { return "was sent again with another content" }
            for name in Set(fields.map(\.name) + [.idempotencyKey])
            where later.headers[values: name] != first.headers[values: name] {
                return "was sent again with another field \(name)"
            }
        }
        return nil
    }
}
