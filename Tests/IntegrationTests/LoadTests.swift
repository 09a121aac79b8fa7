#if os(Linux)
import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

/// Tests that take long, with `LoadProbe` as the client, so that its process can be measured. With
/// INTERCEPTORS_FULL_LOAD set, they send more requests and longer bodies.
@Suite(.againstHanging, .serialized, .heavy) struct LoadTests {
    private static func probe(_ arguments: String...) async throws {
        let result = try await Command.run(try #require(Program.path(of: "InterceptorsLoadProbe")), arguments)
        print(result.text, terminator: "")
        #expect(result.status == 0, "\(result.complaint)")
    }

    @Test func everyOneOfManyRequestsEndsOnceAndNothingGrows() async throws {
        let server = try MockServer(keptBodyLimit: 0)
        server.on(.get, "/answered", .status(200, body: String(repeating: "a", count: 1000)))
        server.on(.get, "/streamed", .stream([Data(count: 1000), Data(count: 2000)]))
        server.on(.post, "/posted", .status(201))
        server.on(.get, "/lost", .closeBeforeHead)
        server.on(.get, "/reset", .reset)
        server.on(.get, "/cut", .closeInBody(after: 500, of: 1000))
        server.on(.get, "/garbage", .garbage)
        server.on(.get, "/silent", .neverAnswer)
        server.on(.get, "/cancelled", .status(200, body: "a"))
        try await Self.probe("faults", FullLoad.isOn ? "100000" : "5000", server.url.absoluteString)
        server.stop()
        #expect(server.connectionsOpen == 0)
    }

    @Test(
        .enabled(if: NginxServer.mustRun, Comment(rawValue: NginxServer.absence)),
        arguments: [("download", ""), ("download", "http2"), ("pause", ""), ("pause", "http2")]
    )
    func downloadOfAnySizeTakesNoMemory(kind: String, listen: String) async throws {
        let size = kind == "pause" ? 1 << 30 : !FullLoad.isOn ? 256 << 20 : listen.isEmpty ? 10 << 30 : 2 << 30
        try await NginxServer.run(listen: listen) { server in
            // A sparse file: it has a length, but takes no space.
            let file = server.files.appending(path: "large")
            try Data().write(to: file)
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: UInt64(size))
            try handle.close()
            try await Self.probe(kind, "\(size)", server.url("/large").absoluteString, listen)
        }
    }

    @Test func uploadOfAnySizeTakesNoMemory() async throws {
        let server = try MockServer(bodyLimit: 2 << 30, keptBodyLimit: 0)
        server.on(.put, "/") { StubAnswer.status(200, body: "\($0.bodyLength)") }
        try await Self.probe("upload", "\(FullLoad.isOn ? 1 << 30 : 256 << 20)", server.url.absoluteString + "/")
    }

    @Test(arguments: [
        ("events", "text/event-stream", "id: 7\nevent: row\ndata: $\ndata: end\n\n"),
        ("lines", "application/x-ndjson", #"{"text":"$"}"# + "\n"),
    ])
    func streamOfAnyNumberOfRecordsTakesNoMemory(kind: String, type: String, record: String) async throws {
        let text = record.replacing("$", with: String(repeating: "x", count: 1_000))
        let chunk = Data(String(repeating: text, count: 64).utf8)
        let times = (FullLoad.isOn ? 1 << 30 : 32 << 20) / chunk.count
        let server = try MockServer()
        server.on(.get, "/first", .repeating(chunk, times: 16, headers: [.contentType: type]))
        server.on(.get, "/all", .repeating(chunk, times: times, headers: [.contentType: type]))
        try await Self.probe(kind, "\(64 * times)", server.url.absoluteString)
    }
}
#endif
