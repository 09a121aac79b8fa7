internal import Foundation
internal import InterceptorsCore

extension InterceptorConformance {
    static let responseLaws: [Law] = [
        Law(
            "theResponseComesBack",
            expected: "The caller must get the response of the rest of the chain: its status, its fields and its URL.",
            harm: "Otherwise the program acts on an answer that the server didn't give.",
            repair: "Return the response that next returned, changed only as a role says."
        ) { bench in
            bench.server.answer { arrival, server in server.usual(arrival.request, fields: ["X-A": "b"]) }
            let request = try bench.request()
            let response = try await bench.succeed(request)
            try bench.expect(response.status == 200, "A 200 came back as \(response.status).")
            if bench.roles.includes(.changesResponse) { return }
            try bench.expect(response.headerFields["X-A"] == "b", "A field of the response was gone.")
            // A role may let the interceptor change the URL that the server sees.
            let url = bench.server.arrivals.last?.request.url ?? request.url
            try bench.expect(
                response.url == url,
                "The response's URL came back as \(response.url?.absoluteString ?? "nil")."
            )
        },
        Law(
            "theContentComesBack",
            expected: "The content of a response must come back byte for byte.",
            harm: "Otherwise downloads are damaged, and nothing says so.",
            repair:
                "Return the body, or wrap it without changing the bytes; declare .changesResponse if you change them by contract.",
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
                try bench.expect(
                    content == bench.content,
                    "\(bench.content.count) bytes, \(name), came back as \(content.count) bytes, or changed."
                )
            }
        },
        Law(
            "theContextOfAResponseComesBack",
            expected: "The values in a response's context must come back to the caller.",
            harm: "Otherwise timings, attempts, trailers and the state of the cache are lost for logs and callers.",
            repair: "Change the response that next returned, instead of making a new HTTPResponse."
        ) { bench in
            bench.server.answer { arrival, server in
                var response = server.usual(arrival.request)
                response.context.mark = 9
                return response
            }
            let response = try await bench.succeed(try bench.request())
            try bench.expect(response.context.mark == 9, "A value in the response's context was gone.")
        },
        Law(
            "everyStatusComesBack",
            expected:
                "A response with any status must come back as a response, unless a role such as .judges or .retries says otherwise.",
            harm: "Otherwise outer interceptors that handle this status, such as a retry, never see it.",
            repair:
                "Return the response, or declare .judges if turning statuses into errors is the interceptor's purpose.",
            for: { !$0.judges && !$0.includes(.resends) && !$0.includes(.breaksCircuit) }
        ) { bench in
            for status in [HTTPResponse.Status(integerLiteral: 204), 304, 307, 401, 404, 429, 503] {
                bench.server.answer { arrival, server in server.usual(arrival.request, status) }
                do {
                    let response = try await bench.send(try bench.request("/\(status.code)"))
                    try bench.expect(response.status == status, "A \(status.code) came back as \(response.status).")
                } catch  where !(error is RuleFailure) {
                    throw bench.fail("A response with the status \(status.code) became an error: \(error).")
                }
            }
        },
        Law(
            "errorsKeepTheirCause",
            expected:
                "An error of the rest of the chain must reach the caller, as itself or as the underlying error of another.",
            harm:
                "Otherwise nobody learns why a call failed, and outer interceptors can't tell whether it may be repeated.",
            repair: "Rethrow the error, or keep it as HTTPError.underlying, with its context."
        ) { bench in
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
                    throw fresh.fail("When the rest threw \(kind), the caller got a \(response.status.code).")
                } catch  where !(error is RuleFailure) {
                    let text = "When the rest threw \(kind), the caller got \(type(of: error)) without the cause."
                    try fresh.expect(Self.holds(error, isKnown: isKnown), text)
                }
            }
        },
        Law(
            "contentLengthAgrees",
            expected: "A Content-Length must be the length of the content beside it, in requests and in responses.",
            harm: "Otherwise the server or the reader takes the content for cut off, or waits for more.",
            repair: "Whoever changes a body sets Content-Length, or removes it, together with digests."
        ) { bench in
            for mode in [ResponseBodyMode.buffered, .streamed] {
                let fresh = try bench.fresh()
                let response = try await fresh.succeed(try fresh.request(mode: mode))
                let field = response.headerFields[.contentLength]
                let length = response.body.length
                let count = try await Self.length(fresh, response)
                try fresh.expect(
                    field.map { $0 == String(count) } ?? true,
                    "A response of \(count) bytes came back with Content-Length: \(field ?? "")."
                )
                try fresh.expect(
                    length.map { $0 == Int64(count) } ?? true,
                    "A response's body announced \(length ?? 0) bytes and had \(count)."
                )
            }
            let text = String(repeating: "content ", count: 400)
            let fields: HTTPFields = [.contentLength: String(text.utf8.count)]
            _ = try await bench.succeed(try bench.request("/upload", .put, fields: fields, body: HTTPBody(text)))
            guard let arrived = bench.server.arrivals.last?.request else { return }
            let count = try await arrived.body.collect(upTo: 1 << 24).count
            let field = arrived.headerFields[.contentLength]
            try bench.expect(
                field.map { $0 == String(count) } ?? true,
                "A request with \(count) bytes went on with Content-Length: \(field ?? "")."
            )
        },
        Law(
            "aBufferedResponseStaysBuffered",
            expected: "The content of a buffered response must stay in memory.",
            harm: "Otherwise code that reads response.body.bytes, or reads the body twice, finds nothing.",
            repair:
                "Replace content in memory by content in memory: if let bytes = body.bytes { body = HTTPBody(change(bytes)) }."
        ) { bench in
            let response = try await bench.succeed(try bench.request())
            try bench.expect(response.body.bytes != nil, "A buffered response came back as \(response.body).")
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
            throw bench.fail("Reading a good response failed: \(error.message)")
        } catch  where !(error is RuleFailure) {
            throw bench.fail("Reading a good response failed: \(error).", as: "theContentComesBack")
        }
    }
}
