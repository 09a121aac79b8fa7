internal import Foundation
internal import InterceptorsCore

extension InterceptorConformance {
    static let chunkLaws: [Law] = [
        Law(
            "theContentIsTheSameInAnyChunks",
            expected:
                "The same content must give the same result in memory and as a stream, wherever its chunks begin and end.",
            harm: "Otherwise the content depends on the network: it is damaged now and then, and no test repeats it.",
            repair:
                "Keep an incomplete end of a chunk in the iterator, put the next chunk behind it, and return the rest at the end.",
            for: { $0.includes(.changesResponse) }
        ) { bench in try await ChunkedExchange.compare(bench, "came back", ChunkedExchange.response) },
        Law(
            "aRequestsContentIsTheSameInAnyChunks",
            expected: "A request's content must go on the same from memory and from a stream, in any chunks.",
            harm: "Otherwise uploads are damaged, depending on how fast their content is made.",
            repair:
                "Pass a streamed body on, or keep an incomplete end of a chunk in the iterator until the next chunk comes.",
            for: { !$0.includes(.compresses) }
        ) { bench in
            // An interceptor may refuse streams, such as one that signs content, but not by their chunks.
            try await ChunkedExchange.compare(bench, "went on", mayRefuse: true, ChunkedExchange.request)
        },
    ]
}

/// Calls with content in memory or in chunks.
private enum ChunkedExchange {
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
        _ bench: InterceptorConformance.Bench,
        _ event: String,
        mayRefuse: Bool = false,
        _ exchange: (InterceptorConformance.Bench, ContentSample, Chunking?) async throws -> Result
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
                try bench.expect(
                    streamed == expected || streamed == .coded,
                    "Of \(sample.name), \(whole) \(event) from memory, and \(streamed.description(comparedWith: whole)) from a stream \(chunking.name)."
                )
            }
        }
    }

    /// Sends a response through the interceptor, and returns the content that the caller gets.
    ///
    /// - Parameter chunking: cuts a streamed response; a response in memory if it is `nil`.
    static func response(
        _ bench: InterceptorConformance.Bench,
        _ sample: ContentSample,
        _ chunking: Chunking?
    ) async throws -> Result {
        let fresh = try bench.fresh()
        let length = Int64(sample.content.count)
        let stream = chunking.map { ScriptedStream($0.chunks(of: sample.content), length: length) }
        fresh.server.answer { arrival, server in
            var response = server.usual(arrival.request, stream: stream)
            response.headerFields[.contentType] = sample.type
            response.headerFields[.contentLength] = String(sample.content.count)
            if stream == nil { response.body = HTTPBody(sample.content) }
            return response
        }
        let request = try fresh.request(mode: chunking == nil ? .buffered : .streamed)
        return try await result { .content(try await fresh.readToEnd(try await fresh.send(request).body)) }
    }

    /// Sends a request through the interceptor, and returns the content that the rest of the chain gets.
    ///
    /// - Parameter chunking: cuts a streamed request; a request in memory if it is `nil`.
    static func request(
        _ bench: InterceptorConformance.Bench,
        _ sample: ContentSample,
        _ chunking: Chunking?
    ) async throws -> Result {
        let fresh = try bench.fresh()
        let arrived = Guarded<Result?>(nil)
        fresh.server.answer { arrival, server in
            let content = try await arrival.request.body.collect(upTo: 1 << 26)
            let isCoded = arrival.request.headerFields.contains(.contentEncoding)
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
        do { return try await body() } catch  where !(error is RuleFailure) {
            return .failed
        }
    }
}
