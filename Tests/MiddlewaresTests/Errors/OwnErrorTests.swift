import Foundation
import InterceptorsTestSupport
import Synchronization
import Testing

@testable import InterceptorsMiddlewares

/// Errors of an author's own interceptors.
@Suite(.againstHanging) struct OwnErrorTests {
    private struct QuotaError: HTTPError {
        var code = HTTPErrorCode(rawValue: "quotaUsedUp")
        let message = "The quota is used up."
        let request: HTTPRequest.Summary?
        var sentNothing = true
        let response: HTTPResponse? = nil
        let underlying: (any Error)? = nil
        var context = HTTPContext()
    }

    private struct ServiceError: HTTPError {
        var code = HTTPErrorCode(rawValue: "serviceFailed")
        let message = "The service refused."
        let response: HTTPResponse?
        let request: HTTPRequest.Summary? = nil
        let underlying: (any Error)? = nil
        var context = HTTPContext()
    }

    private struct MappedError: HTTPError {
        let code = HTTPErrorCode(rawValue: "callFailed")
        let message = "The call failed."
        let underlying: (any Error)?
        var sentNothing = false
        let request: HTTPRequest.Summary? = nil
        let response: HTTPResponse? = nil
        var context = HTTPContext()
    }

    private let post = HTTPRequest(method: .post, url: apiURL, body: "order")

    /// An interceptor that throws an error for the first request, and passes on the others.
    private func failingOnce(_ error: @escaping @Sendable (HTTPRequest) -> any Error) -> some Interceptor {
        let tally = Tally()
        return AnyInterceptor.intercept { request, next in
            if tally.count() == 1 { throw error(request) }
            return try await next(request)
        }
    }

    private func retry(_ maxAttempts: Int = 2) -> some Interceptor {
        AnyInterceptor.retry(
            .constant(
                .zero,
                maxAttempts: maxAttempts,
                condition: .outcome { _, answer in
                    if case .failure = answer { true } else { false }
                }
            )
        )
    }

    @Test func aRefusalThatSentNothingLetsAPOSTBeRetried() async throws {
        let transport = Recorder()
        let chain = InterceptorChain([retry(), failingOnce { QuotaError(request: $0.summary) }], transport: transport)
        #expect(try await chain.send(post).status == 200)
        #expect(transport.requests.count == 1)
    }

