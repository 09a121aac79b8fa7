import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization
import Testing

@testable import InterceptorsRecordings

/// Captures of responses, and their playback.
@Suite(.againstHanging) struct RecordingCaptureTests {
    private let tape: TapeFile
    private let clock = ManualClock()

    init() throws { tape = try TapeFile() }

    private func streamed(_ path: String) throws -> HTTPRequest {
        var request = HTTPRequest(url: try tapeURL(path))
        request.context.responseBody = .streamed
        return request
    }

    private func chunks(of response: HTTPResponse) async throws -> [String] {
        var chunks: [String] = []
        for try await chunk in response.body { chunks.append(String(decoding: chunk, as: UTF8.self)) }
        return chunks
    }

    @Test func statusFieldsAndContentPlayAsTheyCame() async throws {
        let fields: HTTPFields = [
            "X-A": "1", "x-a": "2", .contentType: "application/octet-stream", "X-Ünicode": "grün",
        ]
        let body = Data((0...255).map { UInt8($0) })
        let server = StubTransport.stub(.data(body, status: 418, headers: fields))
        let recording = tape.recording(.all)
        let real = try await recording.send(HTTPRequest(url: try tapeURL("/a")), over: server)
        try recording.finish()
        let played = try await tape.recording(.none).send(HTTPRequest(url: try tapeURL("/a")), over: NoServer())
        for response in [real, played] {
            #expect(response.status == 418)
            #expect(response.headers == fields)
            #expect(response.body.data == body)
            #expect(response.url == (try tapeURL("/a")))
        }
    }

    @Test func streamsKeepTheirChunksAndTheirPauses() async throws {
        let parts = ["one", "two", "three"].map { Data($0.utf8) }
        let server = StubTransport(time: .manual(clock))
        server.enqueue(.stream(parts, every: .seconds(2)).delayed(by: .seconds(1)))
        let recording = tape.recording(.all, time: .manual(clock))
        let real = try await clock.run {
            try await chunks(of: try await recording.send(try streamed("/a"), over: server))
        }
        #expect(real == ["one", "two", "three"])
        try recording.finish()
        let played = tape.recording(.none, repeatingPauses: true, time: .manual(clock))
        let start = clock.now
        let replay = try await clock.run {
            try await chunks(of: try await played.send(try streamed("/a"), over: NoServer()))
        }
        #expect(replay == ["one", "two", "three"])
        #expect(start.duration(to: clock.now) == .seconds(5))
        #expect(try await tape.recording(.none).get("/a") == "onetwothree", "buffered, without pauses")
    }

