#if os(Linux) || os(macOS)
import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsRecordings

@Suite(.againstHanging, .heavy) struct FolderKillTests {
    /// Starts a process that records versions from a number on, and kills it: after some processor time, or once it has printed some
    /// lines.
    ///
    /// - Returns: the last version that the process printed; `nil` if it printed nothing.
    private func recordUntilDeath(
        _ folder: URL,
        from first: Int,
        _ generator: inout SeededGenerator
    ) async throws -> Int? {
        let byTimer = Int.random(in: 0..<4, using: &generator) > 0
        let microseconds = byTimer ? Int.random(in: 15_000..<70_000, using: &generator) : 0
        let lines = Int.random(in: 1..<4, using: &generator)
        let pipe = Pipe()
        let child = try ChildProcess(
            try #require(RecordingChild.program),
            ["folder", "record", folder.path, "\(first)", "\(microseconds)"],
            descriptors: [0, pipe.fileHandleForWriting.fileDescriptor, 2]
        )
        try pipe.fileHandleForWriting.close()
        let reading = pipe.fileHandleForReading
        let text = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var text = Data()
                // `read(upToCount:)` would wait until that many bytes are there.
                while case let part = reading.availableData, !part.isEmpty {
                    text += part
                    if !byTimer, text.count(where: { $0 == 0x0A }) >= lines { child.send(signal: SIGKILL) }
                }
                continuation.resume(returning: String(decoding: text, as: UTF8.self))
            }
        }
        #expect(await child.ended() == .signal(byTimer ? SIGPROF : SIGKILL))
        return text.split(separator: "\n").last.flatMap { Int($0) }
    }

    /// The version of each item's answer. An item without an answer is left out.
    private func versions(in folder: URL) async throws -> [Int: Int] {
        let player = StubTransport.files(in: folder)
        var versions: [Int: Int] = [:]
        for item in 0..<FolderFill.items {
            do {
                let response = try await player.send(request(at: "https://a.example/\(item)"))
                let text = String(decoding: response.body.data ?? Data(), as: UTF8.self)
                let fill = FolderFill(
                    status: response.status.code,
                    mark: response.headers["X-Mark"],
                    content: text
                )
                let version: Int = try #require(
                    fill.version(of: item),
                    "\(item): \(fill.status) \(fill.mark ?? "-") \(text.prefix(50))"
                )
                versions[item] = version
            } catch let error as TransportError where error.code == .noStub {}
        }
        return versions
    }

    @Test func aKilledProcessLeavesTheOldAnswerOrTheNewOne() async throws {
        let seed: UInt64 = 7
        var generator = SeededGenerator(seed: seed)
        let recorded = RecordedFolder()
        var before: [Int: Int] = [:]
        var rounds = 0
        for process in 1...FullLoad.count(20, full: 60) {
            let first = 1_000 * process
            let last = try await recordUntilDeath(recorded.url, from: first, &generator)
            rounds += last.map { $0 - first + 1 } ?? 0
            let isMade = FileManager.default.fileExists(atPath: recorded.url.path)
            let now = isMade ? try await versions(in: recorded.url) : [:]
            for version in now.values {
                let isNew = (last ?? first)...((last ?? first - 1) + 1) ~= version
                #expect(isNew || last == nil && version < first, "seed \(seed), process \(process): \(version)")
            }
            let lost = Set(before.keys).subtracting(now.keys)
            #expect(lost.count <= 1, "only the answer that the process was replacing: \(lost)")
            before = now
        }
        #expect(rounds > 5, "the killed processes had recorded something: \(rounds)")
        try await recordAgain(recorded)
    }

    /// Recording again leaves what a new folder would have, and no temporary file.
    private func recordAgain(_ recorded: RecordedFolder) async throws {
        let new = RecordedFolder()
        for folder in [recorded, new] {
            let chain = folder.chain()
            for item in 0..<FolderFill.items {
                folder.stub.enqueue(.text("new \(item)"))
                _ = try await chain.send(request(at: "https://a.example/\(item)"))
            }
            #expect(folder.errors.all.isEmpty)
        }
        #expect(Set(recorded.everything) == Set(new.everything))
        for file in try FolderPath(new.url).list().files.map(FolderPath.text) {
            #expect(try Data(contentsOf: recorded.folder.file(file)) == Data(contentsOf: new.folder.file(file)))
        }
    }
}

@Suite(.againstHanging) struct UnreadableFolderTests {
    private func ask(_ folder: URL, descriptors: Int) async throws -> String {
        let program = try #require(RecordingChild.program)
        return try await Command.run(program, ["folder", "ask", folder.path, "\(descriptors)"]).text
    }

    @Test func folderWithoutRightsIsAnErrorThatNamesIt() async throws {
        let folder = try AnswerFolder(["GET/a.txt": "1", "GET/closed/b.txt": "1"])
        #expect(try await ask(folder.url, descriptors: 256).hasPrefix("noStub "))
        let closed = folder.url.appending(path: "GET/closed").path
        chmod(closed, 0)
        defer { chmod(closed, 0o755) }
        let text = try await ask(folder.url, descriptors: 256)
        #expect(
            text.hasPrefix("unreadableFile ") && text.contains("GET/closed can't be read: Permission denied."),
            "\(text)"
        )
    }

    @Test func aDeepFolderTakesFewDescriptors() async throws {
        let deep = (1...60).map { "\($0)" }.joined(separator: "/")
        let folder = try AnswerFolder(["GET/\(deep)/a.txt": "1"])
        #expect(try await ask(folder.url, descriptors: 40).hasPrefix("noStub "))
    }

    @Test func folderThatIsAFileIsNotMissing() async throws {
        let folder = try AnswerFolder(["a": "1"])
        let transport = StubTransport.files(in: folder.url.appending(path: "a"))
        let error = await #expect(throws: TransportError.self) { try await transport.text("/") }
        #expect(error?.code == .unreadableFile)
        #expect(try #require(error).message.contains("Not a directory."))
        #expect(FolderPath.Failure(code: ENOTDIR, file: "a").isMissing == false)
    }
}
#endif
