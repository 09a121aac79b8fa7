import Foundation
import Interceptors
import InterceptorsTesting
import InterceptorsTraffic
import InterceptorsTransfers

/// `Streams` reads server-sent events over two connections, and JSON lines, from a server on loopback.
@main
struct Streams {
    struct Film: Decodable, Sendable {
        let title: String
    }

    static func main() async {
        do {
            let server = try startServer()
            defer { server.stop() }
            let api = Client(baseURL: server.url, interceptors: [.validateStatus(), .limitConcurrency(perHost: 6)])
            try await printEvents(of: api)
            try await printFilms(of: api)
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    /// The server ends the first connection after two events. The client goes on after the last of them.
    private static func printEvents(of api: Client) async throws {
        print("Events")
        var data: [String] = []
        for try await event in api.events("/ticks") {
            print("  \(event.type) \(event.id): \(event.data)")
            data.append(event.data)
        }
        guard data == ["one", "two", "three"] else { throw Wrong(description: "Received \(data).") }
    }

    private static func printFilms(of api: Client) async throws {
        print("\nLines")
        var titles: [String] = []
        for try await film in api.lines("/films", as: Film.self) {
            print("  \(film.title)")
            titles.append(film.title)
        }
        guard titles == ["Notorious", "Laura"] else { throw Wrong(description: "Received \(titles).") }
    }

    private static func startServer() throws -> MockServer {
        let server = try MockServer()
        server.on(.get, "/ticks") { request in
            let type: HTTPFields = [.contentType: "text/event-stream"]
            switch request.headers["Last-Event-ID"] {
            case nil:
                let first = "retry: 100\n\nevent: tick\nid: 1\ndata: one\n\n"
                let second = "event: tick\nid: 2\ndata: two\n\n"
                return .stream([Data(first.utf8), Data(second.utf8)], headers: type)
            case "2": return .stream([Data("event: tick\nid: 3\ndata: three\n\n".utf8)], headers: type)
            default: return .status(204)
            }
        }
        let films = [#"{"title":"Notorious"}"# + "\n", #"{"title":"Laura"}"# + "\n"]
        server.on(.get, "/films", .stream(films.map { Data($0.utf8) }, headers: [.contentType: "application/x-ndjson"]))
        return server
    }

    /// Thrown if the example doesn't do what it says.
    struct Wrong: Error, CustomStringConvertible {
        let description: String
    }
}