    @Test func anErrorThatMayHaveSentSomethingDoesNot() async throws {
        let chain = InterceptorChain(
            [retry(), failingOnce { QuotaError(request: $0.summary, sentNothing: false) }],
            transport: Recorder()
        )
        let error = await #expect(throws: QuotaError.self) { try await chain.send(post) }
        #expect(error?.context.attempts.last?.stop == .notIdempotent)
        #expect(error?.description.contains("After 1 attempt (OwnError") == false)
        #expect(
            error?.description.hasSuffix("After 1 attempt (QuotaError.quotaUsedUp), not tried again: notIdempotent.")
                == true
        )
    }

    @Test(arguments: [true, false]) func aRefusalAfterARedirectThatChangedTheMethodRepeatsNoPOST(
        isWrapped: Bool
    ) async throws {
        let transport = Recorder { _ in redirect(303, "/receipt") }
        let chain = InterceptorChain(
            [
                retry(),
                .intercept { request, next in
                    do {
                        return try await next(request)
                    } catch let error as QuotaError where isWrapped {
                        throw MappedError(underlying: error, sentNothing: error.sentNothing)
                    }
                },
                .followRedirects(),
                .intercept { request, next in
                    if request.method == .get { throw QuotaError(request: nil) }
                    return try await next(request)
                },
            ],
            transport: transport
        )
        await #expect(throws: (any Error).self) { try await chain.send(post) }
        #expect(transport.requests.map(\.method) == [.post])
    }

    @Test func attemptsThatAreUsedUpAreSaid() async throws {
        let chain = InterceptorChain(
            [retry(3), .intercept { request, _ in throw QuotaError(request: request.summary) }],
            transport: Recorder()
        )
        let error = await #expect(throws: QuotaError.self) { try await chain.send(post) }
        #expect(error?.attempts == 3)
        #expect(
            error?.description
                == "QuotaError.quotaUsedUp: The quota is used up. (POST \(apiURL)) After 3 attempts"
                + " (QuotaError.quotaUsedUp, QuotaError.quotaUsedUp, QuotaError.quotaUsedUp), not tried again: attemptsUsedUp."
        )
        #expect(error?.localizedDescription == "The request could not be sent.")
    }

    @Test(arguments: [true, false]) func anErrorThatHoldsA401RefreshesTheToken(isWrapped: Bool) async throws {
        let server = TokenServer(accepting: ["new"])
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in .new }
        let chain = InterceptorChain(
            [
                .retryOnUnauthorized(tokens), .bearerAuth(tokens),
                .intercept { request, next in
                    let response = try await next(request)
                    guard response.status == 401 else { return response }
                    let error = ServiceError(response: response)
                    throw isWrapped ? MappedError(underlying: error) : error as any Error
                },
            ],
            transport: server
        )
        #expect(try await chain.send(HTTPRequest(url: apiURL)).status == 200)
        #expect(server.authorizations == ["Bearer old", "Bearer new"])
    }

    @Test func anErrorCountsByTheStatusOfItsResponse() {
        func answer(_ status: HTTPResponse.Status) -> Result<HTTPResponse, any Error> {
            .failure(ServiceError(response: HTTPResponse(status: status)))
        }
        #expect(OutcomeCondition.hostFailure.matches(answer(503), to: post))
        #expect(!OutcomeCondition.hostFailure.matches(answer(404), to: post))
        #expect(OutcomeCondition.temporaryFailure.matches(answer(503), to: post))
        #expect(!OutcomeCondition.temporaryFailure.matches(answer(404), to: post))
        #expect(ServiceError(response: HTTPResponse(status: 401)).isUnauthorized)
        #expect(ServiceError(response: HTTPResponse(status: 500)).isServerFault)
        #expect(!ServiceError(response: HTTPResponse(status: 499)).isServerFault)
    }

    @Test(arguments: [
        (HTTPErrorCode.connectionLost, true, true), (.offline, true, true),
        (.timedOut, true, true), (.tlsFailed, false, true), (.invalidRequest, false, false),
        (HTTPErrorCode(rawValue: "quotaUsedUp"), false, false), (.bodySourceFailed, false, false),
    ])
    func anErrorCountsByItsCodeWhateverItsType(code: HTTPErrorCode, isRetried: Bool, isHostFailure: Bool) {
        let error = ServiceError(code: code, response: nil)
        let causes: [any HTTPError] = [error, TransportError(code, "No."), MappedError(underlying: error)]
        for error in causes + [MappedError(underlying: MappedError(underlying: TransportError(code, "No.")))] {
            #expect(OutcomeCondition.temporaryFailure.matches(.failure(error), to: post) == isRetried)
            #expect(OutcomeCondition.code(code).matches(.failure(error), to: post))
            #expect(!OutcomeCondition.code(.noStub).matches(.failure(error), to: post))
            #expect(OutcomeCondition.hostFailure.matches(.failure(error), to: post) == isHostFailure)
        }
    }

    @Test func anErrorOfABodysSourceIsNeitherRetriedNorHeldAgainstTheHost() {
        let source = TransportError(.connectionLost, "The other service is down.")
        let error = MappedError(underlying: TransportError(.bodySourceFailed, "No.", underlying: source))
        #expect(!OutcomeCondition.temporaryFailure.matches(.failure(error), to: post))
        #expect(!OutcomeCondition.hostFailure.matches(.failure(error), to: post))
        #expect(!error.isDisconnection)
    }

    @Test func aWrappedErrorOfARequestThatWaitedInVainSaysNothingAboutTheHost() {
        let error = MappedError(underlying: UnsentError.timedOut(waitingFor: "a permit", post))
        #expect(!OutcomeCondition.hostFailure.matches(.failure(error), to: post))
        #expect(UnsentError.cause(of: error) != nil)
    }

    @Test func anErrorThatALostConnectionCausedMeansADisconnection() {
        #expect(ServiceError(code: .offline, response: nil).isDisconnection)
        #expect(MappedError(underlying: TransportError(.cannotConnect, "No.")).isDisconnection)
        #expect(!MappedError(underlying: TransportError(.tlsFailed, "No.")).isDisconnection)
        #expect(!QuotaError(request: nil).isDisconnection)
    }

    @Test func nothingButTheRequiredPartsIsDumped() {
        struct KeyError: HTTPError {
            let code = HTTPErrorCode(rawValue: "wrongKey")
            let message = "The key is wrong."
            let key = "hush"
            let request: HTTPRequest.Summary? = nil
            let response: HTTPResponse? = nil
            let underlying: (any Error)? = nil
            var context = HTTPContext()
        }
        var dumped = ""
        dump(KeyError(), to: &dumped)
        #expect(dumped.contains("The key is wrong.") && !dumped.contains("hush"))
        #expect(!"\(KeyError())".contains("hush") && !String(reflecting: KeyError()).contains("hush"))
    }
}
