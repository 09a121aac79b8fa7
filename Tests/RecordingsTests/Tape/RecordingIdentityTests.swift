import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsRecordings

/// Which line belongs to which entry.
@Suite(.againstHanging) struct RecordingIdentityTests {
    private let tape: TapeFile

    init() throws { tape = try TapeFile() }

    private func texts(_ url: URL) throws -> [String] {
        try TapeIndex.ofFile(url).exchanges.map { String(decoding: $0.response?.content ?? Data(), as: UTF8.self) }
    }

    private func streamed(_ path: String) throws -> HTTPRequest {
        var request = HTTPRequest(url: try tapeURL(path))
        request.context.responseBody = .streamed
        return request
    }

    @Test func aFinishBetweenEqualRequestsLosesNone() async throws {
        let server = StubTransport()
        server.enqueue(.stream([Data("one".utf8)]), .text("two"))
        let recording = tape.recording(.all)
        let slow = try await recording.send(try streamed("/feed"), over: server)
        try await recording.get("/feed", over: server)
        #expect(try problems { try recording.finish() }.notRecorded.count == 1)
        #expect(try await slow.body.collect(upTo: 10) == Data("one".utf8))
        try recording.finish()
        #expect(try texts(tape.url) == ["one", "two"])
    }

    @Test func aGapThatAKilledProcessLeavesStaysOne() async throws {
        let server = StubTransport()
        server.enqueue(.stream([Data("one".utf8)]), .text("two"), .text("three"))
        let killed = tape.recording(.new)
        let slow = try await killed.send(try streamed("/feed"), over: server)
        try await killed.get("/feed", over: server)
        let next = tape.recording(.new)
        #expect(try await next.get("/feed") == "two")
        #expect(try await next.get("/feed", over: server) == "three")
        try next.finish()
        #expect(try texts(tape.url) == ["two", "three"])
        _ = slow
    }

    @Test func mergingTwiceChangesNothing() async throws {
        let server = StubTransport()
        server.enqueue(.neverAnswer, .text("two"))
        let recording = tape.recording(.new)
        let first = Task { try await recording.get("/feed", over: server) }
        await server.requests(atLeast: 1)
        try await recording.get("/feed", over: server)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let side = try #require(FileManager.default.contents(atPath: tape.side.path))
        try recording.finish()
        // A process that is killed between the rename and the removal leaves both files.
        try side.write(to: tape.side)
        let next = tape.recording(.new)
        #expect(try await next.get("/feed") == "two")
        try next.finish()
        #expect(try texts(tape.url) == ["two"])
    }

    @Test func aMergeIsIdempotent() {
        let seed: UInt64 = 22
        var random = SeededGenerator(seed: seed)
        for round in 0..<2_000 {
            let entries = exchanges(Int.random(in: 0..<6, using: &random), withID: 2, &random)
            let lines = exchanges(Int.random(in: 0..<6, using: &random), withID: 4, &random).filter { $0.number != nil }
            let once = TapeMerge.merged(entries, lines)
            #expect(TapeMerge.merged(once, lines) == once, "seed \(seed), round \(round)")
            #expect(Set(once.map(\.number)).count == once.count)
            let kept = Set(once.map(\.request.url))
            let replaced = Set(lines.compactMap(\.number))
            for entry in TapeMerge.merged(entries, []) where !replaced.contains(where: { $0 == entry.number }) {
                #expect(kept.contains(entry.request.url), "seed \(seed), round \(round): lost")
            }
            for line in lines where line == lines.last(where: { $0.number == line.number }) {
                #expect(kept.contains(line.request.url), "seed \(seed), round \(round): lost")
            }
        }
    }

    /// Exchanges with different URLs, of which some have numbers.
    private func exchanges(
        _ count: Int,
        withID parts: Int,
        _ random: inout SeededGenerator
    ) -> [RecordedExchange] {
        (0..<count).map { _ in
            let time = Date(timeIntervalSince1970: Double(Int.random(in: 0..<3, using: &random)))
            let url = "\(tapeHost)/\(UInt64.random(in: 0...(.max), using: &random))"
            var exchange = RecordedExchange(startedAt: time, request: .init(method: .get, url: url))
            if Int.random(in: 0..<4, using: &random) < parts {
                exchange.number = Int64.random(in: 11..<19, using: &random)
            }
            return exchange
        }
    }

    @Test(arguments: [Recording.Mode.new, .all])
    func aCancelledCallDoesNotSwapTheOthers(mode: Recording.Mode) async throws {
        for _ in 0..<2 {
            let server = StubTransport()
            server.enqueue(.neverAnswer, .text("X"), .text("Y"))
            let recording = tape.recording(mode)
            if mode == .new, tape.exists { return }
            let first = Task { try await recording.get("/a", over: server) }
            await server.requests(atLeast: 1)
            let second = try await recording.get("/a", over: server)
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            let third = try await recording.get("/a", over: server)
            #expect([second, third] == ["X", "Y"])
            try recording.finish()
            #expect(try texts(tape.url) == ["X", "Y"], "also if everything is recorded again")
        }
    }

