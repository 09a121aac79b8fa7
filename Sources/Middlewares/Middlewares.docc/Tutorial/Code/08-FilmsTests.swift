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
}
