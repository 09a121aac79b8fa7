import Foundation
import Interceptors
import InterceptorsAuthentication
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsCore
@testable import InterceptorsMiddlewares

/// A cache outside the element that follows redirects keeps nothing that a redirect led to.
@Suite(.againstHanging) struct CacheBesideRedirectsTests {
    /// Whatever follows a redirect inside the cache.
    enum Follower: CaseIterable {
        case followRedirects, ownInterceptor, ownInterceptorWithNewRequests, innerChain, transport

        func chain(_ world: CacheWorld) -> InterceptorChain {
            switch self {
            case .followRedirects: InterceptorChain([world.cache, .followRedirects()], transport: world.stub)
            case .ownInterceptor: InterceptorChain([world.cache, Self.own { $0 }], transport: world.stub)
            case .ownInterceptorWithNewRequests:
                InterceptorChain(
                    [world.cache, Self.own { HTTPRequest(method: $0.method, url: $0.url) }],
                    transport: world.stub
                )
            case .innerChain:
                InterceptorChain(
                    [world.cache],
                    transport: InterceptorChain([.followRedirects()], transport: world.stub)
                )
            case .transport: InterceptorChain([world.cache], transport: FollowingTransport(base: world.stub))
            }
        }

        private static func own(_ make: @escaping @Sendable (HTTPRequest) -> HTTPRequest) -> AnyInterceptor {
            .intercept { request, next in
                let first = try await next(copy request)
                guard let location = first.headers[.location].flatMap({ URL(string: $0) }) else { return first }
                first.body.discard()
                var following = request
                following.url = location
                return try await next(make(following))
            }
        }
    }

    /// Breaks the contract of a transport: it follows redirects.
    struct FollowingTransport: Transport {
        let base: StubTransport

