import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsTransport

#if canImport(InterceptorsURLSession)
@testable import InterceptorsURLSession
#endif

@Suite(.againstHanging, .heavy) struct URLSessionUploadTests {
    let server: MockServer
    let spool: TemporaryFolder
    let folder: TemporaryFolder
    let transport: URLSessionTransport

    init() throws {
        server = try MockServer()
        server.on(.put, "/ok") { request in StubAnswer.status(200, body: "\(request.bodyLength)") }
        spool = try TemporaryFolder()
        folder = try TemporaryFolder()
        transport = URLSessionTransport(
            timeouts: Timeouts(idle: nil),
            streamBuffer: 1 << 20,
            time: .system,
            spoolDirectory: spool.url
        )
    }

    private var leftovers: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: spool.url.path) }
    }

    private func put(_ body: HTTPBody, _ path: String = "/ok") async throws -> String {
        try await content(of: transport.send(makeRequest(server, path, .put, body: body)))
    }

    private func file(_ count: Int) throws -> URL {
        try folder.write(Data(repeating: 5, count: count))
    }

    private static let pieces = (0..<100).map { Data(repeating: UInt8($0), count: 10_007) }
    private static let whole = Data(pieces.joined())

    private static func source() -> AsyncStream<Data> {
        AsyncStream { continuation in
            for piece in pieces { continuation.yield(piece) }
            continuation.finish()
        }
    }

    @Test func bytesGoOutWithTheirLength() async throws {
        #expect(try await put(HTTPBody(Self.whole)) == "\(Self.whole.count)")
        let request = await server.requests(atLeast: 1)[0]
        #expect(request.body == Self.whole)
        #expect(request.headers[.contentLength] == "\(Self.whole.count)")
    }

    @Test func filesGoOutWithTheirLength() async throws {
        let url = try file(1_000_003)
        #expect(try await put(HTTPBody(file: url)) == "1000003")
        #expect(await server.requests(atLeast: 1)[0].headers[.contentLength] == "1000003")
        #expect(FileManager.default.fileExists(atPath: url.path))
    }

    @Test func aLinkIsSentAsTheFileThatItLeadsTo() async throws {
        let url = try file(1_003)
        let body = try HTTPBody(file: url)
        let target = folder.url.appendingPathComponent("target")
        try FileManager.default.moveItem(at: url, to: target)
        try FileManager.default.createSymbolicLink(at: url, withDestinationURL: target)
        #expect(try await put(body) == "1003")
        #expect(await server.requests(atLeast: 1)[0].headers[.contentLength] == "1003")
    }

    @Test func anEmptyFileIsSent() async throws {
        let url = try file(0)
        #expect(try await put(HTTPBody(file: url)) == "0")
    }

    @Test func streamsGoOutWholeWithOrWithoutALength() async throws {
        let length = Int64(Self.whole.count)
        let bodies: [HTTPBody] = [
            .oneShot(Self.source()), .oneShot(Self.source(), length: length), .restartable { Self.source() },
            .restartable(length: length) { Self.source() },
        ]
        for (index, body) in bodies.enumerated() {
            #expect(try await put(body) == "\(length)")
            #expect(await server.requests(atLeast: index + 1)[index].body == Self.whole)
        }
        #expect(try leftovers == [])
    }

    @Test func aRestartableStreamIsSentAgainAndAOneShotIsRefusedBeforeSending() async throws {
        let restartable = HTTPBody.restartable { Self.source() }
        for _ in 0..<2 { #expect(try await put(restartable) == "\(Self.whole.count)") }
        let oneShot = HTTPBody.oneShot(Self.source())
        _ = try await put(oneShot)
        #expect(try await failure { try await put(oneShot) }.code == .bodyNotReplayable)
        #expect(server.requests.count == 3)
    }

    @Test func aStreamOfAnotherLengthThanAnnouncedIsNotSent() async throws {
        for length in [1, Int64(Self.whole.count) + 1] {
            let body = HTTPBody.oneShot(Self.source(), length: length)
            #expect(try await failure { try await put(body) }.code == .bodyLengthMismatch)
        }
        #expect(server.requests.isEmpty)
        #expect(try leftovers == [])
    }

    @Test func aStreamThatThrowsEndsTheCallWithItsError() async throws {
        let stream = AsyncThrowingStream<Data, any Error> { continuation in
            continuation.yield(Data("some"))
            continuation.finish(throwing: Broken())
        }
        await #expect(throws: Broken()) { try await put(.restartable { stream }) }
        #expect(server.requests.isEmpty)
        #expect(try leftovers == [])
    }

    @Test func aTemporaryFileIsPrivateAndGoesWithTheLastWhoHoldsIt() async throws {
        let count = Notes<Void>()
        var file: SpooledFile? = try await SpooledFile.spool(.restartable { Self.source() }, in: spool.url) { _ in
            count.add(())
        }
        let path = try #require(file?.url.path)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        #expect(FileManager.default.contents(atPath: path) == Self.whole)
        #expect(count.all.count == Self.pieces.count)
        file = nil
        #expect(try leftovers == [])
    }

    @Test func theTemporaryFileGoesWhateverHappens() async throws {
        for fault in [StubAnswer.closeBeforeHead, .reset, .garbage, .closeInBody(after: 1, of: 2)] {
            server.enqueue(fault)
            _ = try await failure { try await put(.oneShot(Self.source()), "/fault") }
        }
        server.enqueue(.neverAnswer)
        let call = Task { try await put(.oneShot(Self.source()), "/never") }
        await server.requests(atLeast: 5)
        #expect(try leftovers.count == 1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(try leftovers == [])
    }

    @Test func aMissingTemporaryFolderIsAnError() async throws {
        try FileManager.default.removeItem(at: spool.url)
        #expect(try await failure { try await put(.oneShot(Self.source())) }.code == .unwritableFile)
    }

    @Test func cancellingDuringTheStreamIsImmediateEvenIfItsSourceDoesNotCare() async throws {
        let given = Notes<Void>()
        let waiting = Notes<CheckedContinuation<Void, Never>>()
        let asked = Gate()
        let stream = AsyncStream<Data> {
            if given.all.isEmpty {
                given.add(())
                return Data("x")
            }
            await withCheckedContinuation { continuation in
                waiting.add(continuation)
                asked.open()
            }
            return nil
        }
        let call = Task { try await put(.oneShot(stream)) }
        await asked.opened()
        #expect(try leftovers.count == 1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        for continuation in waiting.all { continuation.resume() }
        #expect(server.requests.isEmpty)
    }

    @Test func aFileThatChangedItsLengthOrIsGoneIsNotSent() async throws {
        let url = try file(1000)
        let body = try HTTPBody(file: url)
        for count in [999, 1001] {
            try Data(count: count).write(to: url)
            #expect(try await failure { try await put(body) }.code == .bodyLengthMismatch)
        }
        try FileManager.default.removeItem(at: url)
        #expect(try await failure { try await put(body) }.code == .unreadableFile)
        #expect(server.requests.isEmpty)
    }

    @Test func aFileThatShrinksWhileItIsSentEndsTheCall() async throws {
        let url = try file(50_000_000)
        let clock = ManualClock()
        let transport = URLSessionTransport(timeouts: Timeouts(idle: nil, total: .seconds(60)), time: .manual(clock))
        let (progress, continuation) = AsyncStream.makeStream(of: Void.self)
        var request = try makeRequest(server, "/ok", .put, body: HTTPBody(file: url))
        request.context.uploadProgress = { _ in
            truncate(url.path, 1000)
            continuation.yield()
        }
        let call = Task { [request] in try await transport.send(request) }
        for await _ in progress { break }
        await clock.sleepers(1)
        clock.advance(by: .seconds(60))
        #expect(try await failure { try await call.value }.code == .bodyLengthMismatch)
        #expect(server.requests.isEmpty)
    }

    @Test func uploadProgressTellsWhatHasGoneOut() async throws {
        let url = try file(300_000)
        for body in [HTTPBody(Data(count: 300_000)), try HTTPBody(file: url)] {
            let notes = Notes<TransferProgress>()
            var request = try makeRequest(server, "/ok", .put, body: body)
            request.context.uploadProgress = { notes.add($0) }
            _ = try await transport.send(request)
            #expect(notes.all.last == TransferProgress(completed: 300_000, total: 300_000))
            #expect(notes.all.count > 1)
            #expect(notes.all.map(\.completed) == notes.all.map(\.completed).sorted())
        }
    }

    @Test func anAnswerBeforeTheBodyHasGoneOutIsGiven() async throws {
        server.on(.put, "/early", readsBody: false) { _ in StubAnswer.status(413, body: "too large") }
        let response = try await transport.send(
            makeRequest(server, "/early", .put, body: HTTPBody(Data(count: 20_000_000)))
        )
        #expect(response.status == 413)
    }
}
