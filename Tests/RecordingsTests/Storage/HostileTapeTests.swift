import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsRecordings

/// Files that somebody made to do harm.
@Suite(.againstHanging) struct HostileTapeTests {
    private let tape: TapeFile

    init() throws { tape = try TapeFile() }

    private func entry(_ path: String, _ content: String = #""text": "old""#, _ more: String = "") -> String {
        #"""
        {"startedDateTime": "2026-03-01T10:00:00Z", "request": {"method": "GET", "url": "\#(tapeHost)\#(path)"},
         "response": {"status": 200, "content": {"size": 3, "mimeType": "image/png", \#(content)}}\#(more)}
        """#
    }

    private func write(_ entries: [String], creator: String = HARArchive.creator) throws {
        let archive = #"{"log": {"creator": {"name": "\#(creator)"}, "entries": [\#(entries.joined(separator: ","))]}}"#
        try Data(archive.utf8).write(to: tape.url)
    }

    /// A number above 2⁵³ can't be told from its neighbour, and one after the largest would be an overflow.
    @Test(arguments: ["9223372036854774784", "9007199254740991"])
    func noExchangeIsLostToAHugeNumberOfAnEntry(id: String) async throws {
        try write([entry("/old", #""text": "old""#, #", "_id": \#(id)"#)])
        let recording = tape.recording(.new)
        let server = StubTransport { HTTPResponse(status: 200, body: HTTPBody($0.url.lastPathComponent)) }
        for number in 1...3 { try await recording.get("/\(number)", over: server) }
        try recording.finish(allowingUnused: true)
        let names = try TapeIndex.ofFile(tape.url).exchanges.map { String($0.request.url.dropFirst(tapeHost.count)) }
        #expect(names.sorted() == ["/1", "/2", "/3", "/old"])
    }

    @Test(arguments: [Recording.Mode.new, .all])
    func aSideFileThatIsALinkIsNotFollowed(
        mode: Recording.Mode
    ) async throws {
        let target = try tape.folder.write(Data("mine\n".utf8), to: "target")
        try FileManager.default.createSymbolicLink(at: tape.side, withDestinationURL: target)
        let recording = tape.recording(mode)
        await #expect(throws: TransportError.self) {
            try await recording.get("/a", over: StubTransport.stub(.text("1")))
        }
        #expect(throws: TransportError.self) { try recording.finish() }
        #expect(FileManager.default.contents(atPath: target.path) == Data("mine\n".utf8))
    }

    @Test func aFileOfAnySizeIsNotRead() async throws {
        #expect(FileManager.default.createFile(atPath: tape.url.path, contents: nil))
        #expect(truncate(tape.url.path, 1 << 40) == 0)
        let error = try await failure(.unreadableFile) { try await tape.recording(.none).get("/a") }
        #expect(error.message.contains("too large"), "\(error)")
    }

    /// The paths of the values in JSON would take the square of its size.
    @Test func thePathsInALongContentAreBounded() {
        let name = String(repeating: "n", count: 100_000)
        let json = #"{"\#(name)":[\#(Array(repeating: "1", count: 1_000).joined(separator: ","))]}"#
        let part = #"--b\#r\#nContent-Disposition: form-data; name="\#(name)"\#r\#nContent-Type: "#
        let form =
            part + "application/x-www-form-urlencoded\r\n\r\n"
            + Array(repeating: "a=1", count: 1_000).joined(separator: "&") + "\r\n--b--\r\n"
        for (type, text) in [("application/json", json), ("multipart/form-data; boundary=b", form)] {
            let request = RecordedExchange.Request(
                method: .post,
                url: tapeHost,
                headers: [.contentType: type],
                body: Data(text.utf8)
            )
            let leaves = RequestMatching.body.compared(request).flatMap { $0.value?.leaves() ?? [] }
            #expect(leaves.count >= 1)
            #expect(leaves.reduce(0) { $0 + $1.path.count } < 1_000_000, "\(type)")
        }
    }

    @Test func manyLinesAreMergedInLinearTime() {
        let count = 20_000
        func exchanges(from first: Int) -> [RecordedExchange] {
            (first..<first + count).map { number in
                let request = RecordedExchange.Request(method: .get, url: "\(number)")
                return RecordedExchange(
                    number: Int64(number),
                    startedAt: Date(timeIntervalSince1970: 0),
                    request: request
                )
            }
        }
        let merged = TapeMerge.merged(exchanges(from: count + 1), exchanges(from: 1).shuffled())
        #expect(merged.map(\.number) == (1...2 * count).map { Int64($0) })
    }

    @Test func aNameThatTheProgramAddedIsReplacedInMessages() async throws {
        let recording = Recording(
            at: tape.url,
            mode: .all,
            redaction: .credentials.adding(names: ["door"]),
            environment: [:]
        )
        let lost = TransportError(.connectionLost, "Lost https://a.example/?door=hushhush&a=1.")
        await #expect(throws: TransportError.self) {
            try await recording.get("/a", over: StubTransport.stub(.failure(lost)))
        }
        try recording.finish()
        let text = String(decoding: try #require(tape.bytes), as: UTF8.self)
        #expect(text.contains("Lost https") && !text.contains("hushhush"), "\(text)")
    }

    @Test func aDeclaredFieldIsReplacedInTheResponseToo() async throws {
        let door: AnyInterceptor = .intercept("door", placement: [.addsCredentials(in: "X-Door")]) { request, next in
            request.headers["X-Door"] = "hushhush"
            return try await next(request)
        }
        let server = StubTransport { request in
            HTTPResponse(status: 200, headers: ["X-Door": request.headers["X-Door"] ?? "", "X-A": "kept"])
        }
        let recording = tape.recording(.all)
        let chain = InterceptorChain([door], transport: .recorded(recording, over: server))
        _ = try await chain.send(HTTPRequest(url: try tapeURL("/a")))
        try recording.finish()
        let text = String(decoding: try #require(tape.bytes), as: UTF8.self)
        #expect(text.contains("kept") && !text.contains("hushhush"), "\(text)")
    }
}
