import Foundation
import Middlewares
import TransportTesting

struct User: Decodable, Sendable {
    let id: Int
    let name: String
}

/// `Quickstart` starts a server, sends two requests to it through a chain, and prints what each interceptor did.
/// `Quickstart <URL>` fetches that URL through a similar chain.
@main
struct Quickstart {
    static func main() async {
        do {
            switch CommandLine.arguments.dropFirst().first {
            case nil: try await tour()
            case "-h", "--help": say(usage)
            case let address?: try await fetch(address)
            }
        } catch let error as TransportError where error.code == .unsupportedURL {
            write("\(error.message)\n\(usage)", to: .standardError)
            exit(1)
        } catch {
            write("\n\(error)", to: .standardError)
            exit(1)
        }
    }

    private static let usage = """
        Usage: swift run Quickstart          follows requests through a chain to a local server
               swift run Quickstart <URL>    fetches an http or https URL through a similar chain
        """

    private static func tour() async throws {
        let server = try startDemoServer()
        defer { server.stop() }
        say("A server listens on \(server.url). Its API requires a bearer token; the client's token is stale.")

        let journal = Journal()
        let client = makeClient(for: server, journal)

        say("\n1. GET /users/42, down the chain and up again:\n")
        let user: User = try await client.get("/users/42")
        show(journal)
        say("\nThe caller gets \(user)")

        say("\n2. GET /users/7, which the API rejects in an envelope with status 200. The token is fresh now:\n")
        journal.removeAll()
        do {
            let user: User = try await client.get("/users/7")
            say("\nUnexpected: \(user)")
        } catch let error as EnvelopeError {
            show(journal)
            say("\nThe caller gets \(error)")
        }

        say("\nThe server received these requests over \(server.connectionsOpened) connections:")
        for request in server.requests {
            let id = request.headerFields[.transactionID] ?? "none"
            say("  \(request)  TransactionId: \(id)")
        }
    }

    private static func makeClient(for server: MockServer, _ journal: Journal) -> Client {
        let baseURL = server.url.appending(path: "v1")
        let origins = Set([Origin(baseURL)].compactMap(\.self))
        let tokens = TokenStore(TokenStore.Token("stale-token"), origins: origins) { _ in
            struct Reply: Decodable, Sendable { let token: String }
            let reply: Reply = try await Client(baseURL: baseURL, journal: journal).post("/token")
            return TokenStore.Token(reply.token)
        }
        return Client(
            baseURL: baseURL,
            interceptors: [
                .unwrapEnvelope(payload: "object"),
                .validateStatus(),
                .headers([.acceptLanguage: "en"]),
                .transactionID(),
                .retryOnUnauthorized(tokens),
                .bearerAuth(tokens),
                .retry(3),
            ],
            journal: journal
        )
    }

    private static func fetch(_ address: String) async throws {
        let journal = Journal()
        defer { show(journal) }
        let client = Client(
            interceptors: [
                .validateStatus(),
                .headers([.accept: "*/*", .userAgent: "Interceptors-Quickstart"]),
                .transactionID(),
                .followRedirects(),
                .retry(3),
            ],
            journal: journal
        )
        let response = try await client.send(HTTPRequest(string: address))
        let body = try await response.body.collect(upTo: 64 << 20)
        say("\(response)\n\(response.headerFields)\n")
        say(body.isEmpty ? "No content." : "\(body.count) bytes of content:\n")
        say(Redaction.standard.excerpt(of: body, limit: 400) + "\n")
    }

    private static func show(_ journal: Journal) {
        for call in journal.calls { say(call.explained) }
    }

    private static func say(_ line: String = "") { write(line, to: .standardOutput) }

    /// Prints text that may contain a server's text, without buffering, even if the output is a file. Control characters, which
    /// could control the terminal, are replaced.
    private static func write(_ text: String, to file: FileHandle) {
        let shown = text.unicodeScalars.map { scalar in
            scalar.properties.generalCategory == .control && scalar != "\n" && scalar != "\t" ? "\u{FFFD}" : scalar
        }
        file.write(Data((String(String.UnicodeScalarView(shown)) + "\n").utf8))
    }
}
