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
        let recording = tape.recording(mode, expiring: .seconds(30 * 86_400), time: .manual(clock))
        return (try await recording.get("/a", over: server), recording)
    }

    @Test(arguments: [Recording.Mode.new, .all])
    func anExpiredEntryIsRecordedAgain(mode: Recording.Mode) async throws {
        let (text, recording) = try await answer(mode, .stub(.json(#"{"id":2}"#)))
        #expect(text == #"{"id":2}"#)
        try recording.finish()
        #expect(try await tape.recording(.none).get("/a") == #"{"id":2}"#)
        let again = tape.recording(.new, expiring: .seconds(30 * 86_400), time: .manual(clock))
        #expect(try await again.get("/a") == #"{"id":2}"#, "it is fresh now")
    }

    @Test func onceRecordsAnExpiredEntryAgain() async throws {
        // Another file, because a process decides once for each file.
        let (_, _) = try await answer(.none, StubTransport())
        let copy = try TapeFile()
        try FileManager.default.copyItem(at: tape.url, to: copy.url)
        let recording = copy.recording(.once, expiring: .seconds(30 * 86_400), time: .manual(clock))
        #expect(try await recording.get("/a", over: StubTransport.stub(.json(#"{"id":2}"#))) == #"{"id":2}"#)
        try recording.finish()
        #expect(try await copy.recording(.none).get("/a") == #"{"id":2}"#)
    }

    @Test func nonePlaysAnExpiredEntry() async throws {
        let (text, recording) = try await answer(.none, StubTransport())
        #expect(text == #"{"id":1}"#)
        try recording.finish()
    }

    @Test func anEntryIsFreshUntilItsAge() async throws {
        try await tape.record(["/a"], .stub(.text("old")), time: .manual(clock))
        pass(days: 29)
        let recording = tape.recording(.new, expiring: .seconds(30 * 86_400), time: .manual(clock))
        #expect(try await recording.get("/a") == "old")
        pass(days: 400)
        #expect(try await tape.recording(.new, time: .manual(clock)).get("/a") == "old", "never, by default")
        let other = tape.recording(.none, expiring: .seconds(1), time: .manual(clock))
        try await other.get("/a")
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
            let recording = tape.recording(mode, expiring: .seconds(30 * 86_400), time: .manual(clock))
            await #expect(throws: TransportError.self) {
                try await recording.get("/a", over: StubTransport.stub(answer))
            }
            let kept = try problems { try recording.finish() }
            #expect(kept.notRecorded.count == 1 && "\(kept)".contains("old response stays"), "\(kept)")
            #expect(try await tape.recording(.none).get("/a") == "1")
        }
    }

    @Test func theLastResponseIsRecordedAgainIfItHasExpired() async throws {
        try await tape.record(["/a"], .stub(.text("old")), time: .manual(clock))
        pass(days: 31)
        let recording = tape.recording(.new, expiring: .seconds(30 * 86_400), repeatingLast: true, time: .manual(clock))
        try await recording.get("/a", over: StubTransport.stub(.text("1")))
        // Mode new records what isn't there, so the mode that repeats is once.
        try recording.finish()
        let copy = try TapeFile()
        pass(days: 31)
        try FileManager.default.copyItem(at: tape.url, to: copy.url)
        let once = copy.recording(.once, expiring: .seconds(30 * 86_400), repeatingLast: true, time: .manual(clock))
        let server = StubTransport.stub(.text("2"), .text("3"))
        for text in ["2", "3"] { #expect(try await once.get("/a", over: server) == text) }
        try once.finish()
        #expect(try TapeIndex.ofFile(copy.url).exchanges.count == 1)
        #expect(try await copy.recording(.none).get("/a") == "3")
        pass(days: 31)
        let none = copy.recording(.none, expiring: .seconds(30 * 86_400), repeatingLast: true, time: .manual(clock))
        for _ in 0..<2 { try await none.get("/a") }
    }

    @Test func anEntryOfTheFutureHasExpired() async throws {
        clock.advance(by: .seconds(86_400 * 400))
        try await tape.record(["/a", "/b"], .stub(.text("old"), .text("b")), time: .manual(clock))
        let past = ManualClock()
        let recording = tape.recording(.new, expiring: .seconds(30 * 86_400), time: .manual(past))
        #expect(try await recording.get("/a", over: StubTransport.stub(.text("new"))) == "new")
    }

    @Test func aHugeAgeIsNoOverflow() async throws {
        try await tape.record(["/a"], .stub(.text("old")), time: .manual(clock))
        let recording = tape.recording(.new, expiring: .seconds(Int64.max), time: .manual(clock))
        #expect(try await recording.get("/a") == "old")
    }

    @Test func unusedEntriesAreListedInTheirOrder() async throws {
        try await tape.record(
            ["/a", "/b", "/a", "/c?token=hush"],
            .stub(.text("1"), .text("2"), .text("3"), .text("4"))
        )
        let played = tape.recording(.none)
        try await played.get("/a")
        let unused = try problems { try played.finish() }.unused
        #expect(unused.map { $0.prefix(tapeHost.count + 6) } == ["b", "a", "c"].map { "GET \(tapeHost)/\($0)" })
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
