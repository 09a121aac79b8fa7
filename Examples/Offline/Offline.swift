import Foundation
import Interceptors
import InterceptorsRecordings
import InterceptorsTesting

/// `Offline` records calls to a server, stops the server, and makes the same calls again: from the recording, from files, from a
/// server of these files, and in another process that gets its answers with its launch arguments.
/// `Offline <URL>` records a GET of that URL in place of a server on loopback.
@main
struct Offline {
    static func main() async {
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            if arguments.first == App.argument { return try await App.run() }
            let folder = FileManager.default.temporaryDirectory.appending(path: "Offline-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            try await tour(folder, address: arguments.first)
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    private static func tour(_ folder: URL, address: String?) async throws {
        let server = try address == nil ? startUserServer() : nil
        guard let base = server?.url ?? address.flatMap({ URL(string: $0) }) else {
            throw Wrong("\(address ?? "") is no URL.")
        }
        let calls = address == nil ? Call.all : [Call(.get, "")]
        let (tape, files) = (folder.appending(path: "tape.har"), folder.appending(path: "files"))

        print("Recorded from \(server == nil ? "the server" : "a server on loopback")")
        let recording = Recording(at: tape, mode: .new)
        let first = Client(
            baseURL: base,
            interceptors: [.record(to: files, report: { print("  not kept: \($0)") })],
            transport: .recorded(recording, over: .platform())
        )
        let expected = try await answers(to: calls, from: first)
        for answer in expected { print("  \(answer)") }
        try recording.finish()
        server?.stop()

        print("\nWithout the server")
        let played = Recording(at: tape, mode: .none)
        let transport: any Transport = .recorded(played, over: StubTransport())
        try await check(
            "from the recording",
            calls,
            Client(baseURL: base, interceptors: [], transport: transport),
            expected
        )
        try played.finish()
        try await check(
            "from files",
            calls,
            Client(baseURL: base, interceptors: [], transport: .files(in: files)),
            expected
        )
        for name in try FileManager.default.subpathsOfDirectory(atPath: files.path).sorted()
        where name.contains("/") && !URL(filePath: name).pathExtension.isEmpty {
            // Without the folder of the host, whose port differs in each run.
            print("    …\(name.drop { $0 != "/" })")
        }
        let mock = try MockServer(serving: files)
        defer { mock.stop() }
        try await check("from a server of these files", calls, Client(baseURL: mock.url, interceptors: []), expected)
        #if os(Linux) || os(macOS)
        print("\nIn another process")
        try App.start(
            with: LaunchStubs("users", stubs: [.on(.post, "/users", .status(503, headers: [.retryAfter: "30"]))])
        )
        #endif
    }

    private static func check(_ source: String, _ calls: [Call], _ client: Client, _ expected: [String]) async throws {
        let found = try await answers(to: calls, from: client)
        guard found == expected else { throw Wrong("\(source): \(found), not \(expected)") }
        print("  \(source): the same \(found.count == 1 ? "answer" : "\(found.count) answers")")
    }

    private static func answers(to calls: [Call], from client: Client) async throws -> [String] {
        var answers: [String] = []
        for call in calls { answers.append(try await call.answer(from: client)) }
        return answers
    }
}

/// A call of the example.
struct Call {
    static let all = [Call(.get, "/users/42"), Call(.get, "/users?page=2"), Call(.post, "/users", #"{"name":"Bob"}"#)]

    let method: HTTPRequest.Method
    let target: String
    let body: String

    init(_ method: HTTPRequest.Method, _ target: String, _ body: String = "") {
        (self.method, self.target, self.body) = (method, target, body)
    }

    /// The response in one line. Spaces are left out, because a file's JSON is indented.
    func answer(from client: Client) async throws -> String {
        guard let base = client.baseURL, let url = URL(string: base.absoluteString + target) else {
            throw Wrong(target)
        }
        let response = try await client.send(HTTPRequest(method: method, url: url, body: HTTPBody(body)))
        let text = try await response.text().filter { !$0.isWhitespace }
        let answer = ["\(response.status.code)", String(text.prefix(60))].filter { !$0.isEmpty }
        return "\(method) \(target.isEmpty ? "the URL" : target): \(answer.joined(separator: " "))"
    }
}

/// Thrown if the example doesn't do what it says.
struct Wrong: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The server that is recorded if no URL is given.
func startUserServer() throws -> MockServer {
    let server = try MockServer()
    server.on(.get, "/users/*", .json(#"{"id":42,"name":"Ada"}"#))
    server.on(.get, "/users?page=*", .json(#"[{"id":42,"name":"Ada"}]"#))
    server.on(.post, "/users", .json(#"{"id":43,"name":"Bob"}"#, status: 201))
    return server
}
