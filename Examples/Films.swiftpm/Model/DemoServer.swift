internal import Foundation
public import Interceptors
internal import Synchronization

/// A server in memory, so that the app runs without a network. It knows any name with the password `popcorn`.
public final class DemoServer: Transport {
    fileprivate struct State {
        var films: [Film] = []
        var isOffline = false
        var sessions = 0
        var token: String?
    }

    private let state = Mutex(State())

    /// Creates a server with some films.
    public init() {
        let titles = ["Metropolis": 1927, "M": 1931, "The Big Sleep": 1946, "Rear Window": 1954, "Playtime": 1967]
        for (title, year) in titles.sorted(by: { $0.value < $1.value }) { add(title, year) }
    }

    /// Whether the network is switched off.
    public var isOffline: Bool {
        get { state.withLock(\.isOffline) }
        set { state.withLock { $0.isOffline = newValue } }
    }

    /// Adds a film to the list.
    public func add(_ title: String, _ year: Int) {
        state.withLock { state in
            let id = state.films.count + 1
            state.films.append(Film(id: id, title: title, year: year, poster: "/posters/\(id).gif"))
        }
    }

    /// Rejects the token from now on; the refresh token stays valid.
    public func expireToken() { state.withLock { $0.token = nil } }

    /// Rejects the token and the refresh token from now on.
    public func endSession() { state.withLock { ($0.token, $0.sessions) = (nil, $0.sessions + 1) } }

    /// Answers a request.
    public func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        let request = request
        let content = try await request.body.collect(upTo: 1 << 16)
        var response = try state.withLock { try $0.response(to: request, content) }
        response.url = request.url
        return response
    }
}

extension DemoServer.State {
    mutating func response(to request: HTTPRequest, _ content: Data) throws -> HTTPResponse {
        if isOffline { throw TransportError(.offline, "The demo's network is switched off.", request: request) }
        let values = (try? JSONDecoder().decode([String: String].self, from: content)) ?? [:]
        switch (request.method, request.url.path) {
        case (.post, "/login"):
            return try values["password"] == "popcorn" ? session() : HTTPResponse(status: 401)
        case (.post, "/refresh"):
            return try values["refreshToken"] == "refresh-\(sessions)" ? session() : HTTPResponse(status: 400)
        case _ where token == nil || request.headers[.authorization] != token:
            return HTTPResponse(status: 401)
        case (.get, "/films"):
            let title = HTTPQuery(parsing: request.url.query() ?? "")["title"] ?? ""
            return try json(films.filter { $0.isFound(by: title) })
        case (.get, let path) where path.hasPrefix("/posters/"):
            let headers: HTTPFields = [.contentType: "image/gif", .cacheControl: "max-age=3600"]
            return HTTPResponse(status: 200, headers: headers, body: HTTPBody(Self.poster(path)))
        default:
            return HTTPResponse(status: 404)
        }
    }

    private mutating func session() throws -> HTTPResponse {
        sessions += 1
        token = "Bearer token-\(sessions)"
        return try json(["token": "token-\(sessions)", "refreshToken": "refresh-\(sessions)"], cache: "no-store")
    }

    private func json(_ value: some Encodable, cache: String = "max-age=60") throws -> HTTPResponse {
        let headers: HTTPFields = [.contentType: "application/json", .cacheControl: cache]
        return HTTPResponse(status: 200, headers: headers, body: HTTPBody(try JSONEncoder().encode(value)))
    }

    /// A GIF of one pixel, in a colour that the path decides.
    private static func poster(_ path: String) -> Data {
        let seed = path.utf8.reduce(UInt8(0)) { $0 &* 31 &+ $1 }
        let head: [UInt8] = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, seed, seed &* 5, seed &* 11, 0, 0, 0]
        return Data(head + [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3B])
    }
}
