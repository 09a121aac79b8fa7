import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsRecordings

extension TapeFiles {
    fileprivate func append(_ lines: Data) throws {
        let lock = try #require(try lock())
        defer { release(lock) }
        try append(lines, lock)
    }

    fileprivate func rewrite(_ merge: (TapeBytes) throws -> Data) throws {
        let lock = try #require(try lock())
        defer { release(lock) }
        try rewrite(lock, merge)
    }
}

@Suite(.againstHanging) struct TapeFilesTests {
    private let tape: TapeFile
    init() throws { tape = try TapeFile() }

    private func line(_ number: Int) -> Data {
        let request = RecordedExchange.Request(
            method: .get,
            url: "https://a.example/\(number)?q=%0A",
            body: Data("a\nb".utf8)
        )
        let start = Date(timeIntervalSince1970: 0)
        return HARArchive.encode(line: RecordedExchange(number: Int64(number), startedAt: start, request: request))
    }

    /// The numbers of the exchanges in a side file.
    private func numbers(_ side: Data) throws -> [String] {
        let merge = TapeMerge(redaction: .standard)
        return try merge.exchanges((side, nil), file: "a.har").map {
            String($0.request.url.dropFirst(18).prefix(1))
        }
    }

    @Test func halfALineIsLeftOut() throws {
        let bytes = line(7)
        #expect(bytes.count { $0 == 0x0A } == 1)
        #expect(try numbers(bytes + line(8)) == ["7", "8"])
        for count in 1..<bytes.count - 1 {
            #expect(try numbers(bytes.prefix(count)).isEmpty, "\(count) bytes")
            #expect(try numbers(bytes.prefix(count) + [0x0A] + line(8)) == ["8"], "\(count) bytes, and a line")
        }
        for text in ["", "\n\n", "a", "a b", "a 1 {}", "\0", " {}x", "{"] {
            #expect(try numbers(Data(text.utf8)).isEmpty)
        }
    }

    @Test func aLineAfterHalfALineBeginsOnItsOwn() throws {
        let files = try TapeFiles(tape.url)
        try files.append(line(1))
        let half = try #require(FileManager.default.contents(atPath: tape.side.path)) + line(2).dropLast(3)
        try half.write(to: tape.side)
        try files.append(line(3))
        #expect(try numbers(try #require(try files.read().side)) == ["1", "3"])
    }

    @Test func aMergeReplacesTheFileAndRemovesTheSideFile() throws {
        let files = try TapeFiles(tape.url)
        try files.append(line(1))
        try Data().write(to: tape.folder.file(".users.har.left.tmp"))
        try files.rewrite { bytes in
            #expect(bytes.tape == nil && bytes.side == line(1))
            return Data("whole".utf8)
        }
        #expect(tape.bytes == Data("whole".utf8))
        #expect(tape.names == ["users.har"], "leftovers of a killed process are gone, too")
    }

    @Test func anotherProcessIsExcludedUntilTheLastRecordingEnds() throws {
        let files = try TapeFiles(tape.url)
        let locks = try (0..<2).map { _ in try #require(try files.lock()) }
        for lock in locks {
            let other = try OpenedFile.open(tape.side.path, O_RDWR)
            #expect(other.tryLock() == .busy)
            files.release(lock)
        }
        #expect(tape.names.isEmpty)
        // A file that the name no longer leads to excludes nobody.
        try Data().write(to: tape.side)
        let other = try OpenedFile.open(tape.side.path, O_RDWR)
        #expect(other.tryLock() == .locked)
        #expect(try files.lock() == nil)
        try FileManager.default.removeItem(at: tape.side)
        files.release(try #require(try files.lock()))
    }

    @Test func aMergeThatFailsLeavesBothFiles() throws {
        struct Failure: Error {}
        let files = try TapeFiles(tape.url)
        try files.append(line(1))
        #expect(throws: Failure.self) { try files.rewrite { _ in throw Failure() } }
        #expect(tape.names == ["users.har.unfinished"])
    }

    @Test func aReplacedFileKeepsItsPlaceBehindALink() throws {
        let target = try tape.folder.write(Data("old".utf8), to: "target.har")
        try FileManager.default.createSymbolicLink(at: tape.url, withDestinationURL: target)
        let files = try TapeFiles(tape.url)
        #expect(files == (try TapeFiles(target)), "one lock and one side file")
        try files.append(line(1))
        try files.rewrite { _ in Data("new".utf8) }
        #expect(FileManager.default.contents(atPath: target.path) == Data("new".utf8))
        #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: tape.url.path)) == target.path)
        #expect(tape.names == ["target.har", "users.har"])
    }

    @Test func aMissingFolderBehindALinkHasOneIdentity() throws {
        let target = tape.folder.file("target")
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: false)
        let link = tape.folder.file("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
        let file = link.appending(path: "a/b/users.har")
        let before = try TapeFiles(file)
        try before.append(line(1))
        #expect(before == (try TapeFiles(file)))
        #expect(before == (try TapeFiles(target.appending(path: "a/b/users.har"))))
    }

    @Test func aFileKeepsItsPermissions() throws {
        func permissions(_ file: URL) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        }
        try Data("old".utf8).write(to: tape.url)
        #expect(chmod(tape.url.path, 0o600) == 0)
        let files = try TapeFiles(tape.url)
        try files.append(line(1))
        #expect(try permissions(tape.side) == 0o600)
        try files.rewrite { _ in Data("new".utf8) }
        #expect(try permissions(tape.url) == 0o600)
    }

    @Test func aLinkThatLeadsNowhereIsAnError() throws {
        try FileManager.default.createSymbolicLink(at: tape.url, withDestinationURL: tape.folder.file("nothing"))
        let error = try #require(#expect(throws: TransportError.self) { try TapeFiles(tape.url) })
        #expect(error.code == .unreadableFile && error.message.contains(tape.url.path))
    }

    @Test func aMissingFolderIsCreated() throws {
        let file = tape.folder.file("a").appending(path: "b/users.har")
        let files = try TapeFiles(file)
        try files.append(line(1))
        try files.rewrite { _ in Data("x".utf8) }
        #expect(FileManager.default.contents(atPath: file.path) == Data("x".utf8))
    }
}

/// Files that can't be read or written.
@Suite(.againstHanging) struct RecordingFileFaultTests {
    private let tape: TapeFile