    @Test(arguments: [ResponseBodyMode.buffered, .streamed], [[:], ["X-Rows": "2", "Via": "1.1 a"]] as [HTTPFields])
    func trailersPlayAsTheyCame(mode: ResponseBodyMode, trailers: HTTPFields) async throws {
        let server = StubTransport.stub(.stream([Data("a".utf8), Data("b".utf8)], trailers: trailers))
        let recording = tape.recording(.all)
        var request = HTTPRequest(url: try tapeURL("/a"))
        request.context.responseBody = mode
        let real = try await recording.send(request, over: server)
        #expect(try await chunks(of: real).joined() == "ab")
        try recording.finish()
        let played = try await tape.recording(.none).send(request, over: NoServer())
        #expect(try await chunks(of: played).joined() == "ab")
        for response in [real, played] { #expect(try response.trailers == trailers) }
    }

    /// URLSession, for example, doesn't tell whether there were any.
    @Test func unknownTrailersStayUnknown() async throws {
        let server = StubTransport { _ in HTTPResponse(status: 200, body: "ok") }
        let recording = tape.recording(.all)
        _ = try await recording.get("/a", over: server)
        try recording.finish()
        let played = try await tape.recording(.none).send(HTTPRequest(url: try tapeURL("/a")), over: NoServer())
        let error = #expect(throws: TransportError.self) { try played.trailers }
        #expect(error?.code == .trailersUnavailable)
    }

    @Test func contentThatBrokeOffPlaysWithoutTrailers() async throws {
        let cut = StubAnswer.stream(
            [Data("a".utf8)],
            thenFailing: TransportError(.truncated, "Cut."),
            trailers: ["X-Rows": "2"]
        )
        let recording = tape.recording(.all)
        let real = try await recording.send(try streamed("/a"), over: StubTransport.stub(cut))
        await #expect(throws: TransportError.self) { try await chunks(of: real) }
        try recording.finish()
        let played = try await tape.recording(.none).send(try streamed("/a"), over: NoServer())
        await #expect(throws: TransportError.self) { try await chunks(of: played) }
        for response in [real, played] {
            let error = #expect(throws: TransportError.self) { try response.trailers }
            #expect(error?.code == .trailersNotReceived)
        }
    }

    @Test func aStreamOfManyChunksIsKeptInFewer() async throws {
        let parts = (0..<ExchangeCapture.maxChunks + 500).map { Data([UInt8(truncatingIfNeeded: $0)]) }
        let recording = tape.recording(.all)
        let real = try await recording.send(try streamed("/a"), over: StubTransport.stub(.stream(parts)))
        let content = try await real.body.collect(upTo: 1 << 20)
        try recording.finish()
        let kept = try #require(try TapeIndex.ofFile(tape.url).exchanges.first?.response)
        #expect(kept.chunks.count == ExchangeCapture.maxChunks && kept.chunks.first?.bytes == parts[0])
        #expect(kept.content == content && content == parts.reduce(Data(), +))
    }

    @Test func theFirstByteOfAStreamIsNotDelayed() async throws {
        let (source, continuation) = AsyncStream.makeStream(of: Data.self)
        let server = StubTransport { _ in HTTPResponse(status: 200, body: .oneShot(source)) }
        let recording = tape.recording(.all)
        let response = try await recording.send(try streamed("/a"), over: server)
        var iterator = response.body.makeAsyncIterator()
        continuation.yield(Data("first".utf8))
        #expect(try await iterator.next() == Data("first".utf8), "although the stream goes on")
        continuation.finish()
        #expect(try await iterator.next() == nil)
        try recording.finish()
        #expect(try await tape.recording(.none).get("/a") == "first")
    }

    @Test func failuresPlayAsFailures() async throws {
        let server = StubTransport()
        server.enqueue(
            .failure(TransportError(.connectionLost, "Reset.")),
            .stream([Data("ab".utf8)], thenFailing: TransportError(.truncated, "Cut.")),
            .failure(URLError(.badServerResponse)),
            .stream([Data("ab".utf8)], thenFailing: TransportError(.truncated, "Cut."))
        )
        let recording = tape.recording(.all)
        let codes: [HTTPErrorCode] = [.connectionLost, .truncated, .transportFailed, .truncated]
        for (index, _) in codes.enumerated() {
            let mode: ResponseBodyMode = index == 3 ? .streamed : .buffered
            await #expect(throws: (any Error).self) { try await recording.get("/\(index)", over: server, mode: mode) }
        }
        try recording.finish()
        let played = tape.recording(.none)
        for (index, code) in codes.enumerated() {
            let mode: ResponseBodyMode = index == 3 ? .streamed : .buffered
            let error = try await failure(code) { try await played.get("/\(index)", mode: mode) }
            #expect("\(error)".contains("/\(index)"), "the error names the request")
        }
        // The content that came before the cut comes again.
        let cut = try await tape.recording(.none).send(try streamed("/3"), over: NoServer())
        var iterator = cut.body.makeAsyncIterator()
        #expect(try await iterator.next() == Data("ab".utf8))
    }

    @Test func aCancelledCallIsNotRecordedAndCountsAsNotMade() async throws {
        let server = StubTransport()
        server.on(.get, "/a", .neverAnswer, times: 1)
        server.on(.get, "/a", .text("late"))
        let recording = tape.recording(.all)
        let call = Task { try await recording.get("/a", over: server) }
        await server.requests(atLeast: 1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(try await recording.get("/a", over: server) == "late")
        try recording.finish()

        let played = tape.recording(.none, repeatingPauses: true)
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await played.get("/a")
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(try await played.get("/a") == "late")
    }

    @Test func aPlayingCallThatIsCancelledGivesItsResponseBack() async throws {
        let played = try await tape.recordingAfterACancelledPlay(clock)
        #expect(try await clock.run { try await played.get("/a") } == "late")
    }

    @Test func aDiscardedStreamIsRecordedAsFarAsItWasRead() async throws {
        let server = StubTransport()
        server.on(.get, "/*", .stream([Data("one".utf8), Data("two".utf8)]))
        let recording = tape.recording(.all)
        do {
            let response = try await recording.send(try streamed("/a"), over: server)
            var iterator = response.body.makeAsyncIterator()
            _ = try await iterator.next()
            response.body.discard()
            _ = try await recording.send(try streamed("/b"), over: server)
        }
        try recording.finish()
        let played = tape.recording(.none)
        for (path, count) in [("/a", 1), ("/b", 0)] {
            let response = try await played.send(try streamed(path), over: NoServer())
            #expect(response.status == 200)
            var iterator = response.body.makeAsyncIterator()
            for _ in 0..<count { #expect(try await iterator.next() == Data("one".utf8)) }
            let error = try await failure(.notRecorded) { _ = try await iterator.next() }
            #expect("\(error)".contains("discarded"))
        }
    }

    @Test func aStreamThatIsStillReadIsReported() async throws {
        let server = StubTransport.stub(.stream([Data("one".utf8)]))
        let recording = tape.recording(.all)
        let response = try await recording.send(try streamed("/a"), over: server)
        let unfinished = try problems { try recording.finish() }
        #expect(
            unfinished.notRecorded == ["GET \(tapeHost)/a: The exchange hasn't ended."] && unfinished.unused.isEmpty
        )
        #expect(try await chunks(of: response) == ["one"])
        try recording.finish()
        #expect(try await tape.recording(.none).get("/a") == "one")
    }

    @Test func aContentBeyondTheLimitPassesAndIsReported() async throws {
        let long = String(repeating: "a", count: 101)
        let server = StubTransport()
        server.on(.get, "/buffered", .text(long))
        server.on(.get, "/streamed", .stream([Data(long.utf8.prefix(60)), Data(long.utf8.dropFirst(60))]))
        server.on(.post, "/upload", .text("ok"))
        let recording = tape.recording(.all, bodyLimit: 100)
        #expect(try await recording.get("/buffered", over: server) == long)
        #expect(try await recording.get("/streamed", over: server, mode: .streamed) == long)
        let chunks = Array(repeating: "0123456789", count: 30)
        for body in [HTTPBody(long), .restartable { Chunks(chunks) }] {
            let upload = HTTPRequest(method: .post, url: try tapeURL("/upload"), body: body)
            _ = try await recording.send(upload, over: server)
        }
        #expect(server.requests.suffix(2).map { $0.body.length } == [101, 300], "the content was sent in whole")
        let once = HTTPRequest(method: .post, url: try tapeURL("/upload"), body: .oneShot(Chunks(chunks)))
        let error = try await failure(.bodyTooLarge) { _ = try await recording.send(once, over: NoServer()) }
        #expect("\(error)".contains("more than 100 bytes"))
        let skipped = try problems { try recording.finish() }
        #expect(skipped.notRecorded.count == 4 && skipped.unused.isEmpty)
        #expect(skipped.notRecorded.allSatisfy { $0.contains("100 bytes") })
    }

    @Test func aOneShotContentIsSentAndTakesPartInTheComparison() async throws {
        let server = StubTransport { HTTPResponse(status: 200, body: $0.body) }
        func upload(_ text: [String]) throws -> HTTPRequest {
            HTTPRequest(method: .post, url: try tapeURL("/up"), body: .oneShot(Chunks(text)))
        }
        let recording = tape.recording(.all)
        #expect(try await recording.send(try upload(["a", "b"]), over: server).body.data == Data("ab".utf8))
        #expect(try await recording.send(try upload(["c"]), over: server).body.data == Data("c".utf8))
        let used = try upload(["d"])
        _ = try await recording.send(used, over: server)
        _ = try await failure(.bodyNotReplayable) { _ = try await recording.send(used, over: server) }
        try recording.finish()
        let played = tape.recording(.none, matching: [.method, .path, .body])
        #expect(try await played.send(try upload(["c"]), over: NoServer()).body.data == Data("c".utf8))
        #expect(try await played.send(try upload(["ab"]), over: NoServer()).body.data == Data("ab".utf8))
    }

    @Test func progressIsReportedWhileRecordingAndPlaying() async throws {
        let server = StubTransport { _ in HTTPResponse(status: 200, body: "answer") }
        let recording = tape.recording(.all)
        let played = tape.recording(.none)
        for (transport, base) in [(recording, server as any Transport), (played, NoServer())] {
            for body in [HTTPBody("12345"), .oneShot(Chunks(["123", "45"]), length: 5)] {
                let progress = Mutex<[[Int64]]>([[], []])
                var request = HTTPRequest(method: .post, url: try tapeURL("/up"), body: body)
                request.context.uploadProgress = { part in progress.withLock { $0[0].append(part.completed) } }
                request.context.downloadProgress = { part in progress.withLock { $0[1].append(part.completed) } }
                _ = try await transport.send(request, over: base)
                let (up, down) = progress.withLock { ($0[0], $0[1]) }
                #expect(up == (body.data == nil ? [3, 5] : [5]) && down == [6])
            }
            try transport.finish()
        }
    }

    @Test func malformedRequestsAreRefusedAndNotRecorded() async throws {
        let recording = tape.recording(.all)
        let request = HTTPRequest(url: try tapeURL("/a"), headers: ["X-A": "\r\n"])
        _ = try await failure(.invalidRequest) { _ = try await recording.send(request, over: NoServer()) }
        try recording.finish()
        #expect(tape.names.isEmpty)
    }
}
