import Foundation
import TestSupport
import Testing

@testable import Middlewares

@Suite(.againstHanging) struct ServerFaultTests {
    private func error(_ chain: [any Interceptor], mode: CacheMode = .standard) async throws -> StatusError {
        let chain = InterceptorChain(
            [.validateStatus()] + chain,
            transport: Recorder { _ in HTTPResponse(status: 503) }
        )
        let request = HTTPRequest(url: apiURL, context: .with(\.cacheMode, mode))
        return try #require(await #expect(throws: StatusError.self) { try await chain.send(request) })
    }

    @Test func aStatusOfTheServerIsItsFault() async throws {
        #expect(try await error([]).isServerFault)
    }

    @Test func theGatewayTimeoutOfTheCacheIsNotTheServersFault() async throws {
        let error = try await error([.cache(.memory())], mode: .onlyIfCached)
        #expect(error.status == 504 && !error.isServerFault)
        #expect(error.localizedDescription == "This is not available offline.")
    }
}
