import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct ServerFaultTests {
    private func error(_ chain: [any Interceptor], mode: CacheMode = .standard) async throws -> StatusError {
        let chain = InterceptorChain(
            [.validateStatus()] + chain,
            transport: Recorder { _ in HTTPResponse(status: 503) }
        )
        let request = HTTPRequest(url: apiURL, context: .with(\.cacheMode, mode))
        return try #require(await #expect(throws: StatusError.self) { try await chain.send(request) })
    }

    private struct Wrapper: HTTPError {
        let code = HTTPErrorCode(rawValue: "wrapped")
        let message = "It failed."
        let response: HTTPResponse? = nil
        let underlying: (any Error)?
        let request: HTTPRequest.Summary? = nil
        var context = HTTPContext()
    }

    @Test func anErrorThatIsCausedByTheServersFaultIsItsFault() async throws {
        #expect(Wrapper(underlying: try await error([])).isServerFault)
        #expect(!Wrapper(underlying: TransportError(.timedOut, "It failed.")).isServerFault)
        #expect(!Wrapper(underlying: try await error([.cache(.memory())], mode: .onlyIfCached)).isServerFault)
    }

    @Test func aStatusOfTheServerIsItsFault() async throws {
        #expect(try await error([]).isServerFault)
    }

    @Test func theGatewayTimeoutOfTheCacheIsNotTheServersFault() async throws {
        let error = try await error([.cache(.memory())], mode: .onlyIfCached)
        #expect(error.status == 504 && !error.isServerFault)
        #expect(error.localizedDescription == "This is not available offline.")
    }

    @Test func aDecodingErrorOfTheCachesOwn504IsNotTheServersFaultAndKeepsTheCause() async throws {
        let refusal = TransportError(.cannotConnect, "It failed.", underlying: POSIXError(.ENETDOWN))
        let fetched = Tally()
        let client = Client(
            baseURL: apiURL,
            interceptors: [.cache(.memory())],
            transport: Recorder { _ in
                guard fetched.count() == 1 else { throw refusal }
                return HTTPResponse(
                    status: 200,
                    headers: [.cacheControl: "max-age=0, must-revalidate", .contentType: "text/plain"],
                    body: "x"
                )
            }
        )
        #expect(try await client.get("/", as: String.self) == "x")
        let error = try #require(
            await #expect(throws: ResponseDecodingError.self) { try await client.get("/", as: String.self) }
        )
        #expect(error.status == 504 && !error.isServerFault && error.isOffline)
        #expect((error.underlying as? TransportError)?.code == .cannotConnect)
        #expect(!error.message.contains("The server answered"))
        #expect(error.localizedDescription == "The Internet connection appears to be offline.")
    }
}
