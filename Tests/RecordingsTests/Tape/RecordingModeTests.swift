import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsRecordings

@Suite(.againstHanging) struct RecordingModeTests {
    private let tape: TapeFile

    init() throws { tape = try TapeFile() }

    @Test func nonePlaysAndNeverSends() async throws {
        try await tape.record(["/a"], StubTransport.stub(.text("one")))
        #expect(try await tape.recording(.none).get("/a") == "one")
    }

    @Test func anUnmatchedRequestNamesItselfAndWhatWasOnOffer() async throws {
        try await tape.record(["/users/42?page=1"], StubTransport.stub(.text("one")))
        let error = try await failure(.notRecorded) {
            try await tape.recording(.none).get("/users/43?page=1&token=hush")
        }
        let text = "\(error)"
        #expect(text.contains("/users/43"))
        #expect(text.contains("/users/42"), "the nearest entry")
        #expect(text.contains(tape.url.path) && text.contains("mode none") && text.contains("mode new"))
        #expect(!text.contains("hush"))
    }

    @Test func noneWithoutAFileNamesTheFile() async throws {
        let error = try await failure(.unreadableFile) { try await tape.recording(.none).get("/a") }
        #expect("\(error)".contains(tape.url.path))
        #expect(tape.names.isEmpty)
    }

    @Test func newPlaysWhatIsThereAndRecordsTheRest() async throws {
        try await tape.record(["/a"], StubTransport.stub(.text("one")))
        let recording = tape.recording(.new)
        let server = StubTransport()
        server.enqueue(.text("two"), .text("three"))
        #expect(try await recording.get("/a", over: server) == "one")
        #expect(try await recording.get("/b", over: server) == "two")
        #expect(try await recording.get("/a", over: server) == "three")
        try recording.finish()
        let played = tape.recording(.none)
        for (path, text) in [("/a", "one"), ("/a", "three"), ("/b", "two")] {
            #expect(try await played.get(path) == text)
        }
        try played.finish()
    }

    @Test func onceRecordsWithoutAFileAndPlaysWithOne() async throws {
        let first = tape.recording(.once)
        #expect(try await first.get("/a", over: StubTransport.stub(.text("one"))) == "one")
        try first.finish()
        let copy = try TapeFile()
        try FileManager.default.copyItem(at: tape.url, to: copy.url)
        let second = copy.recording(.once)
        #expect(try await second.get("/a") == "one")
        _ = try await failure(.notRecorded) { try await second.get("/b") }
        try second.finish()
    }

    @Test func allRecordsEverythingAgainAndKeepsTheOthers() async throws {
        try await tape.record(["/a", "/b"], StubTransport.stub(.text("one"), .text("two")))
        try await tape.record(["/a"], StubTransport.stub(.text("three")))
        let played = tape.recording(.none)
        #expect(try await played.get("/a") == "three")
        #expect(try await played.get("/b") == "two")
    }

    @Test func liveNeitherReadsNorWrites() async throws {
        try Data("not an archive".utf8).write(to: tape.url)
        let recording = tape.recording(.live)
        #expect(try await recording.get("/a", over: StubTransport.stub(.text("one"))) == "one")
        try recording.finish()
        #expect(tape.bytes == Data("not an archive".utf8))
        #expect(tape.names == ["users.har"])
    }

    @Test(arguments: [Recording.Mode.new, .once, .all, .live])
    func theEnvironmentForcesNone(mode: Recording.Mode) async throws {
        try await tape.record(["/a"], StubTransport.stub(.text("one")))
        let recording = tape.recording(mode, environment: ["INTERCEPTORS_RECORDING": "none"])
        #expect(recording.mode == .none)
        #expect(try await recording.get("/a") == "one")
        _ = try await failure(.notRecorded) { try await recording.get("/b") }
    }

    @Test func anUnknownModeFailsEachRequest() async throws {
        let recording = tape.recording(.new, environment: ["INTERCEPTORS_RECORDING": "nome"])
        for _ in 0..<2 {
            let error = try await failure(.unsupported) { try await recording.get("/a") }
            #expect("\(error)".contains("\"nome\"") && "\(error)".contains("INTERCEPTORS_RECORDING"))
        }
        #expect(tape.recording(.new, environment: ["INTERCEPTORS_RECORDING": ""]).mode == .new)
    }

    @Test func theNthEqualRequestGetsTheNthResponse() async throws {
        try await tape.record(["/a", "/a", "/b", "/a"], .stub(.text("1"), .text("2"), .text("b"), .text("3")))
        let played = tape.recording(.none)
        for text in ["1", "2", "3"] { #expect(try await played.get("/a") == text) }
        #expect(try await tape.recording(.none).get("/a") == "1", "each recording counts for itself")
    }

    @Test func aRequestBeyondTheRecordedOnesIsAnErrorThatCounts() async throws {
        try await tape.record(["/a", "/a"], .stub(.text("1"), .text("2")))
        let played = tape.recording(.none)
        for _ in 0..<2 { try await played.get("/a") }
        for _ in 0..<2 {
            let error = try await failure(.notRecorded) { try await played.get("/a") }
            #expect("\(error)".contains("answered 2 of 2 times"))
        }
        try played.finish()
    }

    @Test func theLastResponseRepeatsIfAskedTo() async throws {
        try await tape.record(["/a", "/a"], .stub(.text("1"), .text("2")))
        let played = tape.recording(.none, repeatingLast: true)
        for text in ["1", "2", "2", "2"] { #expect(try await played.get("/a") == text) }
        _ = try await failure(.notRecorded) { try await played.get("/b") }
    }

    @Test func requestsRecordedInParallelPlayInParallel() async throws {
        // Each response waits on the clock. All must wait at once before the clock moves.
        let clock = ManualClock()
        let slow = try TapeFile()
        let recording = slow.recording(.all, time: .manual(clock))
        let server = StubTransport(time: .manual(clock))
        server.on(.get, "**", .text("late").delayed(by: .seconds(5)))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<8 { group.addTask { try await recording.get("/\(index)", over: server) } }
            await clock.sleepers(8)
            clock.advance(by: .seconds(5))
            try await group.waitForAll()
        }
        try recording.finish()
        let played = slow.recording(.none, repeatingPauses: true, time: .manual(clock))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<8 { group.addTask { try await played.get("/\(index)") } }
            await clock.sleepers(8)
            clock.advance(by: .seconds(5))
            try await group.waitForAll()
        }
        try played.finish()
    }

    @Test func playingComesAtOnceUnlessThePausesAreWanted() async throws {
        let clock = ManualClock()
        let recording = tape.recording(.all, time: .manual(clock))
        let server = StubTransport(time: .manual(clock))
        server.on(.get, "**", .text("late").delayed(by: .seconds(5)))
        async let response = recording.get("/a", over: server)
        await clock.sleepers(1)
        clock.advance(by: .seconds(5))
        _ = try await response
        try recording.finish()
        #expect(try await tape.recording(.none, time: .manual(clock)).get("/a") == "late")
    }
}
