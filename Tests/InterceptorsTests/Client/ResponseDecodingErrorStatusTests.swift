import Foundation
import InterceptorsCore
import InterceptorsTesting
import Testing

/// The failures of responses without success that no interceptor checked.
@Suite(.againstHanging) struct ResponseDecodingErrorStatusTests {
    private func failure(
        _ response: HTTPResponse,
        as type: (some Decodable & Sendable).Type = Int.self
    ) async throws -> ResponseDecodingError {
        let client = makeClient(StubTransport { _ in response })
        return try #require(
            await #expect(throws: ResponseDecodingError.self) { try await client.get("/x?token=hush", as: type) }
        )
    }

    @Test func aStatusThatNobodyCheckedIsNotCalledAFailureToDecode() async throws {
        let failure = try await failure(HTTPResponse(status: 404, body: "Nothing here"))
        #expect(failure.code == .unacceptedStatus)
        #expect(failure.message.hasPrefix("The server answered 404 Not Found, and no interceptor checked the status."))
        #expect(failure.message.contains("Add .validateStatus()"))
        #expect(!failure.message.contains("decoded"))
        #expect(failure.description.contains("<12 bytes of text>"))
        #expect(failure.localizedDescription == "This could not be found.")
        #expect(failure.response?.status == 404)
    }

    @Test func aRedirectThatNobodyFollowedSaysHowToFollowIt() async throws {
        let redirect = HTTPResponse(status: 302, headers: [.location: "/b?token=hush"])
        let failure = try await failure(redirect)
        let target = "https://api.example.com/b?token=<redacted>"
        #expect(failure.message.contains("which redirects to \(target), and nothing followed it."))
        #expect(failure.message.contains("add .followRedirects()"))
        #expect(!failure.description.contains("hush"))
    }

    @Test func aRedirectToNowhereSaysSo() async throws {
        #expect(try await failure(HTTPResponse(status: 303)).message.contains("there is nothing to follow"))
    }

    @Test func theBodyIsKeptUpToALimit() async throws {
        for (count, isComplete) in [(65_536, true), (65_537, false)] {
            let body = Data(repeating: UInt8(ascii: "x"), count: count)
            for response in [
                HTTPResponse(status: 200, body: HTTPBody(body)), HTTPResponse(status: 500, body: HTTPBody(body)),
            ] {
                let failure = try await failure(response)
                #expect(failure.body == body.prefix(65_536))
                #expect(failure.isBodyComplete == isComplete)
                #expect(failure.length == count)
                #expect(failure.response?.body.data == failure.body)
            }
        }
    }

    @Test func whatTheContextOfTheResponseSaysIsKept() async throws {
        struct Key: HTTPContextKey { static let defaultValue = 0 }
        var response = HTTPResponse(status: 200, body: "?")
        response.context[Key.self] = 7
        #expect(try await failure(response).context[Key.self] == 7)
    }
}
