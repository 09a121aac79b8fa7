import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTestTraits

@Suite(.againstHanging) struct RecordedTraitTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Runs a closure as the case of a test that has the trait and lies in the folder. As Swift Testing does, the scope around the
    /// whole test doesn't see the error of the case.
    private func run(_ function: @escaping @Sendable @concurrent () async throws -> Void) async throws {
        let (test, testCase) = (try #require(Test.current), try #require(Test.Case.current))
        let trait: RecordedTrait = .recorded("films", filePath: folder.url.appending(path: "FilmTests.swift").path)
        let whole = try #require(trait.scopeProvider(for: test, testCase: nil))
        let one = try #require(trait.scopeProvider(for: test, testCase: testCase))
        let failure = Shared<(any Error)?>(nil)
        try await whole.provideScope(for: test, testCase: nil) {
            do {
                try await one.provideScope(for: test, testCase: testCase, performing: function)
            } catch {
                failure.change { $0 = error }
            }
        }
        if let failure = failure.value { throw failure }
    }

    private func film(_ stub: StubTransport, _ path: RequestTarget = "/films/1") async throws -> String {
        let transport: RecordedTransport = try .recorded(over: stub)
        return try await Client(baseURL: URL(string: "https://api.example.com"), interceptors: [], transport: transport)
            .get(path)
    }

    @Test func testRecordsOnceAndPlaysAfterwards() async throws {
        let (first, second) = (StubTransport(), StubTransport())
        first.enqueue(.text("Alien"))
        for stub in [first, second] {
            try await run {
                let film = try await film(stub)
                #expect(film == "Alien")
            }
            #expect(FileManager.default.fileExists(atPath: folder.url.appending(path: "Recordings/films.har").path))
        }
        #expect(first.requests.count == 1 && second.requests.isEmpty)
    }

    @Test func entryThatNoRequestUsesFailsTheTest() async throws {
        let stub = StubTransport()
        stub.enqueue(.text("Alien"))
        try await run { _ = try await film(stub) }

        let error = await #expect(throws: RecordingError.self) { try await run {} }
        #expect(error?.unused.count == 1)
    }

    @Test func testThatThrowsLeavesItsExchangesUnfinished() async throws {
        let (first, second) = (StubTransport(), StubTransport())
        first.enqueue(.text("Alien"))
        await #expect(throws: CancellationError.self) {
            try await run {
                _ = try await film(first)
                throw CancellationError()
            }
        }
        #expect(!FileManager.default.fileExists(atPath: folder.url.appending(path: "Recordings/films.har").path))
        try await run {
            let film = try await film(second)
            #expect(film == "Alien")
        }
        #expect(second.requests.isEmpty)
    }

    @Test func withoutTheTraitThereIsNoRecording() async {
        let error = await #expect(throws: TransportError.self) { try await film(StubTransport()) }
        #expect(error?.code == .notRecorded)
    }

    @Test(.recorded("cases", recording: { Recording(at: $0, mode: .live) }), arguments: 1...3)
    func casesOfATestShareTheRecording(number: Int) async throws {
        let stub = StubTransport()
        stub.enqueue(.text("\(number)"))
        let film = try await film(stub, "/films/\(number)")
        #expect(film == "\(number)")
        let path = try #require(RecordedTrait.session).recording.file.path
        #expect(path.hasSuffix("/Tests/RecordingsTests/Tape/Recordings/cases.har"))
    }
}
