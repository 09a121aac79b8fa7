import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct CompressRequestInterceptorTests {
    private static let text = String(repeating: #"{"name":"Ada","role":"engineer"},"#, count: 2_000)

    private func sent(
        _ body: HTTPBody,
        _ fields: HTTPFields = [:],
        by interceptor: AnyInterceptor = .compressRequest()
    ) async throws -> HTTPRequest {
        let recorder = Recorder()
        let request = HTTPRequest(method: .post, url: try url("https://e.com/"), headers: fields, body: body)
        _ = try await InterceptorChain([interceptor], transport: recorder).send(request)
        return try #require(recorder.requests.first)
    }

    /// The body as the system's `gzip` decompresses it.
    private func decompressed(_ body: HTTPBody) async throws -> Data {
        let compressed = try await body.collect(upTo: 1 << 28)
        #if os(Linux) || os(macOS)
        let result = try await Command.run("/usr/bin/env", ["gzip", "-dc"], input: compressed)
        #expect(result.status == 0, "\(result.complaint)")
        return result.output
        #else
        return compressed
        #endif
    }

    private func isUntouched(_ request: HTTPRequest) -> Bool {
        request.headers[.contentEncoding] != "gzip"
    }

    @Test func contentInMemoryIsCompressedOnceAndHasItsNewLength() async throws {
        let request = try await sent(HTTPBody(Self.text), [.contentLength: "\(Self.text.utf8.count)"])
        #expect(request.headers == [.contentEncoding: "gzip"])
        let length = try #require(request.body.length)
        #expect(length < Int64(Self.text.utf8.count) / 10)
        #expect(request.body.isRestartable && request.body.data != nil)
        #expect(try await decompressed(request.body) == Data(Self.text.utf8))
        try request.validate()
    }

    @Test(arguments: [1, 6, 9, 0, 100]) func everyLevelDecompresses(level: Int) async throws {
        let request = try await sent(HTTPBody(Self.text), by: .compressRequest(level: level))
        #expect(try await decompressed(request.body) == Data(Self.text.utf8))
    }

    @Test func sizeDecides() async throws {
        let interceptor = AnyInterceptor.compressRequest(above: 100)
        let small = String(repeating: "a", count: 100)
        #expect(isUntouched(try await sent(HTTPBody(small), by: interceptor)))
        #expect(!isUntouched(try await sent(HTTPBody(small + "a"), by: interceptor)))
        #expect(isUntouched(try await sent(.empty, by: .compressRequest(above: 0))))
        #expect(isUntouched(try await sent(.empty, by: .compressRequest(above: -1))))
    }

    @Test func contentThatDoesNotGetSmallerStaysAsItIs() async throws {
        var generator = SeededGenerator(seed: 1)
        let noise = Data((0..<4_096).map { _ in UInt8.random(in: 0...255, using: &generator) })
        let request = try await sent(HTTPBody(noise), [.contentLength: "4096"])
        #expect(isUntouched(request))
        #expect(request.headers[.contentLength] == "4096")
        #expect(request.body.data == noise)
    }

    @Test(
        arguments: [
            [.contentEncoding: "br"], [.contentRange: "bytes 0-9/100"], ["Content-Digest": "sha-256=:x:"],
            ["Content-MD5": "x"], [.contentType: "image/png"], [.contentType: "Application/ZIP; x=y"],
            [.contentType: "video/mp4"],
        ] as [HTTPFields]
    )
    func whatIsEncodedOrVouchedForStaysAsItIs(fields: HTTPFields) async throws {
        let request = try await sent(HTTPBody(Self.text), fields)
        #expect(request.headers == fields)
        #expect(request.body.data == Data(Self.text.utf8))
    }

    @Test(arguments: ["application/json", "image/svg+xml", "text/plain; charset=utf-8", "image/bmp"])
    func textIsCompressed(type: String) async throws {
        #expect(!isUntouched(try await sent(HTTPBody(Self.text), [.contentType: type])))
    }

    @Test func onlyChosenRequestsAreCompressed() async throws {
        let interceptor = AnyInterceptor.compressRequest { $0.headers.contains("X-Big") }
        #expect(isUntouched(try await sent(HTTPBody(Self.text), by: interceptor)))
        #expect(!isUntouched(try await sent(HTTPBody(Self.text), ["X-Big": "1"], by: interceptor)))
    }

    @Test func restartableStreamStaysRestartableWithTheSameBytes() async throws {
        let reads = Tally()
        let body = HTTPBody.restartable(length: Int64(Self.text.utf8.count)) {
            reads.count()
            return Chunks([Self.text])
        }
        let request = try await sent(body, [.contentLength: "\(Self.text.utf8.count)"])
        #expect(request.headers == [.contentEncoding: "gzip"])
        #expect(request.body.isRestartable && request.body.length == nil)
        #expect(reads.value == 0)
        let first = try await request.body.collect(upTo: 1 << 20)
        let second = try await request.body.collect(upTo: 1 << 20)
        #expect(first == second && reads.value == 2)
        #expect(try await decompressed(request.body) == Data(Self.text.utf8))
    }

    @Test func howItIsCutMakesNoDifferenceToWhatComesOut() async throws {
        let pieces = stride(from: 0, to: 60_000, by: 7).map { _ in "abcdefg" }
        let cut = try await sent(.restartable { Chunks(pieces) })
        let whole = try await sent(.restartable { Chunks([pieces.joined()]) })
        #expect(try await cut.body.collect(upTo: 1 << 20) == whole.body.collect(upTo: 1 << 20))
    }

    @Test func oneShotStreamIsReadOnceAndCompressedOnTheWay() async throws {
        let chunks = Chunks((0..<200).map { "chunk \($0) of the stream\n" })
        let body = HTTPBody.oneShot(chunks)
        let request = try await sent(body)
        #expect(body.isReadable && request.body.isReadable && !request.body.isRestartable)
        #expect(try await decompressed(request.body) == Data(chunks.chunks.joined().utf8))
        #expect(!request.body.isReadable && !body.isReadable)
        let error = await #expect(throws: TransportError.self) { try await request.body.collect(upTo: 10) }
        #expect(error?.code == .bodyNotReplayable)
    }

    @Test func usedUpStreamIsNotPassedOffAsAFreshOne() async throws {
        let body = HTTPBody.oneShot(Chunks(["a"]))
        _ = try await sent(body).body.collect(upTo: 1 << 20)
        let again = try await sent(body)
        #expect(!again.body.isReadable && isUntouched(again))
    }

    @Test func discardedOneShotStreamLetsItsSourceGo() async throws {
        let discards = Tally()
        let request = try await sent(.oneShot(NoChunks(), onDiscard: { discards.count() }))
        request.body.discard()
        #expect(discards.value == 1)
    }

    @Test func errorOfTheStreamIsTheErrorOfTheReading() async throws {
        let request = try await sent(.oneShot(Chunks(["a"], failure: Broken())))
        await #expect(throws: Broken.self) { try await request.body.collect(upTo: 1 << 20) }
    }

    @Test func emptyStreamIsAnEmptyGzipFile() async throws {
        let request = try await sent(.oneShot(Chunks([])))
        #expect(try await decompressed(request.body).isEmpty)
    }

    @Test func fileIsCompressedAnewForEachAttempt() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Data(Self.text.utf8))
        let request = try await sent(try HTTPBody(file: file))
        for _ in 0..<2 { #expect(try await decompressed(request.body) == Data(Self.text.utf8)) }
    }

    @Test func muchThatCompressesWellAndBadlyComesBackWhole() async throws {
        var generator = SeededGenerator(seed: 2)
        var bytes = Data(count: 3_000_000)
        bytes += Data((0..<1_000_000).map { _ in UInt8.random(in: 0...255, using: &generator) })
        bytes += Data(count: 1_000_000)
        let request = try await sent(HTTPBody(bytes))
        #expect(try await decompressed(request.body) == bytes)
        let slice = bytes[500_000..<4_500_000]
        #expect(try await decompressed(try await sent(HTTPBody(slice)).body) == slice)
    }

    @Test func overARealServer() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.post, "/*") { _ in StubAnswer.status(204) }
        let client = Client(baseURL: server.url, interceptors: [.compressRequest()])
        for body in [HTTPBody(Self.text), .oneShot(Chunks([Self.text, Self.text]))] {
            let response = try await client.send(HTTPRequest(method: .post, url: try url("/x"), body: body))
            #expect(response.status == 204)
        }
        #expect(server.requests.map { $0.headers[.contentEncoding] } == ["gzip", "gzip"])
        #expect(try await decompressed(HTTPBody(server.requests[0].body)) == Data(Self.text.utf8))
        #expect(try await decompressed(HTTPBody(server.requests[1].body)) == Data((Self.text + Self.text).utf8))
    }
}
