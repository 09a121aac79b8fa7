import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct RetryPolicyTests {
    typealias Answer = Result<HTTPResponse, any Error>

    private func decision(
        _ policy: RetryPolicy,
        after attempt: Int = 1,
        _ answer: Answer,
        to request: HTTPRequest = HTTPRequest(url: apiURL)
    ) -> RetryDecision {
        policy.decision(after: attempt, answer, to: request, random: .system, now: Date(timeIntervalSince1970: 0))
    }

    private func decision(_ answer: Answer, to request: HTTPRequest = HTTPRequest(url: apiURL)) -> RetryDecision {
        decision(.constant(.seconds(1)), answer, to: request)
    }

    private func status(_ status: HTTPResponse.Status, _ fields: HTTPFields = [:]) -> Answer {
        .success(HTTPResponse(status: status, headers: fields))
    }

    private func failure(_ code: HTTPErrorCode) -> Answer { .failure(TransportError(code, "It failed.")) }

    @Test(arguments: [
        (200, false), (204, false), (301, false), (304, false), (400, false), (401, false), (403, false), (404, false),
        (408, true), (409, false), (425, false), (429, true), (500, true), (501, false), (502, true), (503, true),
        (504, true), (505, false), (599, false),
    ])
    func standardStatuses(code: Int, isRetried: Bool) throws {
        let answer = status(try #require(HTTPResponse.Status(code: code)))
        #expect(decision(answer) == (isRetried ? .retry(after: .seconds(1)) : .accept))
    }

    @Test(arguments: [
        (HTTPErrorCode.cannotFindHost, true), (.cannotConnect, true), (.connectionLost, true), (.timedOut, true),
        (.truncated, true), (.tlsFailed, false), (.invalidRequest, false), (.unsupportedURL, false), (.noStub, false),
        (.bodyNotReplayable, false), (.bodyTooLarge, false), (.invalidResponse, false), (.transportFailed, false),
    ])
    func standardErrors(code: HTTPErrorCode, isRetried: Bool) {
        #expect(decision(failure(code)) == (isRetried ? .retry(after: .seconds(1)) : .accept))
    }

    @Test func cancellationIsNeverRetriedWhateverTheConditionSays() {
        let policy = RetryPolicy.constant(.zero, condition: .outcome { _, _ in true } || .error(CancellationError.self))
        #expect(decision(policy, .failure(CancellationError())) == .accept)
        #expect(decision(policy, .failure(Refused())) == .retry(after: .zero))
    }

    @Test func conditionsByStatusErrorAndClosure() {
        let policy = RetryPolicy.constant(
            .zero,
            condition: .status(409) || .error(RefreshRefused.self) { $0.attempt < 3 }
                || .outcome { request, answer in
                    if case .success(let response) = answer {
                        request.method == .get && response.status == 204
                    } else {
                        false
                    }
                }
        )
        #expect(decision(policy, status(409)) == .retry(after: .zero))
        #expect(decision(policy, status(503)) == .accept)
        #expect(decision(policy, .failure(RefreshRefused(attempt: 2))) == .retry(after: .zero))
        #expect(decision(policy, .failure(RefreshRefused(attempt: 3))) == .accept)
        #expect(decision(policy, status(204)) == .retry(after: .zero))
        #expect(decision(policy, status(204), to: HTTPRequest(method: .head, url: apiURL)) == .accept)
    }

    @Test func attemptsAreCountedWithTheFirst() {
        #expect(decision(.constant(.zero, maxAttempts: 3), after: 2, status(503)) == .retry(after: .zero))
        #expect(decision(.constant(.zero, maxAttempts: 3), after: 3, status(503)) == .stop(.attemptsUsedUp))
        #expect(decision(.constant(.zero, maxAttempts: 1), after: 1, status(503)) == .stop(.attemptsUsedUp))
        #expect(decision(.constant(.zero, maxAttempts: -1), after: 1, status(503)) == .stop(.attemptsUsedUp))
        #expect(decision(.constant(.zero, maxAttempts: 1), after: 1, status(200)) == .accept)
    }

    @Test(arguments: [
        ("GET", true), ("HEAD", true), ("OPTIONS", true), ("TRACE", true), ("QUERY", true), ("PUT", true),
        ("DELETE", true), ("POST", false), ("PATCH", false), ("CONNECT", false), ("PURGE", false), ("get", false),
    ])
    func requestOfUnknownFateIsRetriedOnlyIfItIsIdempotent(method: String, isRetried: Bool) throws {
        let request = HTTPRequest(method: try #require(HTTPRequest.Method(rawValue: method)), url: apiURL)
        let expected: RetryDecision = isRetried ? .retry(after: .seconds(1)) : .stop(.notIdempotent)
        for answer in [
            status(500), status(502), status(503), status(504), failure(.connectionLost), failure(.timedOut),
        ] {
            #expect(decision(answer, to: request) == expected)
        }
    }

    @Test func idempotencyKeyOrTheCallerMakeItIdempotent() {
        var keyed = HTTPRequest(method: .post, url: apiURL, headers: ["idempotency-key": "1"])
        #expect(decision(failure(.timedOut), to: keyed) == .retry(after: .seconds(1)))
        keyed.context.isIdempotent = false
        #expect(decision(failure(.timedOut), to: keyed) == .stop(.notIdempotent))
        var allowed = HTTPRequest(method: .patch, url: apiURL)
        allowed.context.isIdempotent = true
        #expect(decision(failure(.timedOut), to: allowed) == .retry(after: .seconds(1)))
        var forbidden = HTTPRequest(method: .get, url: apiURL)
        forbidden.context.isIdempotent = false
        #expect(decision(status(500), to: forbidden) == .stop(.notIdempotent))
    }

    @Test func whatTheServerDidNotActOnIsRetriedWhateverItsMethod() {
        let post = HTTPRequest(method: .post, url: apiURL)
        let answers = [
            status(408), status(429), status(503, [.retryAfter: "1"]), failure(.cannotConnect),
            failure(.cannotFindHost),
        ]
        for answer in answers { #expect(decision(answer, to: post) == .retry(after: .seconds(1))) }
    }

    // A TLS error may also end an established connection, after the request was sent.
    @Test func failureOfTLSDoesNotSayThatNothingWasSent() {
        let policy = RetryPolicy.constant(.zero, condition: .code(.tlsFailed))
        let post = HTTPRequest(method: .post, url: apiURL)
        #expect(decision(policy, failure(.tlsFailed), to: post) == .stop(.notIdempotent))
        #expect(decision(policy, failure(.tlsFailed)) == .retry(after: .zero))
    }

    @Test func requestThatWaitedInVainWasNotSent() {
        let post = HTTPRequest(method: .post, url: apiURL)
        let answer = Answer.failure(UnsentError.timedOut(waitingFor: "a permit", post))
        #expect(decision(answer, to: post) == .retry(after: .seconds(1)))
        #expect(decision(answer, to: HTTPRequest(method: .patch, url: apiURL)) == .stop(.notIdempotent))
    }

    @Test func lastOfSeveralAttemptsDoesNotSayWhatBecameOfTheOthers() {
        let post = HTTPRequest(method: .post, url: apiURL)
        for (first, isCertain) in [(HTTPErrorCode.cannotConnect, true), (.timedOut, false)] {
            var error = TransportError(.cannotConnect, "It failed.", request: post)
            error.context.attempts = [
                RetryAttempt(number: 1, answer: failure(first)),
                RetryAttempt(number: 2, answer: failure(.cannotConnect)),
            ]
            #expect(UnsentError.isCertain(after: error, of: post) == isCertain)
        }
    }

    @Test func whatARedirectShowsToBeDoneIsNotDoneAgain() throws {
        let post = HTTPRequest(method: .post, url: apiURL)
        // A 303 answers POST /orders, and the GET that follows fails: the order has been placed.
        for (status, isRetried) in [(303, false), (302, false), (301, false), (307, true), (308, true)] {
            var answer = HTTPResponse(status: 429)
            answer.context.redirects = [
                Redirect(status: try #require(.init(code: status)), method: .post, url: apiURL, target: apiURL)
            ]
            let expected: RetryDecision = isRetried ? .retry(after: .seconds(1)) : .stop(.notIdempotent)
            #expect(decision(.success(answer), to: post) == expected)
        }
        let unreachable = TransportError(.cannotConnect, "It failed.", request: HTTPRequest(url: apiURL))
        #expect(decision(.failure(unreachable), to: post) == .stop(.notIdempotent))
    }

    @Test func oneShotBodyThatWasReadIsNeverSentAgain() async throws {
        let request = HTTPRequest(method: .put, url: apiURL, body: .oneShot(Chunks(["x"])))
        #expect(decision(status(503), to: request) == .retry(after: .seconds(1)))
        _ = try await request.body.collect(upTo: 10)
        #expect(decision(status(503), to: request) == .stop(.bodyNotReplayable))
    }

    @Test(arguments: [
        ("0", 0), ("1", 1), ("30", 30), ("60", 60), ("nonsense", 1), ("Thu, 01 Jan 1970 00:00:10 GMT", 10),
        ("Wed, 31 Dec 1969 00:00:00 GMT", 0),
    ])
    func retryAfterIsWaitedForAndZeroMeansNow(value: String, seconds: Int) {
        for code in [429, 503, 500, 413] as [HTTPResponse.Status] {
            #expect(decision(status(code, [.retryAfter: value])) == .retry(after: .seconds(seconds)))
        }
    }

    @Test(arguments: ["61", "99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"])
    func retryAfterBeyondTheLimitEndsTheAttempts(value: String) {
        #expect(decision(status(503, [.retryAfter: value])) == .stop(.retryAfterTooLong))
    }

    @Test func theUsualLimitOfRetryAfterIsThatOfEveryCall() {
        #expect(RetryPolicy.exponential().maxRetryAfter == RetryAfter.usualLimit)
    }

    @Test func contentTooLargeIsTriedAgainOnlyWithARetryAfter() {
        #expect(decision(status(413)) == .accept)
        let post = HTTPRequest(method: .post, url: apiURL)
        #expect(decision(status(413, [.retryAfter: "2"]), to: post) == .retry(after: .seconds(2)))
    }

    @Test(
        arguments: [
            (429, "Retry-After-Ms", "2500", 2500), (503, "retry-after-ms", "2500", 2500),
            (429, "x-ms-retry-after-ms", "0", 0),
            (429, "RateLimit-Reset", "7", 7000), (429, "X-RateLimit-Reset", "7", 7000),
            (429, "X-RateLimit-Reset", "6.2", 7000),
            (429, "X-RateLimit-Reset", "1000000000", nil), (429, "RateLimit-Reset", "soon", 1000),
            (429, "RateLimit-Reset", "1.x", 1000),
            (503, "RateLimit-Reset", "7", 1000), (500, "X-RateLimit-Reset", "7", 1000),
        ] as [(Int, String, String, Int?)]
    )
    func otherFieldsOfLimitsAreWaitedFor(code: Int, name: String, value: String, milliseconds: Int?) throws {
        let answer = status(try #require(.init(code: code)), [HTTPField.Name(stringLiteral: name): value])
        let expected = milliseconds.map { RetryDecision.retry(after: .milliseconds($0)) }
        #expect(decision(answer) == expected ?? .stop(.retryAfterTooLong))
    }

    @Test func resetIsSecondsSince1970OrFromNow() {
        let response = HTTPResponse(status: 429, headers: ["X-RateLimit-Reset": "1700000030"])
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        #expect(RetryAfter.wait(in: response, now: now) == .seconds(30))
        #expect(RetryAfter.wait(in: response, now: now + 100) == .zero)
        let both = HTTPResponse(status: 429, headers: [.retryAfter: "5", "X-RateLimit-Reset": "1700000030"])
        #expect(RetryAfter.wait(in: both, now: now) == .seconds(5))
    }

    @Test func retryAfterOverTheLimitOfThePolicyIsRefused() {
        var policy = RetryPolicy.constant(.seconds(1))
        policy.maxRetryAfter = .seconds(5)
        #expect(decision(policy, status(503, [.retryAfter: "5"])) == .retry(after: .seconds(5)))
        #expect(decision(policy, status(503, [.retryAfter: "6"])) == .stop(.retryAfterTooLong))
        policy.maxRetryAfter = .seconds(-1)
        #expect(decision(policy, status(503, [.retryAfter: "0"])) == .retry(after: .zero))
        #expect(decision(policy, status(503, [.retryAfter: "1"])) == .stop(.retryAfterTooLong))
    }
}