    init() throws { tape = try TapeFile() }

    @Test(arguments: [Recording.Mode.none, .new, .all])
    func aMalformedFileIsNamedWithItsEntry(mode: Recording.Mode) async throws {
        try await tape.record(["/a", "/b"], .stub(.text("1"), .text("2")))
        let text = String(decoding: try #require(tape.bytes), as: UTF8.self)
        let second = try #require(text.range(of: "\"GET\"", options: .backwards))
        let malformed = text.replacingCharacters(in: second, with: "7")
        try Data(malformed.utf8).write(to: tape.url)
        for _ in 0..<2 {
            let error = try await failure(.unreadableFile) { try await tape.recording(mode).get("/a") }
            #expect(
                error.message.contains(tape.url.path) && error.message.contains("entries[1].request.method"),
                "\(error)"
            )
        }
        #expect(tape.bytes == Data(malformed.utf8))
    }

    @Test func aFolderInTheFilesPlaceIsAnError() async throws {
        try FileManager.default.createDirectory(at: tape.url, withIntermediateDirectories: false)
        for mode in [Recording.Mode.none, .new, .all] {
            let error = try await failure(.unreadableFile) { try await tape.recording(mode).get("/a") }
            #expect(error.message.contains(tape.url.path))
        }
    }

    #if os(Linux)
    @Test(arguments: ["/dev/full", "/dev/zero"]) func aDeviceIsAnError(path: String) async throws {
        let recording = Recording(at: URL(filePath: path), mode: .new, environment: [:])
        let error = try await failure(.unreadableFile) { try await recording.get("/a") }
        #expect(error.message.contains(path))
    }
    #endif

    @Test func aFIFOIsAnErrorAndBlocksNobody() async throws {
        #expect(mkfifo(tape.url.path, 0o600) == 0)
        _ = try await failure(.unreadableFile) { try await tape.recording(.new).get("/a") }
    }

    @Test func aFileThatIsNotOneIsAnError() async throws {
        let recording = Recording(at: try tapeURL("/a"), mode: .new, environment: [:])
        _ = try await failure(.unreadableFile) { try await recording.get("/a") }
    }

    // Root may write everywhere, so the folder's parent is a file: neither the folder nor a file in it can be made.
    @Test func aFolderThatDisappearsFailsNoRequestAndIsReported() async throws {
        let blocker = try tape.folder.write(Data(), to: "blocker")
        let recording = Recording(at: blocker.appending(path: "a/users.har"), mode: .all, environment: [:])
        await #expect(throws: TransportError.self) { try await recording.get("/a", over: NoServer()) }
        let locked = try TapeFile()
        let tape = locked.recording(.new)
        // The first request decides about the file; then its folder disappears behind a file.
        let server = StubTransport.stub(.text("1"), .text("2"))
        #expect(try await tape.get("/a", over: server) == "1")
        try FileManager.default.removeItem(at: locked.folder.url)
        try Data().write(to: locked.folder.url)
        #expect(try await tape.get("/b", over: server) == "2", "the server has answered")
        // The line of `/a` was in the folder, too.
        let error = try #require(#expect(throws: TransportError.self) { try tape.finish() })
        #expect(error.code == .unwritableFile && error.message.contains(locked.folder.url.path))
    }

    @Test(.enabled("Root may write everywhere.") { geteuid() != 0 })
    func aReadOnlyFolderPlaysAndRefusesToRecord() async throws {
        try await tape.record(["/a"], .stub(.text("1")))
        chmod(tape.folder.url.path, 0o500)
        defer { chmod(tape.folder.url.path, 0o700) }
        #expect(try await tape.recording(.none).get("/a") == "1")
        let recording = tape.recording(.new)
        _ = try await failure(.unwritableFile) { try await recording.get("/b") }
    }

    @Test func playingBackNeverRewritesARecording() async throws {
        try await tape.record(["/a"], .stub(.text("1")))
        // A side file of a process that was killed stays as it is, too.
        try TapeFiles(tape.url).append(Data("half a line".utf8))
        func look() throws -> [String] {
            try tape.names.map { name in
                let path = tape.folder.file(name).path
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                let content = try #require(FileManager.default.contents(atPath: path))
                let facts = [attributes[.systemFileNumber], attributes[.modificationDate]].map { "\($0 ?? "")" }
                return "\(name) \(content.hashValue) \(facts)"
            }
        }
        let before = try look()
        let played = tape.recording(.none)
        try await played.get("/a")
        _ = try? await played.get("/b")
        try played.finish()
        let once = try TapeFile()
        try FileManager.default.copyItem(at: tape.url, to: once.url)
        let bytes = once.bytes
        let again = once.recording(.once)
        try await again.get("/a")
        try again.finish()
        #expect(try look() == before)
        #expect(once.bytes == bytes && once.names == ["users.har"])
    }
}
