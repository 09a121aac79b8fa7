import Foundation
import InterceptorsTesting
import Testing

@testable import Films

@Suite struct FilmsTests {
    let stub = StubTransport()
    let films: FilmsAPI

    init() {
        films = FilmsAPI(baseURL: URL(string: "https://films.example.com")!, transport: stub)
        stub.on(.post, "/login", .json(#"{"token":"first","refreshToken":"a"}"#))
    }

    @Test func readsAFilm() async throws {
        stub.on(.get, "/films/1", .json(#"{"id":1,"title":"Metropolis"}"#))

        try await films.signIn(name: "ada", password: "sesame")
        let film = try await films.film(1)

        #expect(film.title == "Metropolis")
        try stub.verify()
    }

    @Test func refreshesARejectedTokenOnce() async throws {
        stub.on(.post, "/refresh", .json(#"{"token":"second","refreshToken":"b"}"#), times: 1)
        stub.on(.get, "/films/*") { request in
            guard request.headerFields[.authorization] == "Bearer second" else { return .status(401) }
            return .json(#"{"id":1,"title":"Metropolis"}"#)
        }

        try await films.signIn(name: "ada", password: "sesame")
        async let one = films.film(1)
        async let two = films.film(2)
        _ = try await (one, two)

        try stub.verify()
    }
}
