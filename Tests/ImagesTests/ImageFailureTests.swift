import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsImages

@Suite(.againstHanging) struct ImageFailureTests {
    @Test func failureReachesEveryAskerAndIsNotKept() async throws {
        let server = StubTransport()
        server.enqueue(.failure(TransportError(.connectionLost, "Cut off.")), .text("abc"))
        let loader = ImageLoader<Picture>(server)
        let queue = try JobQueue(seed: 0)
        let askers = queue.enter { (0..<5).map { _ in Task { try await loader.image(at: "/a") } } }
        queue.runAll()
        for asker in askers {
            let error = await #expect(throws: TransportError.self) { try await asker.value }
            #expect(error?.code == .connectionLost)
        }
        #expect(server.requests.count == 1)
        #expect(loader.memoryCount == 0 && loader.loadCounts == (0, 0))
        #expect(try await loader.image(at: "/a").image.text == "abc")
    }

    private func failure(
        of answer: StubAnswer,
        decode: @escaping @Sendable (Data) throws -> Picture = { _ in throw NoPicture() }
    ) async throws -> ResponseDecodingError {
        let server = StubTransport()
        server.enqueue(answer)
        let loader = ImageLoader<Picture>(server, decode: decode)
        let error = await #expect(throws: ResponseDecodingError.self) { try await loader.image(at: "/a?token=hush") }
        #expect(loader.memoryCount == 0)
        return try #require(error)
    }

    @Test func contentThatIsNoImageIsUndecodable() async throws {
        let failure = try await failure(of: .data(Data([0x89, 0x50, 0xFF]), contentType: "image/png"))
        #expect(failure.code == .undecodable)
        #expect(failure.underlying is NoPicture)
        #expect(failure.body == Data([0x89, 0x50, 0xFF]))
        #expect(failure.message == "Picture can't be decoded: the decoder threw NoPicture.")
        #expect(!failure.description.contains("hush") && failure.description.contains("https://img.example.com/v1/a"))
    }

    @Test func decodersErrorIsNotTakenForOneOfJSON() async throws {
        let failure = try await failure(of: .text("abc")) { _ in
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "The picture has no header."))
        }
        #expect(failure.message == "Picture can't be decoded: The picture has no header.")
    }

    @Test func variantsErrorIsUndecodable() async throws {
        struct Broken: ImageVariant {
            func image(from content: Data) throws -> Picture { throw NoPicture() }
        }
        let server = StubTransport()
        server.enqueue(.text("abc"))
        let loader = ImageLoader<Picture>(server)
        let error = await #expect(throws: ResponseDecodingError.self) { try await loader.image(at: "/a", as: Broken()) }
        #expect(error?.code == .undecodable)
    }

    @Test func failureIsToldToTheObserversOfTheResponse() async throws {
        let failures = Notes<HTTPErrorCode>()
        let observing: AnyInterceptor = .intercept { request, next in
            var response = try await next(request)
            response.context.observeDecodingErrors { failures.add($0.code) }
            return response
        }
        let server = StubTransport()
        server.enqueue(.text("abc"))
        let loader = ImageLoader<Picture>(server, [observing]) { _ in throw NoPicture() }
        await #expect(throws: ResponseDecodingError.self) { try await loader.image(at: "/a") }
        #expect(failures.all == [.undecodable])
    }

    @Test func emptyContentAndUnacceptedStatusAreFailures() async throws {
        #expect(try await failure(of: .status(200)).code == .emptyBody)
        #expect(try await failure(of: .text("No such picture.", status: 404)).code == .unacceptedStatus)
    }

    @Test func decodersCancellationIsNoFailure() async throws {
        let server = StubTransport()
        server.enqueue(.text("abc"))
        let loader = ImageLoader<Picture>(server) { _ in throw CancellationError() }
        await #expect(throws: CancellationError.self) { try await loader.image(at: "/a") }
    }

    @Test func contentOverTheLimitFailsBeforeItIsDecoded() async throws {
        let decoded = Tally()
        let long = Data(repeating: 1, count: 11)
        let server = StubTransport()
        server.enqueue(.data(long), .data(long.dropLast()))
        // Each answers with a content in memory, or with a stream, whatever the request's limit says.
        let inMemory: AnyInterceptor = .intercept { _, _ in HTTPResponse(status: 200, body: HTTPBody(long)) }
        let streaming: AnyInterceptor = .intercept { _, _ in
            HTTPResponse(status: 200, body: .oneShot(Chunks([String(decoding: long, as: UTF8.self)])))
        }
        for interceptors: [any Interceptor] in [[], [inMemory], [streaming]] {
            let loader = ImageLoader<Picture>(server, interceptors, bodyLimit: 10) { _ in
                decoded.count()
                return Picture(text: "")
            }
            let error = await #expect(throws: TransportError.self) { try await loader.image(at: "/a") }
            #expect(error?.code == .bodyTooLarge)
            #expect(error?.request?.url.contains("img.example.com") == true)
            #expect(decoded.value == 0 && loader.memoryCount == 0)
        }
        let loader = ImageLoader<Picture>(server, bodyLimit: 10)
        #expect(try await loader.image(at: "/a").source == .network, "Ten bytes are allowed.")
    }

    @Test func invalidURLFailsBeforeAnythingIsSent() async throws {
        let server = StubTransport()
        let loader = ImageLoader<Picture>(server)
        let target = RequestTarget(text: "ftp://example.com/a")
        let error = await #expect(throws: TransportError.self) { try await loader.image(at: target) }
        #expect(error?.code == .unsupportedURL)
        #expect(loader.imageInMemory(at: target) == nil)
        loader.remove(at: target)
        #expect(server.requests.isEmpty && loader.loadCounts == (0, 0))
    }
}