        func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
            let first = try await base.send(copy request)
            guard let location = first.headers[.location].flatMap({ URL(string: $0) }) else { return first }
            request.url = location
            return try await base.send(request)
        }
    }

    private let directory = TemporaryDirectory()
    private let world = CacheWorld()
    private let jar = CookieJar()
    private var redirecting: InterceptorChain { Follower.followRedirects.chain(world) }
    private let elsewhere = "Location: https://b.example/y"

    /// The status, the outcome and the body of a response.
    private func text(_ response: HTTPResponse) async throws -> String {
        let body = String(decoding: try await response.body.collect(upTo: 1_000), as: UTF8.self)
        return "\(response.status.code) \(response.context.cacheOutcome?.result.description ?? "none") \(body)"
    }

    private func redirect(
        _ lines: [String] = [],
        to target: [String],
        _ body: String,
        _ status: HTTPResponse.Status = 200
    ) {
        world.answer(302, ["Location: https://b.example/y"] + lines)
        world.answer(status, target, body)
    }

    @Test(
        arguments: Follower.allCases,
        [["Cache-Control: no-store"], ["Cache-Control: max-age=60"], ["Cache-Control: max-age=60", "Vary: Accept"]]
    )
    func aResponseThatARedirectLedToIsNotStored(follower: Follower, lines: [String]) async throws {
        for world in CacheWorld.ofEachStore(in: directory) {
            let chain = follower.chain(world)
            for body in ["one", "two"] {
                world.answer(302, [elsewhere] + lines)
                world.answer(["Cache-Control: max-age=3600"], body)
                let response = try await chain.send(try world.request())
                #expect(response.context.cacheOutcome?.storing.description == "not stored: redirected")
                #expect(try await text(response) == "200 miss \(body)")
            }
            #expect(try await world.store.listing().isEmpty)
            #expect(world.stub.requests.count == 4)
        }
    }

    @Test func aStreamThatARedirectLedToIsNotStored() async throws {
        for body in ["one", "two"] {
            world.answer(302, [elsewhere])
            world.stub.enqueue(.stream([Data(body.utf8)], headers: fields(["Cache-Control: max-age=3600"])))
            let response = try await redirecting.send(try world.request(streamed: true))
            #expect(try await text(response) == "200 miss \(body)")
        }
        #expect(try await world.entries().isEmpty)
    }

    @Test func aResponseThatARedirectLedToDoesNotStandInForAFailure() async throws {
        redirect(to: ["Cache-Control: max-age=5, stale-if-error=600"], "one")
        _ = try await redirecting.send(try world.request())
        world.advance(10)
        world.answer(503, [])
        #expect(try await redirecting.send(try world.request()).status == 503)
        redirect(to: ["Cache-Control: max-age=3600"], "one")
        _ = try await redirecting.send(try world.request())
        #expect(try await redirecting.send(try world.request(mode: .offline)).status == 504)
    }

    @Test func aFailureBehindARedirectIsNoFailureOfTheURL() async throws {
        world.answer(["Cache-Control: max-age=5, stale-if-error=600"], "one")
        _ = try await world.send()
        world.advance(10)
        redirect(to: [], "gone", 503)
        #expect(try await text(try await redirecting.send(try world.request())) == "503 miss gone")
        world.answer(302, [elsewhere])
        world.stub.enqueue(.failure(TransportError(.cannotConnect, "No network.")))
        await #expect(throws: TransportError.self) { try await redirecting.send(try world.request()) }
        // The URL itself fails.
        world.answer(503, [])
        #expect(try await text(try await redirecting.send(try world.request())) == "200 stale one")
    }

    @Test func aFailureOfTheURLAfterAnAttemptThatWasRedirectedIsItsOwn() async throws {
        world.answer(["Cache-Control: max-age=5, stale-if-error=600"], "one")
        _ = try await world.send()
        world.advance(10)
        let again: some Interceptor = .intercept { request, next in
            do { return try await next(copy request) } catch { return try await next(request) }
        }
        let chain = InterceptorChain([world.cache, again, .followRedirects()], transport: world.stub)
        world.answer(302, [elsewhere])
        for _ in 0..<2 { world.stub.enqueue(.failure(TransportError(.cannotConnect, "No network."))) }
        #expect(try await text(try await chain.send(try world.request())) == "200 stale one")
    }

    @Test func anEarlierResponseToAURLThatRedirectsNowIsValidated() async throws {
        world.answer(["Cache-Control: max-age=3600", "ETag: \"a\""], "one")
        _ = try await redirecting.send(try world.request())
        redirect(to: ["Cache-Control: max-age=3600"], "two")
        #expect(try await text(try await redirecting.send(try world.request(mode: .reload))) == "200 miss two")
        redirect(to: ["Cache-Control: max-age=3600"], "three")
        #expect(try await text(try await redirecting.send(try world.request())) == "200 miss three")
    }

    @Test func aRedirectToAnotherQueryIsSeenOfNewRequests() async throws {
        let follower: some Interceptor = .intercept { request, next in
            let first = try await next(HTTPRequest(method: request.method, url: request.url))
            guard let location = first.headers[.location].flatMap({ URL(string: $0) }) else { return first }
            first.body.discard()
            return try await next(HTTPRequest(method: request.method, url: location))
        }
        let chain = InterceptorChain([world.cache, follower], transport: world.stub)
        world.answer(302, ["Location: https://a.example/x?lang=de"])
        world.answer(["Cache-Control: max-age=3600"], "one")
        let response = try await chain.send(try world.request())
        #expect(response.context.cacheOutcome?.storing == .redirected)
    }

    /// Does other work before it sends a request.
    private struct LateTransport: Transport {
        let base: StubTransport
        let work: @Sendable () async throws -> Void

        func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
            try await work()
            return try await base.send(request)
        }
    }

    @Test func aRedirectIsSeenWhileAnotherAttemptRuns() async throws {
        let (witness, stub) = (RedirectWitness(inside: nil), world.stub)
        let request = HTTPRequest(method: .get, url: try url("https://a.example/x"))
        world.answer(503, [])
        redirect(to: [], "one")
        let late = LateTransport(base: stub) { _ = try await witness.send(request, over: stub) }
        #expect(try await witness.send(request, over: late).status == 302)
        let following = HTTPRequest(method: .get, url: try url("https://b.example/y"))
        let response = try await witness.send(following, over: stub)
        #expect(witness.hasLedElsewhere(to: response, from: request.url))
    }

    @Test(arguments: Follower.allCases.filter { $0 != .ownInterceptorWithNewRequests })
    func a304OfAnotherURLConfirmsNothing(follower: Follower) async throws {
        let chain = follower.chain(world)
        world.answer(["Cache-Control: max-age=5", "ETag: \"a\""], "one")
        _ = try await chain.send(try world.request())
        world.advance(10)
        redirect(to: ["Cache-Control: max-age=3600", "ETag: \"a\""], "", 304)
        redirect(to: ["Cache-Control: max-age=3600", "ETag: \"b\""], "other")
        #expect(try await text(try await chain.send(try world.request())) == "200 miss other")
        world.answer(304, ["ETag: \"a\""])
        #expect(try await text(try await chain.send(try world.request())) == "200 revalidated one")
        let conditions = world.stub.requests.map { $0.headers[.ifNoneMatch] ?? "-" }
        #expect(conditions == ["-", "\"a\"", "\"a\"", "-", "-", "\"a\""])
    }

    @Test func theCallersOwn304OfAnotherURLUpdatesNothing() async throws {
        world.answer(["Cache-Control: max-age=5", "ETag: \"a\""], "one")
        _ = try await world.send()
        world.advance(10)
        redirect(to: ["Cache-Control: max-age=3600", "ETag: \"a\""], "", 304)
        let request = try world.request(["If-None-Match: \"a\""])
        #expect(try await redirecting.send(request).status == 304)
        world.answer(["Cache-Control: max-age=5"], "two")
        #expect(try await world.send() == "200 miss two")
    }

    @Test func aHEADOfAnotherURLMarksNothing() async throws {
        world.answer(["Cache-Control: max-age=60", "ETag: \"a\""], "one")
        _ = try await world.send()
        redirect(to: ["ETag: \"b\""], "")
        _ = try await redirecting.send(try world.request([], .head, mode: .reload))
        #expect(try await world.send() == "200 hit one age 0")
    }

    @Test func cookiesOfAnotherOriginAreNotReplayed() async throws {
        let chain = InterceptorChain([.cookies(jar), world.cache, .followRedirects()], transport: world.stub)
        redirect(to: ["Cache-Control: max-age=3600", "Set-Cookie: sid=1"], "one")
        redirect(to: ["Cache-Control: max-age=3600", "Set-Cookie: sid=2"], "two")
        for body in ["one", "two"] {
            let response = try await chain.send(try world.request(partition: "ada"))
            #expect(try await text(response) == "200 miss \(body)")
        }
        #expect(jar.cookies.map(\.domain) == ["b.example"])
    }

    @Test func aChangeOfTheLastHopIsSeen() async throws {
        let world = world
        redirect(to: ["Cache-Control: max-age=3600"], "one")
        _ = try await redirecting.send(try world.request())
        world.answer(204, [])
        let post = HTTPRequest(method: .post, url: try url("https://b.example/y"))
        _ = try await redirecting.send(post)
        redirect(to: ["Cache-Control: max-age=3600"], "two")
        #expect(try await text(try await redirecting.send(try world.request())) == "200 miss two")
    }

    @Test(arguments: [false, true])
    func anUnsafeRequestInvalidatesEveryURLThatItWasLedTo(isAnswered: Bool) async throws {
        world.answer(["Cache-Control: max-age=3600"], "one")
        #expect(try await world.send(path: "y") == "200 miss one")
        world.answer(307, ["Location: /y"])
        if isAnswered {
            world.answer(204, [])
        } else {
            world.stub.enqueue(.failure(TransportError(.connectionLost, "It broke off.")))
        }
        _ = try? await redirecting.send(try world.request([], .put))
        world.answer([], "two")
        #expect(try await world.send(path: "y") == "200 miss two")
    }

    /// Changes the URL of each request.
    private func rewriting(_ change: @escaping @Sendable (inout URL) -> Void) -> AnyInterceptor {
        .intercept { request, next in
            var request = request
            change(&request.url)
            return try await next(request)
        }
    }

    @Test func aResponseToAChangedURLIsStored() async throws {
        let (stamps, origin) = (Tally(), try #require(Origin(try url("https://a.example"))))
        let interceptors: [AnyInterceptor] = [
            rewriting { $0.append(queryItems: [URLQueryItem(name: "lang", value: "en")]) },
            .sign(origins: [origin], identifiesCaller: false) { request, _ in
                request.url.append(queryItems: [URLQueryItem(name: "stamp", value: "\(stamps.count())")])
            },
            rewriting { $0 = URL(string: "https://mirror.example/x")! },
        ]
        for interceptor in interceptors {
            let world = CacheWorld()
            let chain = InterceptorChain([world.cache, interceptor], transport: world.stub)
            world.answer(["Cache-Control: max-age=5", "ETag: \"a\""], "one")
            #expect(try await text(try await chain.send(try world.request())) == "200 miss one")
            #expect(try await text(try await chain.send(try world.request())) == "200 hit one")
            world.advance(10)
            world.answer(304, ["ETag: \"a\"", "Cache-Control: max-age=60"])
            #expect(try await text(try await chain.send(try world.request())) == "200 revalidated one")
            #expect(try await text(try await chain.send(try world.request())) == "200 hit one")
            #expect(world.stub.requests.allSatisfy { $0.url.absoluteString != "https://a.example/x" })
        }
    }

    @Test func aRedirectThatIsNotFollowedIsStored() async throws {
        let chain = InterceptorChain([world.cache, .followRedirects { _, _ in nil }], transport: world.stub)
        world.answer(302, ["Cache-Control: max-age=60", elsewhere])
        #expect(try await text(try await chain.send(try world.request())) == "302 miss ")
        #expect(try await text(try await chain.send(try world.request())) == "302 hit ")
    }

    @Test func aRequestRepeatedAfterARedirectToALogInIsStored() async throws {
        let logIn: some Interceptor = .intercept { request, next in
            let first = try await next(copy request)
            guard first.status == 302 else { return first }
            first.body.discard()
            return try await next(request)
        }
        let chain = InterceptorChain([world.cache, logIn], transport: world.stub)
        world.answer(302, ["Location: https://a.example/login"])
        world.answer(["Cache-Control: max-age=60"], "one")
        #expect(try await text(try await chain.send(try world.request())) == "200 miss one")
        #expect(try await text(try await chain.send(try world.request())) == "200 hit one")
    }

    @Test func insideRedirectsEachHopIsStored() async throws {
        let chain = InterceptorChain([.followRedirects(), world.cache], transport: world.stub)
        world.answer(302, ["Cache-Control: no-store", elsewhere])
        world.answer(["Cache-Control: max-age=60"], "one")
        #expect(try await text(try await chain.send(try world.request())) == "200 miss one")
        world.answer(302, ["Cache-Control: no-store", elsewhere])
        #expect(try await text(try await chain.send(try world.request())) == "200 hit one")
    }
}
