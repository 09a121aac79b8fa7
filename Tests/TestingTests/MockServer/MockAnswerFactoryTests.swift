import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

#if canImport(InterceptorsURLSession)
import InterceptorsURLSession
#endif

/// An answer makes equal responses in memory and over a socket.
@Suite(.againstHanging) struct MockAnswerFactoryTests {
    private struct User: Encodable {
        var name = "Ada"
        var id = 42
    }

    private struct Broken: Encodable {
        func encode(to encoder: any Encoder) throws { throw CancellationError() }
    }

    private func expectSame(_ answer: StubAnswer, _ fields: [HTTPField.Name]) async throws {
        let (stub, server) = (StubTransport(), try MockServer())
        defer { server.stop() }
        stub.enqueue(answer)
        server.enqueue(answer)
        let stubbed = try await stub.send(HTTPRequest(url: server.url))
        let served = try await URLSessionTransport().send(HTTPRequest(url: server.url))
        #expect(stubbed.status == served.status)
        for name in fields { #expect(stubbed.headers[values: name] == served.headers[values: name]) }
        #expect(try await stubbed.body.collect(upTo: 1000) == served.body.collect(upTo: 1000))
    }

    @Test func statusTextJSONAndBytesAreTheSame() async throws {
        let fields: HTTPFields = ["X-A": "b"]
        let names: [HTTPField.Name] = [.contentType, "X-A"]
        try await expectSame(.status(418, headers: fields, body: "x"), names)
        try await expectSame(.text("é", status: 201, headers: fields), names)
        try await expectSame(.json("{", status: 400, headers: fields), names)
        try await expectSame(.json(encoding: User(), headers: fields), names)
        let bytes = Data([0, 255])
        try await expectSame(.data(bytes, contentType: "a/b"), names)
        try await expectSame(.json("{}", headers: [.contentType: "application/problem+json"]), names)
    }

    @Test func streamsAndFilesAreTheSame() async throws {
        let chunks = [Data("a".utf8), Data(), Data("b".utf8)]
        try await expectSame(.stream(chunks, status: 203), [])
        let folder = try TemporaryFolder()
        let file = try folder.write(Data("<p>".utf8), to: "page.html")
        try await expectSame(.file(file, status: 202), [.contentType])
    }

    @Test func fileAndValueThatCantBeReadAreA500WithTheReason() async throws {
        let server = try MockServer()
        server.enqueue(.file(URL(filePath: "/nowhere/at-all.json")), .json(encoding: Broken()))
        let client = try RawClient(port: server.port)
        for word in ["at-all.json", "CancellationError"] {
            let answer = try await client.ask(Wire.get())
            #expect(answer.head.hasPrefix("HTTP/1.1 500 "))
            #expect(answer.body.contains(word))
        }
    }
}
