import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct CookiesInterceptorTests {
    private func server(_ cookies: [String]) -> Recorder {
        Recorder { request in
            var response = HTTPResponse(status: 200, url: request.url)
            for cookie in cookies { response.headers.append(.setCookie, cookie) }
            return response
        }
    }

    private func send(_ chain: InterceptorChain, _ text: String, _ fields: HTTPFields = [:]) async throws {
        _ = try await chain.send(HTTPRequest(url: try url(text), headers: fields))
    }

    @Test func repeatedFieldsAreKeptApart() async throws {
        let server = server(["a=1; Expires=Fri, 01 Jan 2038 00:00:00 GMT", "b=2, c=3"])
        let chain = InterceptorChain([.cookies()], transport: server)
        for _ in 0..<2 { try await send(chain, "https://e.com/") }
        #expect(server.requests.map { $0.headers[values: .cookie] } == [[], ["a=1; b=2, c=3"]])
    }

    @Test func clientsHaveJarsOfTheirOwnUnlessTheyShareOne() async throws {
        let server = server(["a=1"])
        let first = InterceptorChain([.cookies()], transport: server)
        let second = InterceptorChain([.cookies()], transport: server)
        try await send(first, "https://e.com/")
        try await send(second, "https://e.com/")
        #expect(server.requests.allSatisfy { !$0.headers.contains(.cookie) })
        let jar = CookieJar()
        try await send(InterceptorChain([.cookies(jar)], transport: server), "https://e.com/")
        try await send(InterceptorChain([.cookies(jar)], transport: server), "https://e.com/")
        #expect(server.requests.last?.headers[.cookie] == "a=1")
    }

    @Test func whatARequestFromBeforeTheJarWasClearedBringsIsNotKept() async throws {
        let jar = CookieJar()
        let server = Recorder { request in
            jar.removeAll()
            return HTTPResponse(status: 200, headers: [.setCookie: "a=1"], url: request.url)
        }
        try await send(InterceptorChain([.cookies(jar)], transport: server), "https://e.com/")
        #expect(jar.cookies.isEmpty)
    }

    @Test func requestsOwnCookiesStayAndWin() async throws {
        let server = server(["a=jar", "b=jar"])
        let chain = InterceptorChain([.cookies()], transport: server)
        try await send(chain, "https://e.com/")
        try await send(chain, "https://e.com/", [.cookie: "a=own; x=y"])
        try await send(chain, "https://e.com/", [.cookie: "a=1", .cookie: "b=2"])
        #expect(server.requests[1].headers[values: .cookie] == ["a=own; x=y; b=jar"])
        #expect(server.requests[2].headers[values: .cookie] == ["a=1", "b=2"])
    }

    @Test func cookiesAreNeverSentToAnotherHost() async throws {
        let server = server(["a=1"])
        let chain = InterceptorChain([.cookies()], transport: server)
        try await send(chain, "https://e.com/")
        for other in ["https://www.e.com/", "https://evil.com/", "https://e.com.evil.com/"] {
            try await send(chain, other)
        }
        #expect(server.requests.allSatisfy { !$0.headers.contains(.cookie) })
    }

    @Test func originsThatAreNamedAreTheOnlyOnes() async throws {
        let server = server(["a=1"])
        let jar = CookieJar()
        let origin = try #require(Origin(try url("https://e.com/")))
        let chain = InterceptorChain([.cookies(jar, origins: [origin])], transport: server)
        try await send(chain, "https://e.com:8443/")
        #expect(jar.cookies.isEmpty)
        try await send(chain, "https://e.com/")
        try await send(chain, "https://e.com:8443/")
        try await send(chain, "https://e.com/")
        #expect(server.requests.map { $0.headers.contains(.cookie) } == [false, false, false, true])
    }

    @Test func responseThatARedirectLedToSetsCookiesOfItsOwnHost() async throws {
        let elsewhere = try url("https://elsewhere.example/")
        let jar = CookieJar()
        let server = Recorder { _ in HTTPResponse(status: 200, headers: [.setCookie: "a=1"], url: elsewhere) }
        try await send(InterceptorChain([.cookies(jar)], transport: server), "https://e.com/")
        #expect(jar.cookies.map(\.domain) == ["elsewhere.example"])
    }

    @Test func attemptsOfARetryCarryWhatTheFirstSet() async throws {
        let server = server(["a=1"])
        try await send(InterceptorChain([sendTwice, .cookies()], transport: server), "https://e.com/")
        #expect(server.requests.map { $0.headers[.cookie] } == [nil, "a=1"])
    }

    @Test func parallelRequestsShareAJar() async throws {
        let tally = Tally()
        let server = Recorder { request in
            HTTPResponse(status: 200, headers: [.setCookie: "c\(tally.count() % 20)=1"], url: request.url)
        }
        let jar = CookieJar()
        let chain = InterceptorChain([.cookies(jar)], transport: server)
        try await withThrowingTaskGroup { group in
            for _ in 0..<500 { group.addTask { try await send(chain, "https://e.com/") } }
            try await group.waitForAll()
        }
        #expect(jar.cookies.count == 20)
    }

    @Test func overARealServer() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/login") { _ in
            StubAnswer.status(
                200,
                headers: [
                    .setCookie: "sid=abc; HttpOnly; Path=/",
                    .setCookie: "theme=dark; Expires=Fri, 01 Jan 2038 00:00:00 GMT",
                ]
            )
        }
        server.on(.get, "/me") { request in StubAnswer.status(200, body: request.headers[.cookie] ?? "-") }
        let client = Client(baseURL: server.url, interceptors: [.cookies()])
        _ = try await client.send(HTTPRequest(url: try url("/login")))
        let response = try await client.send(HTTPRequest(url: try url("/me")))
        #expect(try await response.body.collect(upTo: 100) == Data("sid=abc; theme=dark".utf8))
    }
}
