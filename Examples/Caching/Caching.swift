import Foundation
import Interceptors
import InterceptorsTesting

/// `Caching` reads news through a cache on disk, in every mode, for two users and offline, and then through a custom store.
/// Below each response it prints the `Cache-Status` field (RFC 9211), which says where the response came from.
@main
struct Caching {
    static func main() async {
        let directory = FileManager.default.temporaryDirectory.appending(path: "Caching-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        do {
            try await tour(directory)
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    private static func tour(_ directory: URL) async throws {
        let server = try makeServer()
        let store = DiskCacheStore(at: directory, byteLimit: 64 << 20)
        let client = Client(baseURL: server.url, interceptors: [.cache(store, report: { print("  store: \($0)") })])

        print("The standard mode")
        try await ask(client, "the first time")
        try await ask(client, "again")

        print("\nOther modes")
        try await ask(client, "pull to refresh: the server confirms it", mode: .revalidate)
        try await ask(client, "a forced reload: ignores the stored response", mode: .reload)
        try await ask(client, "only from the cache", mode: .onlyIfCached)
        try await ask(client, "a secret: the response isn't stored", path: "/secret", mode: .doNotStore)
        try await ask(client, "only from the cache: not there", path: "/secret", mode: .onlyIfCached)

        print("\nParts")
        try await ask(client, "the last five bytes", path: "/name", range: "bytes=-5")
        try await ask(client, "everything: the server sends the other seven bytes", path: "/name")
        try await ask(client, "again", path: "/name")

        print("\nUsers never share responses")
        try await ask(client, "Ada's page", path: "/me", user: "ada")
        try await ask(client, "Bob's", path: "/me", user: "bob")
        try await ask(client, "Ada's again", path: "/me", user: "ada")

        print("\nStored responses")
        for line in try await store.listing().sorted(by: { $0.key.url < $1.key.url }) {
            print("  \(line), for \(line.key.partition.isEmpty ? "anybody" : "a user")")
        }

        print("\nThe server is gone")
        server.stop()
        try await ask(client, "a fresh response needs no server")
        try await ask(
            client,
            "offline: any stored response, whatever its age",
            path: "/me",
            mode: .offline,
            user: "ada"
        )
        try await ask(client, "offline: nothing is stored for this URL", path: "/unknown", mode: .offline)

        print("\nAda signs out")
        try await store.removeAll(partition: "ada")
        try await ask(client, "her page is gone", path: "/me", mode: .offline, user: "ada")
        try await ask(client, "Bob's is not", path: "/me", mode: .offline, user: "bob")
        try await store.removeAll(prefix: server.url.appending(path: "me"))
        try await ask(client, "now it is gone too", path: "/me", mode: .offline, user: "bob")

        try await withAStoreOfOnesOwn()
    }

    private static func withAStoreOfOnesOwn() async throws {
        print("\nA custom store")
        let server = try makeServer()
        defer { server.stop() }
        let client = Client(baseURL: server.url, interceptors: [.cache(DictionaryStore())])
        try await ask(client, "the first time")
        try await ask(client, "again")
    }

    private static func makeServer() throws -> MockServer {
        let server = try MockServer()
        server.on(.get, "/news") { request in
            if request.headers[.ifNoneMatch] == "\"1\"" { return .status(304) }
            return .status(
                200,
                headers: [.eTag: "\"1\"", .cacheControl: "max-age=60"],
                body: "Nothing happened."
            )
        }
        server.on(.get, "/name") { request in
            let fields: HTTPFields = [.eTag: "\"1\"", .cacheControl: "max-age=60"]
            return switch request.headers[.range] {
            case "bytes=-5": .status(206, headers: fields.adding(.contentRange, "bytes 7-11/12"), body: "ptors")
            case "bytes=0-6": .status(206, headers: fields.adding(.contentRange, "bytes 0-6/12"), body: "Interce")
            default: .status(200, headers: fields, body: "Interceptors")
            }
        }
        server.on(.get, "/me", .status(200, headers: [.cacheControl: "private, max-age=60"], body: "Hello."))
        server.on(.get, "/secret", .status(200, headers: [.cacheControl: "max-age=60"], body: "42"))
        return server
    }

    private static func ask(
        _ client: Client,
        _ situation: String,
        path: String = "/news",
        mode: CacheMode = .standard,
        user: String? = nil,
        range: String? = nil
    ) async throws {
        guard let url = URL(string: path) else { throw URLError(.badURL) }
        var request = HTTPRequest(url: url)
        if let range { request.headers[.range] = range }
        request.context.cacheMode = mode
        request.context.cachePartition = user
        let response = try await client.send(request)
        let text = try await String(decoding: response.body.collect(upTo: 1 << 20), as: UTF8.self)
        let status = response.headers[.cacheStatus] ?? "-"
        print("  \(situation): \(response.status.code) \(text)\n      \(status)")
    }
}

extension HTTPFields {
    fileprivate func adding(_ name: HTTPField.Name, _ value: String) -> HTTPFields {
        var fields = self
        fields[name] = value
        return fields
    }
}
