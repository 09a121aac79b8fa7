#if os(Linux) || os(macOS)
import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsRecordings

/// The program `mockserver` as a child process, and curl as its client.
@Suite(.againstHanging, .needsCurl) struct MockServerProgramTests {
    /// A running program whose output is read line by line.
    private final class Server: Sendable {
        let process: ChildProcess
        let url: String
        private let lines: LineReader

        /// - Parameter lines: the number of lines after which nobody reads the output.
        init(_ folder: URL, _ arguments: [String] = [], lines limit: Int = .max) async throws {
            var ends: [Int32] = [-1, -1]
            try #require(pipe(&ends) == 0)
            let path = try #require(Program.path(of: "mockserver"))
            process = try ChildProcess(path, [folder.path, "--port", "0"] + arguments, descriptors: [0, ends[1], 2])
            close(ends[1])
            lines = LineReader(ends[0], limit: limit)
            let first = try #require(await lines.next { $0.contains("http://127.0.0.1:") })
            url = try #require(first.split(separator: " ").last.map(String.init))
        }

        func line(containing text: String) async -> String? { await lines.next { $0.contains(text) } }
        func endOfOutput() async { await lines.end() }

        deinit { process.send(signal: SIGKILL) }
    }

    /// Reads lines from a descriptor on a thread, because reading blocks.
    private final class LineReader: Sendable {
        private let stream: AsyncStream<String>

        init(_ descriptor: Int32, limit: Int) {
            let (stream, continuation) = AsyncStream.makeStream(of: String.self)
            self.stream = stream
            Thread {
                var (line, byte): ([UInt8], UInt8) = ([], 0)
                var count = 0
                while count < limit {
                    let result = read(descriptor, &byte, 1)
                    if result < 0, errno == EINTR { continue }
                    guard result == 1 else { break }
                    if byte == 10 {
                        continuation.yield(String(decoding: line, as: UTF8.self))
                        line = []
                        count += 1
                    } else {
                        line.append(byte)
                    }
                }
                close(descriptor)
                continuation.finish()
            }.start()
        }

        func next(_ matches: (String) -> Bool) async -> String? {
            for await line in stream where matches(line) { return line }
            return nil
        }

        /// Returns when the descriptor is closed.
        func end() async { for await _ in stream {} }
    }

    private func curl(_ arguments: String...) async throws -> String {
        try await Command.run("/usr/bin/env", ["curl", "-s"] + arguments).text
    }

    @Test func folderIsServedAndEachRequestIsALine() async throws {
        let folder = try AnswerFolder([
            "GET/users/42.json": "{}", "POST/users.json": "[]", "POST/users.json.head": "HTTP/1.1 201",
        ])
        let server = try await Server(folder.url)
        let example = await server.line(containing: "Try: curl")
        #expect(example?.contains("\(server.url)/users/42") == true)
        #expect(try await curl("\(server.url)/users/42") == "{}")
        let line = try #require(await server.line(containing: "GET /users/42"))
        #expect(line.hasPrefix("GET /users/42 → 200 GET/users/42.json (") && line.hasSuffix(" ms)"))
        #expect(try await curl("-d", "a=1", "-w", "%{http_code}", "\(server.url)/users") == "[]201")
        #expect(try await curl("-o", "/dev/null", "-w", "%{http_code}", "\(server.url)/users/43?token=abc") == "404")
        let miss = try #require(await server.line(containing: "/users/43"))
        #expect(miss.contains("GET /users/43?token=<redacted> → 404 No file in "))
        #expect(miss.contains("Did you mean GET /users/42?"))
    }

    @Test func closedOutputDoesNotEndTheProgram() async throws {
        let folder = try AnswerFolder(["GET/a.json": "1"])
        let server = try await Server(folder.url, lines: 2)
        await server.endOfOutput()
        for _ in 0..<3 { #expect(try await curl("\(server.url)/a") == "1") }
    }

    @Test func theCommandToTryIsSafeToPaste() async throws {
        let folder = try AnswerFolder(["GET/it's\u{1B}[31m.json": "1"])
        let server = try await Server(folder.url)
        let line = try #require(await server.line(containing: "Try: curl"))
        #expect(line.filter { $0 == "'" }.count == 2 && line.hasSuffix("'"))
        #expect(!line.contains("\u{1B}"))
    }

    @Test(arguments: [SIGINT, SIGTERM]) func signalEndsTheProgram(signal: Int32) async throws {
        let folder = try AnswerFolder(["GET/a.json": "1"])
        let server = try await Server(folder.url)
        server.process.send(signal: signal)
        #expect(await server.process.ended() == .exit(0))
    }

    @Test(arguments: [("0%", "200"), ("100%", "503")])
    func theShareOfRequestsFails(share: String, code: String) async throws {
        let folder = try AnswerFolder(["GET/a.json": "1"])
        let server = try await Server(folder.url, ["--fail", share])
        #expect(try await curl("-o", "/dev/null", "-w", "%{http_code}", "\(server.url)/a") == code)
    }

    @Test func problemsAreReportedAtTheStart() async throws {
        let folder = try AnswerFolder(["GET/a.json": "1", "GET/a.json.head": "no field", "GET/b.json": "{"])
        let server = try await Server(folder.url)
        let first = await server.line(containing: "problem: ")
        #expect(first?.hasPrefix("problem: GET/a.json.head, line 1") == true)
        #expect(await server.line(containing: "problem: ") == "problem: GET/b.json isn't JSON.")
    }

    @Test(arguments: [
        ([], "The folder is missing."), (["a", "b"], "more than one folder"),
        (["a", "--port", "x"], "--port is a number"),
        (["a", "--port"], "--port needs a value."), (["a", "--delay", "5"], "--delay is a time"),
        (["a", "--fail=200%"], "--fail is a share"),
        (["a", "--loud"], "--loud is no option."),
        (["a", "--port="], "--port needs a value."), (["--port=", "a"], "--port needs a value."),
        (["--", "--port", "b"], "more than one folder: --port and b"),
    ])
    func wrongArgumentExitsWithItsReasonAndTheUsage(arguments: [String], message: String) async throws {
        let path = try #require(Program.path(of: "mockserver"))
        let result = try await Command.run(path, arguments)
        #expect(result.status == 2)
        #expect(result.complaint.contains(message) && result.complaint.contains("Usage: mockserver [options] FOLDER"))
    }

    @Test func helpIsPrinted() async throws {
        let path = try #require(Program.path(of: "mockserver"))
        let result = try await Command.run(path, ["--help"])
        #expect(result.status == 0)
        #expect(result.text.contains("--delay"))
    }

    @Test func startThatFailsExitsWithItsReason() async throws {
        let path = try #require(Program.path(of: "mockserver"))
        let missing = try await Command.run(path, ["/no/such/folder"])
        #expect(missing.status == 1)
        #expect(missing.complaint.contains("There is no folder /no/such/folder."))
        let busy = try MockServer()
        let folder = try AnswerFolder()
        let refused = try await Command.run(path, [folder.url.path, "--port", "\(busy.port)"])
        #expect(refused.status == 1)
        #expect(refused.complaint.contains("bind to port \(busy.port)"))
    }
}
#endif
