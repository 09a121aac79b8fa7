import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

/// The value in an error's body.
@Suite(.againstHanging) struct ErrorBodyTests {
    private struct Problem: Decodable, Equatable {
        let title: String
    }

    private struct ServiceError: HTTPError {
        let code = HTTPErrorCode(rawValue: "serviceFailed")
        let message = "The service failed."
        let response: HTTPResponse?
        let request: HTTPRequest.Summary? = nil
        let underlying: (any Error)? = nil
        var context = HTTPContext()
    }

    private struct MappedError: HTTPError {
        let code = HTTPErrorCode(rawValue: "callFailed")
        let message = "The call failed."
        let underlying: (any Error)?
        let request: HTTPRequest.Summary? = nil
        let response: HTTPResponse? = nil
        var context = HTTPContext()
    }

    private struct LineDecoder: BodyDecoder {
        struct NoText: Error {}
        let mediaType = "text/plain"

        func decode<Value: Decodable>(_ type: Value.Type, from body: Data) throws -> Value {
            guard let text = String(decoding: body, as: UTF8.self) as? Value else { throw NoText() }
            return text
        }
    }

    private let problem = #"{"title":"Out of stock","access_token":"hush"}"#

    private func statusError(_ body: HTTPBody, limit: Int = 1_000) async throws -> StatusError {
        try await StatusError(HTTPResponse(status: 409, body: body), method: .post, url: apiURL, bodyLimit: limit)
    }

    private func failure(of error: any HTTPError) throws -> ResponseDecodingError {
        try #require(#expect(throws: ResponseDecodingError.self) { try error.decode(Problem.self) })
    }

    @Test func everyErrorThatKeepsABodyDecodesIt() async throws {
        let body = HTTPBody(problem)
        let client = Client(interceptors: [], transport: Recorder { _ in HTTPResponse(status: 409, body: body) })
        let unchecked = try #require(
            await #expect(throws: ResponseDecodingError.self) { try await client.get(apiURL, as: [String: Int].self) }
        )
        let errors: [any HTTPError] = [
            try await statusError(body), unchecked, EnvelopeError(.envelopeFailure, body: Data(problem.utf8)),
            ServiceError(response: HTTPResponse(status: 409, body: body)),
            MappedError(underlying: try await statusError(body)),
        ]
        for error in errors {
            #expect(try error.decode(Problem.self) == Problem(title: "Out of stock"), "\(error)")
            let inferred: Problem = try error.decode()
            #expect(inferred.title == "Out of stock")
        }
    }

    @Test func anotherDecoderMayBeNamed() async throws {
        #expect(try await statusError("No.").decode(String.self, with: LineDecoder()) == "No.")
        let error = try await statusError("No.")
        #expect(throws: ResponseDecodingError.self) { try error.decode(Int.self, with: LineDecoder()) }
    }

    @Test func anErrorWithoutAResponseThrowsItself() {
        let error = TransportError(.timedOut, "Late.")
        let thrown = #expect(throws: TransportError.self) { try error.decode(Problem.self) }
        #expect(thrown?.code == .timedOut)
    }

    @Test func aBodyOfAnotherKindIsAResponseDecodingErrorThatNamesTheRequestAndNoSecret() async throws {
        let failure = try failure(of: try await statusError(#"{"access_token":"hush"}"#))
        #expect(failure.code == .undecodable && failure.status == 409)
        #expect(failure.request == HTTPRequest.Summary(method: .post, url: apiURL))
        #expect(failure.message.contains("Problem can't be decoded"))
        #expect(!failure.description.contains("hush"))
        #expect(failure.underlying is DecodingError)
    }

    @Test func anEmptyBodyIsNotDecoded() async throws {
        let failure = try failure(of: try await statusError(.empty))
        #expect(failure.code == .emptyBody)
        #expect(failure.message == "The response has no content to decode Problem from.")
    }

    @Test func aBodyThatWasCutOffIsNotDecoded() async throws {
        let cut = try await statusError(HTTPBody(problem), limit: 20)
        #expect(!cut.isBodyComplete)
        for error in [cut, MappedError(underlying: cut)] as [any HTTPError] {
            let failure = try failure(of: error)
            #expect(failure.code == .incompleteBody && !failure.isBodyComplete)
            #expect(failure.message.contains("kept only the first 20 bytes"))
            #expect(failure.message.contains("validateStatus(bodyLimit:)"))
        }
    }

    @Test func aStreamIsNotRead() throws {
        let response = HTTPResponse(status: 409, body: .oneShot(Chunks([problem])))
        let failure = try failure(of: ServiceError(response: response))
        #expect(failure.code == .incompleteBody && failure.message.contains("in memory"))
    }
}
