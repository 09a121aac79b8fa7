import Films
import InterceptorsTesting

@main struct Demo {
    static func main() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.post, "/login", .json(#"{"token":"first","refreshToken":"a"}"#))
        let cacheable = [.cacheControl: "max-age=60"] as HTTPFields
        server.on(.get, "/films/*", .json(#"{"id":1,"title":"Metropolis"}"#, headers: cacheable))

        let films = FilmsAPI(baseURL: server.url)
        try await films.signIn(name: "ada", password: "sesame")
        print(try await films.film(1).title)
        print(try await films.film(1, isOffline: true).title)
        for request in server.requests { print(request) }
    }
}
