#if os(Linux)
import InterceptorsTransfers
import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

/// Events and lines of a server that doesn't use this package, with curl as the other client.
@Suite(.againstHanging, .heavy, .checksArchive)
struct PythonStreamTests {
    private struct Row: Decodable, Sendable {
        let id: Int
        let title: String
    }

    private static let script = "Tests/EventServer/event_server.py"
    /// The texts that the server sends, with every line ending and characters of up to four bytes.
    private static let texts = (1...300).map { "é€😀 \($0)\n" + String(repeating: "x", count: $0 % 17) }

    private func client(_ server: PythonServer) throws -> Client {
        Client(baseURL: try server.url("/"), interceptors: [.validateStatus()], transport: CurlTransport())
    }

    private func curl(_ arguments: String...) async throws -> Data {
        let result = try await Command.run("/usr/bin/env", ["curl", "-sN"] + arguments)
        #expect(result.status == 0, "\(result.complaint)")
        return result.output
    }

    @Test func eventsGoOnAfterEachBrokenConnection() async throws {
        try await PythonServer.run(Self.script) { server in
            let (client, clock) = (try client(server), ManualClock())
            let events = try await clock.run {
                var events: [ServerSentEvent] = []
                for try await event in client.events("/events", idleLimit: nil, time: .manual(clock)) {
                    events.append(event)
                }
                return events
            }
            #expect(events.map(\.data) == Self.texts)
            #expect(events.map(\.id) == (1...300).map { "\($0)" })
        }
    }

    @Test(.needsCurl) func theBytesThatCurlReceivesAreTheSameEvents() async throws {
        try await PythonServer.run(Self.script) { server in
            let url = try server.url("/events/whole")
            let bytes = try await curl(url.absoluteString)
            let stub = StubTransport()
            stub.enqueue(.stream([bytes], headers: [.contentType: "text/event-stream"]))
            let clients = [try client(server), Client(interceptors: [], transport: stub)]
            for client in clients {
                var texts: [String] = []
                for try await event in client.events(RequestTarget(url), reconnection: nil) { texts.append(event.data) }
                #expect(texts == Self.texts)
            }
        }
    }

    @Test func rowsAreDecodedAndTheirTrailerArrives() async throws {
        try await PythonServer.run(Self.script) { server in
            let client = try client(server)
            var rows: [Row] = []
            for try await row in client.lines("/rows", as: Row.self) { rows.append(row) }
            #expect(rows.map(\.id) == Array(0..<1_000))
            #expect(rows.last?.title == "é 999")
            let response = try await client.send(HTTPRequest(url: server.url("/rows")))
            #expect(try response.trailers["Row-Count"] == "1000")
        }
    }

    @Test(.needsCurl) func curlReceivesTheStreamTheTrailersAndTheEarlyHintsOfMockServer() async throws {
        let server = try MockServer()
        defer { server.stop() }
        let chunks = ["data: a\n\n", "data: b\n\n"].map { Data($0.utf8) }
        server.on(
            .get,
            "/stream",
            StubAnswer.stream(chunks, trailers: ["Event-Count": "2"], headers: [.contentType: "text/event-stream"])
                .preceded(byInterim: 103, headers: ["Link": "</style.css>; rel=preload"])
        )
        let (folder, url) = (try TemporaryFolder(), server.url.appending(path: "stream").absoluteString)
        let content = try await curl("-D", folder.file("heads").path, url)
        #expect(content == chunks[0] + chunks[1])
        let lines = try String(contentsOf: folder.file("heads"), encoding: .utf8).split(whereSeparator: \.isNewline)
        let statuses = lines.filter { $0.hasPrefix("HTTP/1.1 ") }.map { $0.dropFirst(9).prefix(3) }
        #expect(statuses == ["103", "200"])
        #expect(lines.contains("Link: </style.css>; rel=preload"))
        #expect(lines.last == "Event-Count: 2")
    }
}
#endif
