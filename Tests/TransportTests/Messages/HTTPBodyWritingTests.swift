import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsTransport

#if canImport(InterceptorsURLSession)
import InterceptorsURLSession
#endif

@Suite(.againstHanging) struct HTTPBodyWritingTests {
    private let folder: TemporaryFolder
    private let file: URL

    init() throws {
        folder = try TemporaryFolder()
        file = folder.file("film.mp4")
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
    }

    private func permissions(of file: URL) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? NSNumber)?.intValue
    }

    @Test func everyKindOfBodyIsWrittenAndCounted() async throws {
        let original = try folder.write(Data("onetwo"), to: "original")
        let bodies: [HTTPBody] = [
            "onetwo", try HTTPBody(file: original), .oneShot(chunks("one", "two")),
            .restartable(length: 6) { chunks("one", "two") },
        ]
        for body in bodies {
            #expect(try await body.write(to: file, upTo: 6) == 6)
            #expect(try Data(contentsOf: file) == Data("onetwo"))
        }
        #expect(try await HTTPBody.empty.write(to: file, upTo: 0) == 0)
        #expect(try Data(contentsOf: file).isEmpty)
        #expect(try names == ["film.mp4", "original"])
    }

    @Test func aResponseIsWrittenAsItArrives() async throws {
        let server = try MockServer()
        let content = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        server.on(.get, "/", .status(200, body: content))
        let response = try await URLSessionTransport().send(makeRequest(server, responseBody: .streamed))
        #expect(try await response.body.write(to: file, upTo: 1 << 30) == 3_000_000)
        #expect(try Data(contentsOf: file) == content)
        #expect(try names == ["film.mp4"])
    }

    @Test func untilTheContentIsCompleteTheEarlierFileStays() async throws {
        try Data("earlier").write(to: file)
        let (source, feed) = AsyncStream.makeStream(of: Data.self)
        let asked = Gate()
        let chunks = AsyncStream<Data> {
            var iterator = source.makeAsyncIterator()
            asked.open()
            return await iterator.next()
        }
        let writing = Task { [file] in try await HTTPBody.oneShot(chunks).write(to: file, upTo: 100) }
        await asked.opened()
        feed.yield(Data("later"))
        #expect(try Data(contentsOf: file) == Data("earlier"))
        feed.finish()
        #expect(try await writing.value == 5)
        #expect(try Data(contentsOf: file) == Data("later"))
    }

    @Test func nothingIsLeftOfWhatFailedAndTheEarlierFileStays() async throws {
        let body = HTTPBody.oneShot(chunks("some", failure: Broken()))
        await #expect(throws: Broken()) { try await body.write(to: file, upTo: 100) }
        #expect(try names == [])
        try Data("earlier").write(to: file)
        let again = HTTPBody.oneShot(chunks("some", failure: Broken()))
        await #expect(throws: Broken()) { try await again.write(to: file, upTo: 100) }
        #expect(try names == ["film.mp4"])
        #expect(try Data(contentsOf: file) == Data("earlier"))
    }

    @Test func nothingIsLeftOfWhatWasCancelledAndItsSourceIsEnded() async throws {
        let (source, feed) = AsyncStream.makeStream(of: Data.self)
        let (asked, ended) = (Gate(), Gate())
        let chunks = AsyncStream<Data> {
            var iterator = source.makeAsyncIterator()
            asked.open()
            return await iterator.next()
        }
        feed.yield(Data("some"))
        let body = HTTPBody.oneShot(chunks) { ended.open() }
        let writing = Task { [file] in try await body.write(to: file, upTo: 100) }
        await asked.opened()
        writing.cancel()
        await #expect(throws: CancellationError.self) { try await writing.value }
        await ended.opened()
        #expect(try names == [])
    }

    @Test(arguments: [nil, 6] as [Int64?])
    func noByteBeyondTheLimitIsAccepted(length: Int64?) async throws {
        let discards = Notes<Void>()
        let body = HTTPBody.oneShot(chunks("one", "two"), length: length) { discards.add(()) }
        #expect(try await failure { try await body.write(to: file, upTo: 5) }.code == .bodyTooLarge)
        #expect(discards.all.count == 1)
        #expect(try names == [])
        #expect(try await failure { try await HTTPBody("1").write(to: file, upTo: -1) }.code == .bodyTooLarge)
    }

    @Test func aPlaceThatCannotBeWrittenToIsAnErrorThatNamesItAndEndsTheSource() async throws {
        let missing = folder.file("missing/film.mp4")
        let remote = try #require(URL(string: "https://example.com/film.mp4"))
        for place in [missing, folder.url, remote] {
            let discards = Notes<Void>()
            let body = HTTPBody.oneShot(chunks("one")) { discards.add(()) }
            let error = try await failure { try await body.write(to: place, upTo: 100) }
            #expect(error.code == .unwritableFile)
            #expect(discards.all.count == 1)
            if place == missing { #expect(error.message.contains(folder.file("missing").path)) }
        }
        #expect(try names == [])
    }

    @Test func whatIsNoFileStaysWhatItIs() async throws {
        let pipe = folder.file("pipe")
        try #require(mkfifo(pipe.path, 0o600) == 0)
        #expect(try await failure { try await HTTPBody("1").write(to: pipe, upTo: 100) }.code == .unwritableFile)
        let attributes = try FileManager.default.attributesOfItem(atPath: pipe.path)
        #expect(attributes[.type] as? FileAttributeType != .typeRegular)
        #expect(try names == ["pipe"])
    }

    @Test func aFileThatComesFromElsewhereActsForNobody() async throws {
        try Data("earlier").write(to: file)
        try #require(chmod(file.path, 0o4755) == 0)
        try await HTTPBody("later").write(to: file, upTo: 100)
        #expect(try permissions(of: file) == 0o755)
    }

    @Test func aBodyThatSomebodyElseReadsStaysTheirs() async throws {
        let discards = Notes<Void>()
        let body = HTTPBody.oneShot(chunks("one", "two")) { discards.add(()) }
        var iterator = body.makeAsyncIterator()
        #expect(try await iterator.next() == Data("one"))
        #expect(try await failure { try await body.write(to: file, upTo: 100) }.code == .bodyNotReplayable)
        #expect(try await iterator.next() == Data("two"))
        #expect(discards.all.isEmpty)
        #expect(try names == [])
    }

    @Test func aReplacedFileLeavesItsPermissionsAndALinkIsNotFollowed() async throws {
        for mode in [0o600, 0o664] {
            try Data("earlier").write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
            try await HTTPBody("later").write(to: file, upTo: 100)
            #expect(try permissions(of: file) == mode)
        }
        let target = try folder.write(Data("target"), to: "target")
        let link = folder.file("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
        try await HTTPBody("later").write(to: link, upTo: 100)
        #expect(try Data(contentsOf: target) == Data("target"))
        #expect(try Data(contentsOf: link) == Data("later"))
    }
}
