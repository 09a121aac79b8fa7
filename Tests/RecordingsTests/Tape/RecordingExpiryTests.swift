import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsRecordings

@Suite(.againstHanging) struct RecordingExpiryTests {
    private let tape: TapeFile
    private let clock = ManualClock()

    init() throws { tape = try TapeFile() }

    private func pass(days: Int) { clock.advance(by: .seconds(86_400 * days)) }

    /// Records `/a`, lets 31 days pass, and sends a request in a mode under an expiry of 30 days.
    private func answer(_ mode: Recording.Mode, _ server: StubTransport) async throws -> (String, Recording) {
        try await tape.record(["/a"], .stub(.json(#"{"id":1}"#)), time: .manual(clock))
        pass(days: 31)
        let recording = tape.recording(mode, expiring: .days(30), time: .manual(clock))
        return (try await recording.get("/a", over: server), recording)
    }

    @Test(arguments: [Recording.Mode.new, .all])
    func anExpiredEntryIsRecordedAgain(mode: Recording.Mode) async throws {
        let (text, recording) = try await answer(mode, .stub(.json(#"{"id":2}"#)))
        #expect(text == #"{"id":2}"#)
        try recording.finish()
        #expect(try await tape.recording(.none).get("/a") == #"{"id":2}"#)
        let again = tape.recording(.new, expiring: .days(30), time: .manual(clock))
        #expect(try await again.get("/a") == #"{"id":2}"#, "it is fresh now")
    }

    @Test func onceRecordsAnExpiredEntryAgain() async throws {
        // Another file, because a process decides once for each file.
        let (_, _) = try await answer(.none, StubTransport())
        let copy = try TapeFile()
        try FileManager.default.copyItem(at: tape.url, to: copy.url)
        let recording = copy.recording(.once, expiring: .days(30), time: .manual(clock))
        #expect(try await recording.get("/a", over: StubTransport.stub(.json(#"{"id":2}"#))) == #"{"id":2}"#)
        try recording.finish()
        #expect(try await copy.recording(.none).get("/a") == #"{"id":2}"#)
    }

    @Test func nonePlaysAnExpiredEntryAndListsIt() async throws {
        let (text, recording) = try await answer(.none, StubTransport())
        #expect(text == #"{"id":1}"#)
        #expect(recording.expired == ["GET \(tapeHost)/a"])
        try recording.finish()
    }

    @Test func anEntryIsFreshUntilItsAge() async throws {
        try await tape.record(["/a"], .stub(.text("old")), time: .manual(clock))
        pass(days: 29)
        let recording = tape.recording(.new, expiring: .days(30), time: .manual(clock))
        #expect(try await recording.get("/a") == "old")
        pass(days: 400)
        #expect(try await tape.recording(.new, time: .manual(clock)).get("/a") == "old", "never, by default")
        let other = tape.recording(.none, expiring: .after(.seconds(1)), time: .manual(clock))
        try await other.get("/a")
        #expect(other.expired.count == 1)
    }

    private static let drifts: [(old: StubAnswer, new: StubAnswer, words: [String])] = [
        (.status(200), .status(404), ["200", "404"]),
        (.text("a"), .json("1"), ["text/plain", "application/json"]),
        (.json(#"{"user":{"id":1}}"#), .json(#"{"user":{"id":"1"}}"#), ["$.user.id", "a number", "a string"]),
        (.json(#"[{"id":1}]"#), .json(#"[{"id":1,"x":true}]"#), ["$[].x", "new"]),
        (.json(#"{"a":1,"b":2}"#), .json(#"{"a":1}"#), ["$.b", "missing"]),
        (.failure(TransportError(.connectionLost, "Gone.")), .status(200), ["failure connectionLost", "status 200"]),
    ]

    @Test(arguments: 0..<6) func aDriftedEntryIsListedAndTheNewOneIsWritten(index: Int) async throws {
        let (old, new, words) = Self.drifts[index]
        let first = tape.recording(.all)
        _ = try? await first.get("/a?token=hush", over: StubTransport.stub(old))
        try first.finish()
        let recording = tape.recording(.all)
        _ = try? await recording.get("/a?token=hush", over: StubTransport.stub(new))
        let before = tape.bytes
        let drifted = try problems { try recording.finish() }
        #expect(drifted.map(\.kind) == [.drifted])
        for word in words { #expect(drifted[0].detail.contains(word), "\(drifted[0].detail)") }
        #expect(drifted[0].entry.hasPrefix("GET \(tapeHost)/a") && !"\(drifted)".contains("hush"))
        #expect(tape.bytes != before)
        try recording.finish()
    }

    @Test(arguments: [
        (#"{"a":1,"b":[]}"#, #"{"b":["x"],"a":2}"#), (#"{"a":null}"#, #"{"a":{"b":1}}"#),
        (#"[{"a":1},{"b":2}]"#, #"[{"b":1,"a":7}]"#), ("[]", "[1,2,3]"),
    ])
    func otherValuesAreNoDrift(old: String, new: String) async throws {
        try await tape.record(["/a"], .stub(.json(old)))
        let recording = tape.recording(.all)
        try await recording.get("/a", over: StubTransport.stub(.json(new)))
        try recording.finish()
    }

    @Test(arguments: [Recording.Mode.new, .all])
    func aFailureDoesNotReplaceAResponse(mode: Recording.Mode) async throws {
        let failures: [StubAnswer] = [
            .failure(TransportError(.connectionLost, "Gone.")),
            .stream([Data("{".utf8)], thenFailing: TransportError(.truncated, "Cut.")),
        ]
        for answer in failures {
            let tape = try TapeFile()
            try await tape.record(["/a"], .stub(.json("1")), time: .manual(clock))
            pass(days: 31)
            let recording = tape.recording(mode, expiring: .days(30), time: .manual(clock))
            await #expect(throws: TransportError.self) {
                try await recording.get("/a", over: StubTransport.stub(answer))
            }
            let kept = try problems { try recording.finish() }
            #expect(kept.map(\.kind) == [.notRecorded] && kept[0].detail.contains("old response stays"), "\(kept)")
            #expect(try await tape.recording(.none).get("/a") == "1")
        }
    }

    @Test func theLastResponseIsRecordedAgainIfItHasExpired() async throws {
        try await tape.record(["/a"], .stub(.text("old")), time: .manual(clock))
        pass(days: 31)
        let recording = tape.recording(.new, expiring: .days(30), repeatingLast: true, time: .manual(clock))
        try await recording.get("/a", over: StubTransport.stub(.text("1")))
        // Mode new records what isn't there, so the mode that repeats is once.
        try recording.finish()
        let copy = try TapeFile()
        pass(days: 31)
        try FileManager.default.copyItem(at: tape.url, to: copy.url)
        let once = copy.recording(.once, expiring: .days(30), repeatingLast: true, time: .manual(clock))
        let server = StubTransport.stub(.text("2"), .text("3"))
        for text in ["2", "3"] { #expect(try await once.get("/a", over: server) == text) }
        try once.finish()
        #expect(try TapeIndex.ofFile(copy.url).exchanges.count == 1)
        #expect(try await copy.recording(.none).get("/a") == "3")
        pass(days: 31)
        let none = copy.recording(.none, expiring: .days(30), repeatingLast: true, time: .manual(clock))
        for _ in 0..<2 { try await none.get("/a") }
        #expect(none.expired.count == 1)
    }

    @Test func anEntryOfTheFutureHasExpired() async throws {
        clock.advance(by: .seconds(86_400 * 400))
        try await tape.record(["/a", "/b"], .stub(.text("old"), .text("b")), time: .manual(clock))
        let past = ManualClock()
        let recording = tape.recording(.new, expiring: .days(30), time: .manual(past))
        #expect(try await recording.get("/a", over: StubTransport.stub(.text("new"))) == "new")
    }

    @Test func aHugeAgeIsNoOverflow() async throws {
        try await tape.record(["/a"], .stub(.text("old")), time: .manual(clock))
        let recording = tape.recording(.new, expiring: .days(.max), time: .manual(clock))
        #expect(try await recording.get("/a") == "old")
        #expect(Recording.Expiry.days(.min).age.map { $0 < .zero } == true)
    }

    @Test func aReaderThatDiscardsIsNoDrift() async throws {
        let server = StubTransport()
        server.on(.get, "/a", .stream([Data("1".utf8), Data("2".utf8)], headers: [.contentType: "text/plain"]))
        try await tape.record(["/a"], server)
        let recording = tape.recording(.all)
        var request = HTTPRequest(url: try tapeURL("/a"))
        request.context.responseBody = .streamed
        try await recording.send(request, over: server).body.discard()
        try recording.finish()
    }

    @Test func unusedEntriesAreListedInTheirOrder() async throws {
        try await tape.record(
            ["/a", "/b", "/a", "/c?token=hush"],
            .stub(.text("1"), .text("2"), .text("3"), .text("4"))
        )
        let played = tape.recording(.none)
        try await played.get("/a")
        let unused = try problems { try played.finish() }
        #expect(unused.map(\.kind) == [.unused, .unused, .unused])
        #expect(unused.map { $0.entry.prefix(tapeHost.count + 6) } == ["b", "a", "c"].map { "GET \(tapeHost)/\($0)" })
        #expect(!"\(unused)".contains("hush"))
        try played.finish(allowingUnused: true)
        let error = try #require(#expect(throws: RecordingError.self) { try played.finish() })
        #expect("\(error)".contains("users.har") && "\(error)".contains("/b"))
    }

    @Test func aRecordingOfEverythingHasNoUnusedEntries() async throws {
        try await tape.record(["/a", "/b"], .stub(.text("1"), .text("2")))
        try await tape.record(["/a"], .stub(.text("1")))
    }
}
