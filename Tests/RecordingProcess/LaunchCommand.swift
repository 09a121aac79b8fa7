import Foundation
import InterceptorsRecordings
import InterceptorsTestSupport

/// An app under test: takes its stubs from its launch arguments, and prints the response or the error of each request.
///
/// `RecordingProcess launch release|debug METHOD URL [METHOD URL …] [ARGUMENTS OF STUBS]`
enum LaunchCommand {
    /// The stubs that a test can name.
    static let table: [String: [Stub]] = [
        "users": [
            .on(.get, "/users", .json(#"[{"id":42,"name":"Ada"}]"#)),
            .on(.get, "/users/*", .json(#"{"id":42,"name":"Ada"}"#)),
        ],
        "login": [.on(.post, "/login", .status(204))],
    ]

    static func run(_ arguments: [String]) async {
        let network = StubTransport { _ in HTTPResponse(status: 200, body: "the network") }
        let client = Client(
            interceptors: [],
            transport: .launchStubs(allowed: arguments.first == "debug", defaults: table, otherwise: network)
        )
        var words = arguments.dropFirst().prefix { !$0.hasPrefix("--") }
        while let method = words.popFirst().flatMap(HTTPRequest.Method.init), let text = words.popFirst(),
            let url = URL(string: text)
        {
            print(await answer(to: HTTPRequest(method: method, url: url), of: client))
        }
    }

    private static func answer(to request: HTTPRequest, of client: Client) async -> String {
        do {
            let response = try await client.send(request)
            let bytes = try await response.body.collect(upTo: 1 << 24)
            let text = bytes.count > 200 ? "\(bytes.count) bytes" : String(decoding: bytes, as: UTF8.self)
            return "\(response.status.code) \(response.headers[.contentType] ?? "-") \(text)"
        } catch let error as any HTTPError {
            return "\(error.code): \(error.message)"
        } catch {
            return "\(error)"
        }
    }
}
