import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct WithheldTokenTests {
    private let elsewhere = URL(string: "https://files.example.com/42")!
    private let reason =
        "bearerAuth added no token for https://files.example.com:443, because its tokens are for https://api.example.com:443."

    private func tokens(_ origin: Origin = apiOrigin) -> TokenStore {
        TokenStore(.old, origins: [origin]) { _ in .old }
    }

    private func client(_ interceptors: [any Interceptor], _ status: HTTPResponse.Status = 401) -> Client {
        Client(interceptors: interceptors, transport: Recorder { _ in HTTPResponse(status: status) })
    }

    private func text(
        _ interceptors: [any Interceptor],
        _ url: URL,
        _ status: HTTPResponse.Status = 401
    ) async -> String {
        do {
            return "\(try await client(interceptors, status).get(url, as: String.self))"
        } catch {
            return "\(error)"
        }
    }

    @Test func aCallToAnotherOriginThatWentWithoutATokenSaysWhy() async throws {
        let bearer: any Interceptor = .bearerAuth(tokens())
        #expect(await text([.validateStatus(), bearer], elsewhere).contains(reason))
        #expect(await text([bearer], elsewhere).contains(reason))
        #expect(await text([bearer, .validateStatus()], elsewhere).contains(reason))
    }

    @Test func aRejectedTokenIsNotCalledMissing() async throws {
        #expect(await !text([.validateStatus(), .bearerAuth(tokens())], apiURL).contains("added no token"))
    }

    @Test func anotherStatusIsNotExplainedByTheToken() async throws {
        #expect(await !text([.validateStatus(), .bearerAuth(tokens())], elsewhere, 404).contains("added no token"))
    }

    @Test func aTokenOfAnotherStoreWasSent() async throws {
        let other = tokens(try #require(Origin(elsewhere)))
        for chain in [[tokens(), other], [other, tokens()]] {
            let bearers = chain.map { AnyInterceptor.bearerAuth($0) as any Interceptor }
            #expect(await !text([.validateStatus()] + bearers, elsewhere).contains("added no token"))
        }
    }
}
