#if os(Linux)
import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization
import Testing

@testable import InterceptorsTransport

@Suite(.againstHanging) struct CurlUploadTests {
    /// Such a body would be sent as an empty one, and its content would be lost silently.
    @Test(arguments: [HTTPRequest.Method.put, .head])
    func bodySaidToBeEmptyThatIsNotFailsBeforeAnythingIsSent(method: HTTPRequest.Method) async throws {
        let server = try MockServer()
        server.on(nil, "/", .status(200))
        let folder = try TemporaryFolder()
        let file = folder.file("grows")
        try Data().write(to: file)
        let grown = try HTTPBody(file: file)
        try Data("more".utf8).write(to: file)
        let transport = CurlTransport()
        for body in [grown, .restartable(length: 0) { AsyncStream { $0.yield(Data("more".utf8)) } }] {
            let error = try await failure { try await transport.send(makeRequest(server, "/", method, body: body)) }
            #expect(error.code == .bodyLengthMismatch)
        }
        #expect(server.requests.isEmpty)
        await transport.shutDown()
    }

    @Test func oneShotBodyFoundEmptyCanBeSentAgain() async throws {
        let server = try MockServer()
        server.on(.put, "/", .status(200))
        let request = try makeRequest(server, "/", .put, body: .oneShot(AsyncStream<Data> { $0.finish() }, length: 0))
        let transport = CurlTransport()
        #expect(try await transport.send(request).status == 200)
        #expect(try await transport.send(request).status == 200)
        #expect(server.requests.map(\.bodyLength) == [0, 0])
        await transport.shutDown()
    }

    @Test func serverThatDoesNotReadHoldsBackTheSourceOfTheBody() throws {
        let given = Atomic(0)
        // Limited, so that a source that isn't held back comes to an end.
        let body = HTTPBody.restartable {
            AsyncStream<Data> {
                given.add(1, ordering: .relaxed).newValue <= 1024 ? Data(count: 64 << 10) : nil
            }
        }
        let upload = CurlUpload(length: nil, onProgress: nil)
        let queue = try JobQueue(seed: 0)
        queue.enter {
            upload.begin(body) {}
            upload.start()
        }
        queue.runAll()
        #expect(upload.isSourceHeld)
        #expect(given.load(ordering: .relaxed) == 4)
        // A little free space lets the source give a little more.
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 1)
        defer { buffer.deallocate() }
        queue.enter { for _ in 0..<4 { _ = upload.read(into: buffer) } }
        queue.runAll()
        #expect(upload.isSourceHeld)
        #expect(given.load(ordering: .relaxed) == 8)
        queue.enter { upload.close() }
        queue.runAll()
        #expect(!upload.isSourceHeld)
    }

    /// libcurl stops sending, but without help it would wait for the upload's next bytes.
    @Test(arguments: [ResponseBodyMode.buffered, .streamed])
    func refusalBeforeTheUploadIsThroughIsTheResponse(mode: ResponseBodyMode) async throws {
        let server = try MockServer()
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self)
        server.on(.put, "/early", readsBody: false) { _ in
            for await _ in wakes {}
            return StubAnswer.status(413, body: "too large")
        }
        server.on(.get, "/", .status(200, body: "ok"))
        // A source that gives a few bytes, and then nothing until it is released.
        let (source, feed) = AsyncStream.makeStream(of: Data.self)
        let (ends, ended) = AsyncStream.makeStream(of: Void.self)
        feed.onTermination = { _ in ended.finish() }
        feed.yield(Data("abc".utf8))
        var request = try makeRequest(server, "/early", .put, body: .oneShot(source), responseBody: mode)
        request.context.uploadProgress = { _ in wake.finish() }
        let transport = CurlTransport()
        let response = try await transport.send(request)
        #expect(response.status == 413)
        #expect(try await response.body.collect(upTo: 100) == Data("too large".utf8))
        for await _ in ends {}
        #expect(try await transport.send(makeRequest(server)).status == 200)
        await transport.shutDown()
    }
}
#endif
