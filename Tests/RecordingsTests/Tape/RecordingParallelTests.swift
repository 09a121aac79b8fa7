import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsRecordings

@Suite(.againstHanging, .heavy) struct RecordingParallelTests {
    private static let server = StubTransport { request in
        HTTPResponse(status: 200, body: HTTPBody("answer to \(request.url.lastPathComponent)"))
    }

    /// Makes a request that all tests of the tape make, and two that only this test makes.
    private func test(_ number: Int, _ tape: Recording, over base: any Transport) async throws {
        for path in ["/shared", "/\(number)", "/\(number)-b"] {
            #expect(try await tape.get(path, over: base) == "answer to \(path.dropFirst())")
        }
    }

    private func runAll(_ makeTape: @Sendable @escaping () -> Recording, over base: any Transport) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let tape = makeTape()
                    try await test(number, tape, over: base)
                    try tape.finish(allowingUnused: true)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(arguments: [Recording.Mode.once, .new], 0..<FullLoad.count(1, full: 10))
    func aHundredParallelTestsShareATape(mode: Recording.Mode, run: Int) async throws {
        let tape = try TapeFile()
        try await runAll({ tape.recording(mode) }, over: Self.server)
        #expect(tape.names == ["users.har"])
        try await runAll({ tape.recording(.none) }, over: NoServer())
        // Equal requests that are made at the same time are all recorded.
        #expect((201...300).contains(try TapeIndex.ofFile(tape.url).exchanges.count))
        let bytes = tape.bytes
        try await runAll({ tape.recording(.new) }, over: NoServer())
        #expect(tape.bytes == bytes)
    }

    @Test func aHundredParallelTestsShareARecording() async throws {
        let tape = try TapeFile()
        for (mode, base) in [(Recording.Mode.once, Self.server as any Transport), (.none, NoServer())] {
            let shared = tape.recording(mode)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<100 { group.addTask { try await test(number, shared, over: base) } }
                try await group.waitForAll()
            }
            try shared.finish()
        }
        #expect(try TapeIndex.ofFile(tape.url).exchanges.count == 300)
    }

    #if os(Linux) || os(macOS)
    @Test func aSecondProcessThatRecordsGetsAnErrorAndSendsNothing() async throws {
        let tape = try TapeFile()
        let recording = tape.recording(.new)
        try await recording.get("/a", over: Self.server)
        let program = try #require(RecordingChild.program)
        let refused = try await Command.run(program, ["tape", "second", tape.url.path])
        #expect(refused.text == "unwritableFile 0\n")
        try recording.finish()
        #expect(try await Command.run(program, ["tape", "second", tape.url.path]).text == "recorded 1\n")
        #expect(tape.names == ["users.har"])
        #expect(try TapeIndex.ofFile(tape.url).exchanges.count == 2)
    }

    @Test func processesThatRecordOneAfterTheOtherLoseNothing() async throws {
        let tape = try TapeFile()
        let count = FullLoad.count(20, full: 100)
        for process in 1...3 {
            let child = try RecordingChild(["hammer", tape.url.path, "\(1000 * process)", "\(count)"])
            #expect(await child.ends() == .exit(0))
        }
        let played = tape.recording(.none)
        for process in 1...3 {
            for number in 1000 * process..<1000 * process + count {
                #expect(try await played.numbered(number) == CacheFill.body(number, 1), "\(number)")
            }
        }
        #expect(try await played.numbered(1) == CacheFill.body(1, 1))
        #expect(tape.names == ["users.har"])
    }

    @Test func aProcessThatStartsWithTheFilePlaysInModeOnce() async throws {
        let tape = try TapeFile()
        let program = try #require(RecordingChild.program)
        for requests in [1, 0] {
            let result = try await Command.run(program, ["tape", "once", tape.url.path])
            #expect(result.text == "true \(requests)\n")
        }
    }

    @Test func aFullDiskFailsNoRequestAndLeavesNoHalfFile() async throws {
        let tape = try TapeFile()
        let program = try #require(RecordingChild.program)
        let result = try await Command.run(program, ["tape", "full", tape.url.path])
        #expect(result.status == 0)
        #expect(result.text.contains("write failed"), "\(result.text)")
        // The file is missing, or whole.
        #expect(tape.names == ["users.har.unfinished"] || tape.names == ["users.har"])
        let found = try TapeIndex.ofFile(tape.url).exchanges
        #expect(!found.isEmpty)
        for exchange in found { try exchange.expectWhole() }
        try tape.recording(.new).finish(allowingUnused: true)
        #expect(try TapeIndex.ofFile(tape.url).exchanges.count == found.count)
        #expect(tape.names == ["users.har"], "with room on the disk, the next finish merges")
    }
    #endif
}

#if os(Linux) || os(macOS)
/// A process that runs `RecordingProcess`.
struct RecordingChild {
    private let process: ChildProcess

    static var program: String? { Program.path(of: "InterceptorsRecordingProcess") }

    init(_ arguments: [String], output: Int32 = 1) throws {
        process = try ChildProcess(try #require(Self.program), ["tape"] + arguments, descriptors: [0, output, 2])
    }

    func kill() { process.send(signal: SIGKILL) }

    @discardableResult
    func ends() async -> ChildProcess.Ending { await process.ended() }
}
#endif

extension TapeIndex {
    /// All entries of a file and its side file.
    static func ofFile(_ url: URL) throws -> TapeIndex {
        let redaction = ExchangeRedaction()
        let files = try TapeFiles(url)
        let exchanges = try TapeMerge(redaction: redaction).exchanges(try files.read(), file: files.path)
        return TapeIndex(exchanges, .standard, redaction)
    }
}

extension RecordedExchange {
    /// The number of an exchange of `RecordingProcess`, whose content must be whole.
    @discardableResult
    func expectWhole() throws -> Int {
        let number = try #require(URL(string: request.url).flatMap { Int($0.lastPathComponent) })
        #expect(response?.content == CacheFill.body(number, 1) && failure == nil, "\(number)")
        return number
    }
}

extension Recording {
    /// The content of an exchange of `RecordingProcess`.
    func numbered(_ number: Int) async throws -> Data {
        let url = try #require(URL(string: "https://a.example/\(number)"))
        return try await send(HTTPRequest(url: url), over: NoServer()).body.collect(upTo: 1 << 20)
    }
}
