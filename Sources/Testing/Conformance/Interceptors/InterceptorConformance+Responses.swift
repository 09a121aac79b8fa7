internal import Foundation

extension InterceptorConformance {
    static let responseLaws: [Law] = [
        Law("theResponseComesBack", repair: "Return next's response, changed only as a role says.") { bench in
            bench.server.answer { arrival, server in server.usual(arrival.request, fields: ["X-A": "b"]) }
            let request = try bench.request()
            let response = try await bench.succeed(request)
            try expect(response.status == 200, "A 200 came back as \(response.status).")
            if bench.roles.includes(.changesResponse) { return }
            try expect(response.headers["X-A"] == "b", "A field of the response was gone.")
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
            repair: "Return the response, or declare .validates if the interceptor turns statuses into errors.",
            for: { !$0.validates && !$0.includes(.resends) && !$0.includes(.breaksCircuit) }
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
                let (field, length) = (response.headers[.contentLength], response.body.length)
                let count = try await Self.length(fresh, response)
                if let field { try expect(field, is: "\(count)", "The Content-Length of a response") }
                if let length { try expect(length, is: Int64(count), "The announced length of a response's body") }
            }
            let text = String(repeating: "content ", count: 400)
            let fields: HTTPFields = [.contentLength: String(text.utf8.count)]
            _ = try await bench.succeed(try bench.request("/upload", .put, fields: fields, body: HTTPBody(text)))
            guard let arrived = bench.server.arrivals.last?.request else { return }
            let count = try await arrived.body.collect(upTo: 1 << 24).count
            guard let field = arrived.headers[.contentLength] else { return }
            try expect(field, is: "\(count)", "The Content-Length of a request")
        },
        Law("aBufferedResponseStaysBuffered", repair: "Return a body of bytes, not a stream.") { bench in
            let response = try await bench.succeed(try bench.request())
            try expect(response.body.data != nil, "A buffered response came back as \(response.body).")
        },
        Law(
            "theContentIsTheSameInAnyChunks",
            repair: "Keep an incomplete end of a chunk in the iterator until the next chunk or the end comes.",
            for: { $0.includes(.changesResponse) }
        ) { bench in try await ChunkedExchange.compare(bench, "came back", ChunkedExchange.response) },
        Law(
            "aRequestsContentIsTheSameInAnyChunks",
            repair: "Pass a streamed body on, or keep the incomplete end of a chunk until the next one comes.",
            for: { !$0.includes(.compresses) }
        ) { bench in
            // An interceptor may refuse streams, such as one that signs content, but not by their chunks.
            try await ChunkedExchange.compare(bench, "went on", mayRefuse: true, ChunkedExchange.request)
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

/// Calls with content in memory or in chunks.
private enum ChunkedExchange {
    typealias Bench = InterceptorConformance.Bench

    /// The content as its reader gets it.
    enum Result: Equatable, CustomStringConvertible {
        case content(Data)
        /// Compressed bytes depend on the chunks, and their meaning doesn't.
        case coded
        case failed

        var description: String {
            switch self {
            case .content(let bytes): "\(bytes.count) bytes"
            case .coded: "content under a coding"
            case .failed: "an error"
            }
        }

        /// As the description, with the first byte that differs.
        func description(comparedWith other: Self) -> String {
            guard case .content(let bytes) = self, case .content(let others) = other else { return description }
            let same = zip(bytes, others).prefix { $0 == $1 }.count
            return "\(description) that differ from byte \(same) on"
        }
    }

    /// Throws unless samples give the same results in memory and as streams.
    static func compare(
        _ bench: Bench,
        _ event: String,
        mayRefuse: Bool = false,
        _ exchange: (Bench, ContentSample, Chunking?) async throws -> Result
    ) async throws {
        for sample in ContentSample.all(with: bench.content) {
            let whole = try await exchange(bench, sample, nil)
            // An interceptor whose results differ from call to call can't be compared.
            guard try await exchange(bench, sample, nil) == whole, whole != .coded else { continue }
            let all = Chunking.all(seed: bench.log.seed)
            let first = try await exchange(bench, sample, all[0])
            // An interceptor may leave streams of a format alone that it refuses in memory.
            let isLeftAlone = whole == .failed && first == .content(sample.content)
            let expected = isLeftAlone || mayRefuse && first == .failed ? first : whole
            for chunking in all {
                let streamed = try await exchange(bench, sample, chunking)
                try expect(
                    streamed == expected || streamed == .coded,
                    "Of \(sample.name), \(whole) \(event) from memory, and \(streamed.description(comparedWith: whole)) from a stream \(chunking.name)."
                )
            }
        }
    }

    /// Sends a response through the interceptor, and returns the content that the caller gets.
    ///
    /// - Parameter chunking: cuts a streamed response; a response in memory if it is `nil`.
    static func response(_ bench: Bench, _ sample: ContentSample, _ chunking: Chunking?) async throws -> Result {
        let fresh = try bench.fresh()
        let length = Int64(sample.content.count)
        let stream = chunking.map { ScriptedStream($0.chunks(of: sample.content), length: length) }
        fresh.server.answer { arrival, server in
            var response = server.usual(arrival.request, stream: stream)
            response.headers[.contentType] = sample.type
            response.headers[.contentLength] = String(sample.content.count)
            if stream == nil { response.body = HTTPBody(sample.content) }
            return response
        }
        let request = try fresh.request(mode: chunking == nil ? .buffered : .streamed)
        return try await result { .content(try await fresh.readToEnd(try await fresh.send(request).body)) }
    }

    /// Sends a request through the interceptor, and returns the content that the rest of the chain gets.
    ///
    /// - Parameter chunking: cuts a streamed request; a request in memory if it is `nil`.
    static func request(_ bench: Bench, _ sample: ContentSample, _ chunking: Chunking?) async throws -> Result {
        let fresh = try bench.fresh()
        let arrived = Guarded<Result?>(nil)
        fresh.server.answer { arrival, server in
            let content = try await arrival.request.body.collect(upTo: 1 << 26)
            let isCoded = arrival.request.headers.contains(.contentEncoding)
            arrived.change { $0 = $0 ?? (isCoded ? .coded : .content(content)) }
            return server.usual(arrival.request)
        }
        let body = chunking.map { chunking in
            let chunks = chunking.chunks(of: sample.content)
            return HTTPBody.restartable { ScriptedStream(chunks).body() }
        }
        let request = try fresh.request(
            "/upload",
            .put,
            fields: [.contentType: sample.type],
            body: body ?? HTTPBody(sample.content)
        )
        return try await result {
            try await fresh.send(request).body.discard()
            // A request may be answered without the rest of the chain.
            return arrived.value ?? .content(sample.content)
        }
    }

    private static func result(_ body: () async throws -> Result) async throws -> Result {
        do { return try await body() } catch  where !(error is RuleObservation) {
            return .failed
        }
    }
}

/// A way to cut content into chunks.
struct Chunking: Sendable {
    /// As the end of a sentence, such as `byte by byte`.
    let name: String
    private let size: @Sendable () -> Int

    /// Content may have megabytes, and each chunk costs a step of the check.
    private static let mostChunks = 16_384

    /// The ways to cut content, some of them at pseudo-random borders.
    static func all(seed: UInt64) -> [Self] {
        let random = RandomSource.seeded(seed)
        return [Self(name: "in one chunk") { .max }, Self(name: "byte by byte") { 1 }]
            + [4, 64, 512].map { most in
                Self(name: "in chunks of 1 to \(most) bytes") { 1 + Int(random.next() % UInt64(most)) }
            }
    }

    /// Cuts content. Chunks of long content are longer.
    func chunks(of content: Data) -> [Data] {
        let scale = 1 + content.count / Self.mostChunks
        var (chunks, start) = ([Data](), content.startIndex)
        while start < content.endIndex {
            let length = min(size(), content.count) * scale
            let end = content.index(start, offsetBy: length, limitedBy: content.endIndex) ?? content.endIndex
            chunks.append(Data(content[start..<end]))
            start = end
        }
        return chunks
    }
}

/// Content that transformers are likely to change: line ends, characters of several bytes, escapes, markup, any bytes.
struct ContentSample: Sendable {
    let name: String
    let type: String
    let content: Data

    /// The samples of every check, and the content that the author gave.
    static func all(with own: Data) -> [Self] {
        let (texts, events) = ((0..<12).map(text).joined(), (0..<12).map(event).joined())
        return [
            Self(name: "the check's own content", type: "application/json", content: own),
            Self(name: "text", type: "text/plain; charset=utf-8", content: Data(texts.utf8)),
            Self(name: "JSON", type: "application/json", content: Data(json.utf8)),
            Self(name: "a stream of events", type: "text/event-stream", content: Data(events.utf8)),
            Self(name: "binary content", type: "application/octet-stream", content: binary),
        ]
    }

    private static func text(_ number: Int) -> String {
        "Line \(number)\r\n\tno\u{301}n \u{1F469}\u{200D}\u{1F680} “ä”  \n\r\n\r<p class=\"a\">a &amp; b</p> 100%25,secret=\(number)\r\r\n"
    }

    private static func event(_ number: Int) -> String {
        "id: \(number)\nevent: tick\ndata: {\"n\":\(number)}\r\ndata: ∑ and more\n\n"
    }

    private static let json =
        "["
        + (0..<12).map { #"{"id":\#($0),"a b":"\u00e9\n\"ß\"\\","list":[1.5e3,true,null,{"x":"\ud83d\ude80"}]}"# }
        .joined(separator: ",\r\n") + "]\n"

    private static let binary: Data = {
        let random = RandomSource.seeded(7)
        return Data((0...255).map { UInt8($0) } + (0..<768).map { _ in UInt8(truncatingIfNeeded: random.next()) })
    }()
}
