internal import Foundation
internal import InterceptorsCore

extension InterceptorConformance {
    static let responseLaws: [Law] = [
        Law("theResponseComesBack", repair: "Return next's response, changed only as a role says.") { bench in
            bench.server.answer { arrival, server in server.usual(arrival.request, fields: ["X-A": "b"]) }
            let request = try bench.request()
            let response = try await bench.succeed(request)
            try expect(response.status == 200, "A 200 came back as \(response.status).")
            if bench.roles.includes(.changesResponse) { return }
            try expect(response.headerFields["X-A"] == "b", "A field of the response was gone.")
            // A role may let the interceptor change the URL that the server sees.
            let url = bench.server.arrivals.last?.request.url ?? request.url
            try expect(response.url == url, "The response's URL came back as \(response.url?.absoluteString ?? "nil").")
        },
        Law(
            "theContentComesBack",
            repair: "Return the body, or wrap it without changing the bytes, or declare .changesResponse.",
            for: { !$0.includes(.changesResponse) }
        ) { bench in
            for chunking in [nil] + Chunking.all(seed: bench.log.seed).map(Optional.some) {
                let fresh = try bench.fresh { arrival, server in
                    let length = Int64(server.content.count)
                    let stream = chunking.map { ScriptedStream($0.chunks(of: server.content), length: length) }
                    return server.usual(arrival.request, stream: stream)
                }
                let request = try fresh.request(mode: chunking == nil ? .buffered : .streamed)
                let content = try await fresh.read(try await fresh.succeed(request))
                let name = chunking.map { "streamed \($0.name)" } ?? "buffered"
                let count = bench.content.count
                try expect(content == bench.content, "\(count) bytes, \(name), came back as others.")
            }
        },
        Law("theContextOfAResponseComesBack", repair: "Change next's response, instead of making one.") { bench in
            bench.server.answer { arrival, server in
                var response = server.usual(arrival.request)
                response.context.mark = 9
                return response
            }
            let response = try await bench.succeed(try bench.request())
            try expect(response.context.mark == 9, "A value in the response's context was gone.")
        },
        Law(
            "everyStatusComesBack",
            repair: "Return the response, or declare .judges if the interceptor turns statuses into errors.",
            for: { !$0.judges && !$0.includes(.resends) && !$0.includes(.breaksCircuit) }
        ) { bench in
            for status in [HTTPResponse.Status(integerLiteral: 204), 304, 307, 401, 404, 429, 503] {
                bench.server.answer { arrival, server in server.usual(arrival.request, status) }
                do {
                    let response = try await bench.send(try bench.request("/\(status.code)"))
                    try expect(response.status == status, "A \(status.code) came back as \(response.status).")
                } catch  where !(error is RuleObservation) {
                    throw RuleObservation("A response with the status \(status.code) became an error: \(error).")
                }
            }
        },
        Law("errorsKeepTheirCause", repair: "Rethrow the error, or keep it as HTTPError.underlying.") { bench in
            for isKnown in [true, false] {
                let fresh = try bench.fresh { arrival, _ in
                    guard isKnown else { throw Broken() }
                    var error = TransportError(.connectionLost, "The connection was lost.", request: arrival.request)
                    error.context.mark = 5
                    throw error
                }
                let kind = isKnown ? "a TransportError" : "an error of another library"
                do {
                    let response = try await fresh.send(try fresh.request("/things", .post, body: "content"))
                    if fresh.roles.includes(.answers) || fresh.roles.includes(.stores) { continue }
                    throw RuleObservation("When the rest threw \(kind), the caller got a \(response.status.code).")
                } catch  where !(error is RuleObservation) {
                    let text = "When the rest threw \(kind), the caller got \(type(of: error)) without the cause."
                    try expect(Self.holds(error, isKnown: isKnown), text)
                }
            }
        },
        Law("contentLengthAgrees", repair: "Set Content-Length, or remove it, when you change a body.") { bench in
            for mode in [ResponseBodyMode.buffered, .streamed] {
                let fresh = try bench.fresh()
                let response = try await fresh.succeed(try fresh.request(mode: mode))
                let (field, length) = (response.headerFields[.contentLength], response.body.length)
                let count = try await Self.length(fresh, response)
                if let field { try expect(field, is: "\(count)", "The Content-Length of a response") }
                if let length { try expect(length, is: Int64(count), "The announced length of a response's body") }
            }
            let text = String(repeating: "content ", count: 400)
            let fields: HTTPFields = [.contentLength: String(text.utf8.count)]
            _ = try await bench.succeed(try bench.request("/upload", .put, fields: fields, body: HTTPBody(text)))
            guard let arrived = bench.server.arrivals.last?.request else { return }
            let count = try await arrived.body.collect(upTo: 1 << 24).count
            guard let field = arrived.headerFields[.contentLength] else { return }
            try expect(field, is: "\(count)", "The Content-Length of a request")
        },
        Law("aBufferedResponseStaysBuffered", repair: "Return a body of bytes, not a stream.") { bench in
            let response = try await bench.succeed(try bench.request())
            try expect(response.body.bytes != nil, "A buffered response came back as \(response.body).")
        },
    ]

    private struct Broken: Error {}

    private static func holds(_ error: any Error, isKnown: Bool) -> Bool {
        if isKnown, let error = error as? any HTTPError, error.context.mark == 5 { return true }
        if !isKnown, error is Broken { return true }
        guard let cause = (error as? any HTTPError)?.underlying else { return false }
        return holds(cause, isKnown: isKnown)
    }

    /// The number of bytes that a reader gets. A body that breaks its own announcement throws.
    private static func length(_ bench: Bench, _ response: HTTPResponse) async throws -> Int {
        do {
            return try await bench.log.whileReading { try await bench.readToEnd(response.body) }.count
        } catch let error as TransportError where error.code == .bodyLengthMismatch {
            throw RuleObservation("Reading a good response failed: \(error.message)")
        } catch  where !(error is RuleObservation) {
            throw RuleObservation("Reading a good response failed: \(error).", as: "theContentComesBack")
        }
    }
}
