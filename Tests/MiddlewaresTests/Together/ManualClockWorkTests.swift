import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTraffic
import Testing

@testable import InterceptorsMiddlewares

/// `ManualClock.run` waits for work that the package starts in tasks of its choice.
@Suite(.againstHanging) struct ManualClockWorkTests {
    private actor Hop {
        func pass() {}
    }

    /// Lets other tasks run in between, so that work takes a while.
    private static func work() async {
        let hop = Hop()
        for _ in 0..<50 { await hop.pass() }
    }

    private static let answer = Recorder { _ in
        await Self.work()
        return HTTPResponse(status: 200)
    }

    /// Repeats calls with a time limit of a minute, each on a new manual clock.
    private func run(
        _ interceptors: (TimeSource) -> [any Interceptor],
        over transport: any Transport = Self.answer,
        _ calls: @escaping @Sendable (InterceptorChain) async throws -> [HTTPResponse.Status]
    ) async throws {
        for _ in 0..<FullLoad.count(100, full: 1_000) {
            let clock = ManualClock()
            let time = TimeSource.manual(clock)
            let limit: AnyInterceptor = .timeout(.seconds(60), time: time)
            let chain = InterceptorChain([limit] + interceptors(time), transport: transport)
            let statuses = try await clock.run { try await calls(chain) }
            #expect(statuses.allSatisfy { $0 == 200 })
            #expect(clock.now.elapsed == .zero)
        }
    }

    private func tokens(_ time: TimeSource, expired: Bool) -> TokenStore {
        let old = TokenStore.Token("old", expiresAt: expired ? .distantPast : nil)
        return TokenStore(old, origins: [apiOrigin], time: time) { _ in
            await Self.work()
            return .new
        }
    }

    @Test(arguments: [true, false]) func clockWaitsForARefresh(expired: Bool) async throws {
        let authentication: (TimeSource) -> [any Interceptor] = { time in
            let tokens = tokens(time, expired: expired)
            return [.retryOnUnauthorized(tokens), .bearerAuth(tokens)]
        }
        try await run(authentication, over: TokenServer(accepting: ["new"])) { [try await $0.get()] }
    }

    @Test func clockWaitsForASharedExchange() async throws {
        try await run({ _ in [.coalesce()] }) { chain in
            async let other = chain.get()
            return try await [chain.get(), other]
        }
    }

    @Test func clockWaitsForTheLatestCall() async throws {
        try await run({ [.cancelPrevious(time: $0)] }) { chain in
            [try await chain.send(HTTPRequest(url: apiURL, context: .with(\.latestKey, "search"))).status]
        }
    }

    @Test func clockWaitsForARefreshThatAnotherRunHasStarted() async throws {
        for _ in 0..<FullLoad.count(100, full: 1_000) {
            let clock = ManualClock()
            let time = TimeSource.manual(clock)
            let tokens = tokens(time, expired: true)
            let chain = InterceptorChain(
                [.timeout(.seconds(60), time: time), .retryOnUnauthorized(tokens), .bearerAuth(tokens)],
                transport: TokenServer(accepting: ["new"])
            )
            async let first = clock.run { try await chain.get() }
            async let second = clock.run { try await chain.get() }
            #expect(try await (first, second) == (200, 200))
            #expect(clock.now.elapsed == .zero)
        }
    }

    @Test func clockWaitsForAValidationInTheBackground() async throws {
        let fields: HTTPFields = [.cacheControl: "max-age=1, stale-while-revalidate=3600"]
        for _ in 0..<FullLoad.count(100, full: 1_000) {
            let tally = Tally()
            let transport = Recorder { request in
                await Self.work()
                return HTTPResponse(status: 200, headers: fields, body: HTTPBody("\(tally.count())"))
            }
            let clock = ManualClock()
            let chain = InterceptorChain([.cache(.memory(), time: .manual(clock))], transport: transport)
            let bodies = try await clock.run {
                var bodies: [String] = []
                for _ in 0..<3 {
                    let response = try await chain.send(HTTPRequest(url: apiURL))
                    bodies.append(String(decoding: try await response.body.collect(upTo: 100), as: UTF8.self))
                    try await clock.sleep(for: .seconds(2))
                }
                return bodies
            }
            #expect(bodies == ["1", "1", "2"])
        }
    }

    @Test func clockPassesTheSleepsOfARefresh() async throws {
        let clock = ManualClock()
        let time = TimeSource.manual(clock)
        let tokens = TokenStore(.old, origins: [apiOrigin], time: time) { _ in
            try await clock.sleep(for: .seconds(59))
            return .new
        }
        let chain = InterceptorChain(
            [.timeout(.seconds(60), time: time), .retryOnUnauthorized(tokens), .bearerAuth(tokens)],
            transport: TokenServer(accepting: ["new"])
        )
        #expect(try await clock.run(failingWhenStuck: true) { try await chain.get() } == 200)
        #expect(clock.now.elapsed == .seconds(59))
    }
}
