import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTraffic
import Testing

/// The usual chains in simulations, as a user of the package checks a chain.
@Suite(.againstHanging, .heavy) struct SimulatedChainsTests {
    private static let seeds = 1...500

    private static func giveDeadlines(_ world: Simulation.World) {
        world.giveDeadlines { request, limit in request.context.deadline = Deadline(after: limit, time: world.time) }
    }

    @Test func callsThatBringTheirCredentials() async throws {
        try await Simulation(seeds: Self.seeds) { world in
            Self.giveDeadlines(world)
            return world.client(interceptors: [
                .timeout(.seconds(20), time: world.time), .validateStatus(), .followRedirects(), .coalesce(),
                .cache(.memory(), time: world.time), .retry(maxAttempts: 3, time: world.time),
                .circuitBreaker(time: world.time), .limitConcurrency(4, perHost: 2),
                .timeout(.seconds(5), time: world.time),
            ])
        }.run()
    }

    @Test func chainThatRefreshesItsToken() async throws {
        try await Simulation(seeds: Self.seeds) { world in
            let tokens = TokenStore(origins: [world.origin], time: world.time) { rejected in
                let account = try await world.newToken(insteadOf: rejected?.value)
                return TokenStore.Token(account.token, account: account.name)
            }
            world.onSignIn { account in
                guard let account else { return tokens.signOut() }
                tokens.signIn(TokenStore.Token(account.token, account: account.name))
            }
            Self.giveDeadlines(world)
            return world.client(interceptors: [
                .timeout(time: world.time), .followRedirects(), .retryOnUnauthorized(tokens), .bearerAuth(tokens),
                .coalesce(), .cache(.memory(), time: world.time), .retry(maxAttempts: 3, time: world.time),
                .rateLimit(5, per: .seconds(1), time: world.time),
            ])
        }.run()
    }

    @Test func chainWithInjectedFaults() async throws {
        try await Simulation(seeds: Self.seeds) { world in
            let faults: AnyInterceptor = .faults(
                .latency(.milliseconds(1) ... .seconds(2)).percent(50),
                .status(503).percent(10),
                .answer(.text("<h1>Sign in</h1>", headers: [.contentType: "text/html"])).percent(10),
                .reset.percent(10),
                .truncation.percent(10),
                .timeout.percent(5),
                .failure(.offline).percent(5),
                time: world.time
            )
            return world.client(interceptors: [
                .retry(maxAttempts: 3, time: world.time), .hedge(after: .seconds(1), time: world.time), faults,
            ])
        }.run()
    }

    @Test func aForgottenTimeoutIsFound() async throws {
        let simulation = Simulation(seeds: Self.seeds) { world in
            Self.giveDeadlines(world)
            return world.client(interceptors: [.retry(maxAttempts: 3, time: world.time)])
        }
        await #expect { try await simulation.run() } throws: { "\($0)".contains("aDeadlineEndsACall") }
    }
}
