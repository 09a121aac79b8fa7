import Foundation
import Interceptors
import InterceptorsInsight
import InterceptorsTesting

struct User: Decodable, Sendable {
    let id: Int
    let name: String
}

/// `Quickstart` starts a server, sends two requests to it through a chain, and prints what each interceptor did.
/// `Quickstart <URL>` fetches that URL through a similar chain. With `--page <FILE>`, either writes a page of the calls too.
@main
struct Quickstart {
    private struct UsageError: Error {}

    static func main() async {
        do {
            var arguments = Array(CommandLine.arguments.dropFirst())
            let page = try page(takenFrom: &arguments)
            let journal = Journal()
            var failure: (any Error)?
            do {
                switch arguments.first {
                case nil: try await tour(journal)
                case "-h", "--help": return say(usage)
                case let address?: try await fetch(address, journal)
                }
            } catch {
                failure = error
            }
            // A call that failed is worth a page too.
            if let page {
                try journal.page().write(to: page)
                say("\nThe calls are on a page: open \(page.path) in a browser.")
            }
            if let failure { throw failure }
        } catch is UsageError {
            write(usage, to: .standardError)
            exit(1)
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
               … --page <FILE>               also writes the calls to an HTML file
        """

    /// Takes `--page <FILE>` out of the arguments.
    private static func page(takenFrom arguments: inout [String]) throws -> URL? {
        guard let option = arguments.firstIndex(of: "--page") else { return nil }
        guard option + 1 < arguments.count else { throw UsageError() }
        let file = arguments[option + 1]
        arguments.removeSubrange(option...(option + 1))
        return URL(filePath: file)
    }

    private static func tour(_ journal: Journal) async throws {
        let server = try startDemoServer()
        defer { server.stop() }
        say("A server listens on \(server.url). Its API requires a bearer token; the client's token is stale.")

        let client = makeClient(for: server, journal)

        say("\n1. GET /users/42, down the chain and up again:\n")
        let user: User = try await client.get("/users/42")
        show(journal)
        say("\nThe caller gets \(user)")

        say("\n2. GET /users/7, which the API rejects in an envelope with status 200. The token is fresh now:\n")
        let seen = journal.calls.count
        do {
            let user: User = try await client.get("/users/7")
            say("\nUnexpected: \(user)")
        } catch let error as EnvelopeError {
            show(journal, after: seen)
            say("\nThe caller gets \(error)")
        }

        say("\nThe server received these requests over \(server.connectionsOpened) connections:")
        for request in server.requests {
            let id = request.headers[.transactionID] ?? "none"
            say("  \(request)  TransactionId: \(id)")
        }
    }

    private static func makeClient(for server: MockServer, _ journal: Journal) -> Client {
        let baseURL = server.url.appending(path: "v1")
        let origins = Set([Origin(baseURL)].compactMap(\.self))
        let tokens = TokenStore(TokenStore.Token("stale-token"), origins: origins) { _ in
            struct Reply: Decodable, Sendable { let token: String }
            let reply: Reply = try await Client(baseURL: baseURL, observer: journal).post("/token")
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
                .retry(maxAttempts: 3),
            ],
            observer: journal
        )
    }

    private static func fetch(_ address: String, _ journal: Journal) async throws {
        defer { show(journal) }
        let client = Client(
            interceptors: [
                .validateStatus(),
                .headers([.accept: "*/*", .userAgent: "Interceptors-Quickstart"]),
                .transactionID(),
                .followRedirects(),
                .retry(maxAttempts: 3),
            ],
            observer: journal
        )
        let response = try await client.send(HTTPRequest(string: address))
        let body = try await response.body.collect(upTo: 64 << 20)
        say("\(response)\n\(response.headers)\n")
        say(body.isEmpty ? "No content." : "\(body.count) bytes of content:\n")
        say(Redaction.standard.excerpt(of: body, limit: 400) + "\n")
    }

    private static func show(_ journal: Journal, after count: Int = 0) {
        for call in journal.calls.dropFirst(count) { say(call.explained) }
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