    @Test func aRequestThatCouldNotBeRecordedCountsAsNotMade() async throws {
        try await tape.record(["/a", "/a"], .stub(.text("1"), .text("2")))
        let recording = tape.recording(.all)
        let other = try OpenedFile.open(tape.side.path, O_RDWR | O_CREAT)
        #expect(other.tryLock() == .locked)
        _ = try await failure(.unwritableFile) { try await recording.get("/a") }
        other.unlock()
        try await recording.get("/a", over: StubTransport.stub(.text("new")))
        try recording.finish()
        #expect(try texts(tape.url) == ["new", "2"])
    }

    @Test func recordingsWithOtherMatchingKeepTheirEntries() async throws {
        let server = StubTransport { HTTPResponse(status: 200, body: HTTPBody($0.url.query ?? "")) }
        let byPath = tape.recording(.new, matching: [.method, .path])
        let byURL = tape.recording(.new)
        for number in 1...3 { try await byPath.get("/a?p=\(number)", over: server) }
        for number in 2...4 { try await byURL.get("/a?p=\(number)", over: server) }
        try byPath.finish(allowingUnused: true)
        try byURL.finish(allowingUnused: true)
        #expect(Set(try texts(tape.url)) == ["p=1", "p=2", "p=3", "p=4"])
        let played = tape.recording(.none)
        for number in 1...4 { #expect(try await played.get("/a?p=\(number)") == "p=\(number)") }
        let again = tape.recording(.none, matching: [.method, .path])
        for number in 1...3 { #expect(try await again.get("/a") == "p=\(number)") }
    }

    @Test func onceWithoutAFileGoesOnWithTheLinesOfAKilledProcess() async throws {
        let killed = tape.recording(.all)
        try await killed.get("/a", over: StubTransport.stub(.text("1")))
        let once = tape.recording(.once)
        #expect(try await once.get("/a") == "1")
        #expect(try await once.get("/b", over: StubTransport.stub(.text("2"))) == "2")
        try once.finish()
        #expect(try texts(tape.url) == ["1", "2"])
    }

    @Test func aTooLongContentKeepsItsPlace() async throws {
        let server = StubTransport()
        let long = String(repeating: "a", count: 101)
        server.enqueue(.text(long), .text("two"), .stream([Data(long.utf8)]), .text("four"))
        let recording = tape.recording(.all, bodyLimit: 100)
        for index in 0..<4 { try await recording.get("/a", over: server, mode: index == 2 ? .streamed : .buffered) }
        #expect(try problems { try recording.finish() }.notRecorded.count == 2)
        let played = tape.recording(.none)
        for text in ["", "two", "", "four"] {
            if text.isEmpty {
                let error = try await failure(.notRecorded) { try await played.get("/a") }
                #expect("\(error)".contains("100 bytes"))
            } else {
                #expect(try await played.get("/a") == text)
            }
        }
        try played.finish()
        #expect(!String(decoding: try #require(tape.bytes), as: UTF8.self).contains(long))
    }

    @Test func aCopiedEntryIsAnotherOne() async throws {
        try await tape.record(["/a"], .stub(.text("1")))
        let text = String(decoding: try #require(tape.bytes), as: UTF8.self)
        let start = try #require(text.range(of: "\"entries\": [")?.upperBound)
        let end = try #require(text.range(of: "]", options: .backwards)?.lowerBound)
        let entry = text[start..<end]
        let copy = text[..<start] + entry + "," + entry.replacing("\(tapeHost)/a", with: "\(tapeHost)/b") + text[end...]
        try Data(copy.utf8).write(to: tape.url)
        let recording = tape.recording(.new)
        for path in ["/a", "/b"] { #expect(try await recording.get(path) == "1") }
        try await recording.get("/c", over: StubTransport.stub(.text("c")))
        try recording.finish()
        #expect(try texts(tape.url) == ["1", "1", "c"])
    }

    @Test func failuresOfAnInnerStandInAreNotRecorded() async throws {
        for code in [HTTPErrorCode.notRecorded, .invalidLaunchStubs] {
            let server = StubTransport.stub(.failure(TransportError(code, "Nothing was sent.")))
            let recording = tape.recording(.new)
            _ = try await failure(code) { try await recording.get("/a", over: server) }
            try recording.finish()
        }
        #expect(tape.names.isEmpty)
    }

    @Test func aMissOfAFullRecordingDoesNotCallItEmpty() async throws {
        try await tape.record(["/a"], .stub(.text("1")))
        let recording = tape.recording(.none, matching: [.origin])
        var request = HTTPRequest(method: .delete, url: try #require(URL(string: "https://other.example/")))
        request.headers["X-A"] = "1"
        let error = try await failure(.notRecorded) { _ = try await recording.send(request, over: NoServer()) }
        #expect(!"\(error)".contains("is empty") && "\(error)".contains("\(tapeHost)/a"))
    }

    @Test func aCancelledPlayLeavesItsEntryUnused() async throws {
        let played = try await tape.recordingAfterACancelledPlay(ManualClock())
        #expect(try problems { try played.finish() }.unused == ["GET \(tapeHost)/a"])
    }
}
