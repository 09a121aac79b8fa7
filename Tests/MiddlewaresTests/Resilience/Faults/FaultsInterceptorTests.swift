import Foundation
import TestSupport
import Testing
import TransportTesting

@testable import Middlewares

@Suite(.againstHanging) struct FaultsInterceptorTests {
    private let clock = ManualClock()
    private let recorder = Recorder { request in
        var response = HTTPResponse(status: 200, body: "0123456789", url: request.url)
        if request.context.responseBody == .streamed {
            response.body = .oneShot(Chunks(["01234", "56789"]), length: 10)
        }
        return response
    }

    private func send(
        _ faults: Fault...,
        seed: UInt64 = 1,
        _ change: (inout HTTPRequest) throws -> Void = { _ in }
    ) async throws -> HTTPResponse {
        try await send(.faults(FaultSwitch(faults, seed: seed), time: .manual(clock)), change)
    }

    private func send(
        _ faults: AnyInterceptor,
        _ change: (inout HTTPRequest) throws -> Void = { _ in }
    ) async throws -> HTTPResponse {
        var request = HTTPRequest(url: apiURL)
        try change(&request)
        return try await InterceptorChain([faults], transport: recorder).send(request)
    }

    private func code(
        _ faults: Fault...,
        changing change: (inout HTTPRequest) throws -> Void = { _ in }
    ) async throws -> HTTPErrorCode? {
        do {
            _ = try await send(.faults(FaultSwitch(faults, seed: 1), time: .manual(clock)), change)
            return nil
        } catch let error as TransportError {
            #expect(error.message.contains("injected"))
            #expect(error.request?.url == apiURL.absoluteString)
            return error.code
        }
    }

    @Test func withoutFaultsEverythingPasses() async throws {
        #expect(try await send().status == 200)
        #expect(recorder.requests.count == 1)
    }

    @Test func aStatusAnswersWithoutSending() async throws {
        let response = try await send(.status(503))
        #expect(response.status == 503)
        #expect(response.url == apiURL)
        #expect(recorder.requests.isEmpty)
        #expect(try await send(.serverError).status == 500)
    }

    @Test func unauthorizedOnceRejectsTheFirstRequestWithAChallenge() async throws {
        let faults = AnyInterceptor.faults(.unauthorizedOnce, time: .manual(clock))
        let response = try await send(faults)
        #expect(response.status == 401)
        #expect(response.headerFields[.wwwAuthenticate]?.hasPrefix("Bearer") == true)
        #expect(try await send(faults).status == 200)
    }

    @Test func aCaptivePortalAnswersWithHTML() async throws {
        let buffered = try await send(.captivePortal)
        #expect(buffered.status == 200)
        #expect(buffered.headerFields[.contentType] == "text/html; charset=utf-8")
        let page = try await buffered.body.collect(upTo: 10_000)
        #expect(String(decoding: page, as: UTF8.self).contains("Sign in"))
        let streamed = try await send(.captivePortal) { $0.context.responseBody = .streamed }
        #expect(streamed.body.isUnreadStream)
        #expect(try await streamed.body.collect(upTo: 10_000) == page)
        #expect(buffered.headerFields[.contentLength] == "\(page.count)")
        let head = try await send(.captivePortal) { $0.method = .head }
        #expect(head.body.isEmpty)
        #expect(recorder.requests.isEmpty)
    }

    @Test func aPageBeyondTheLimitOfABufferedResponseFails() async throws {
        await #expect { try await send(.captivePortal) { $0.context.responseBody = .buffered(upTo: 10) } } throws: {
            ($0 as? TransportError)?.code == .bodyTooLarge
        }
    }

    @Test func aFailureIsTheTransportsErrorAndSendsNothing() async throws {
        #expect(try await code(.failure(.offline)) == .offline)
        #expect(try await code(.failure(.tlsFailed)) == .tlsFailed)
        #expect(recorder.requests.isEmpty)
    }

    @Test func aResetLosesTheResponseOfASentRequest() async throws {
        #expect(try await code(.reset) == .connectionLost)
        #expect(recorder.requests.count == 1)
    }

    @Test func aTruncatedBufferedResponseFails() async throws {
        #expect(try await code(.truncation) == .truncated)
        #expect(recorder.requests.count == 1)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func aTruncatedStreamEndsWithTheErrorAfterAPart(seed: UInt64) async throws {
        let response = try await send(.truncation, seed: seed) { $0.context.responseBody = .streamed }
        var content = ""
        await #expect {
            for try await chunk in response.body { content += String(decoding: chunk, as: UTF8.self) }
        } throws: {
            ($0 as? TransportError)?.code == .truncated
        }
        #expect("0123456789".hasPrefix(content) && content.count < 10)
    }

    @Test func aTruncatedStreamDiscardsItsSource() async throws {
        let stub = StubTransport()
        stub.on(nil, "**", .stream([Data(count: 1_000), Data(count: 1_000)]))
        var request = HTTPRequest(url: apiURL)
        request.context.responseBody = .streamed
        for seed in 1...10 as ClosedRange<UInt64> {
            let chain = InterceptorChain([.faults(.truncation, seed: seed)], transport: stub)
            let response = try await chain.send(request)
            #expect(stub.openBodies == 1)
            await #expect(throws: TransportError.self) { try await response.body.collect(upTo: 1 << 20) }
            #expect(stub.openBodies == 0)
        }
    }

    @Test func aResponseWithoutContentIsNotTruncated() async throws {
        let recorder = Recorder { _ in HTTPResponse(status: 204) }
        let chain = InterceptorChain([.faults(.truncation)], transport: recorder)
        #expect(try await chain.send(HTTPRequest(url: apiURL)).status == 204)
    }
}

// Waits, one-shot bodies, and the place in a chain.
extension FaultsInterceptorTests {
    @Test func latencyWaitsOnTheClockAndCancellationEndsIt() async throws {
        let task = Task { try await send(.latency(.seconds(3)), .latency(.seconds(2)), .status(503)) }
        await clock.sleepers(1)
        clock.advance(by: .seconds(4))
        #expect(clock.pendingSleeps == 1)
        clock.advance(by: .seconds(1))
        #expect(try await task.value.status == 503)

        let cancelled = Task { try await send(.latency(.seconds(3))) }
        await clock.sleepers(1)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(recorder.requests.isEmpty)
    }

    @Test func latencyBeyondATimeLimitFailsAtTheLimit() async throws {
        let task = Task {
            try await code(.latency(.seconds(100))) { $0.context.timeouts = Timeouts(idle: nil, total: .seconds(5)) }
        }
        await clock.sleepers(1)
        clock.advance(by: .seconds(5))
        #expect(try await task.value == .timedOut)
        #expect(recorder.requests.isEmpty)
    }

    @Test(arguments: [nil, Duration.seconds(7)])
    func aTimeoutFailsAtTheRequestsLimit(limit: Duration?) async throws {
        let task = Task {
            try await code(.timeout) { if let limit { $0.context.timeouts = Timeouts(idle: limit) } }
        }
        await clock.sleepers(1)
        clock.advance(by: (limit ?? .seconds(60)) - .milliseconds(1))
        #expect(clock.pendingSleeps == 1)
        clock.advance(by: .milliseconds(1))
        #expect(try await task.value == .timedOut)
        #expect(recorder.requests.count == 1)
    }

    @Test func anAnswerUsesUpAOneShotBodyAndAFailureToConnectDoesNot() async throws {
        let discards = Tally()
        let body: () -> HTTPBody = { .oneShot(Chunks(["a"])) { discards.count() } }
        _ = try await send(.status(503)) { $0.body = body() }
        #expect(discards.value == 1)
        _ = try await code(.failure(.cannotConnect)) { $0.body = body() }
        #expect(discards.value == 1)
        _ = try await code(.failure(.tlsFailed)) { $0.body = body() }
        #expect(discards.value == 2)
    }

    @Test func aRequestThatMustNotBeSentMeetsNoFault() async throws {
        let response = try await send(.status(503)) { $0.context.sendingForbidden = "The test forbids it." }
        #expect(response.status == 200)
    }

    @Test func theJournalNotesEachFault() async throws {
        let journal = Journal()
        for fault in [Fault.status(503), .failure(.offline), .reset, .truncation, .captivePortal] {
            let client = Client(
                baseURL: apiURL,
                interceptors: [.faults(fault)],
                transport: recorder,
                journal: journal
            )
            _ = try? await client.send(HTTPRequest(url: apiURL))
        }
        let notes = journal.calls.flatMap { $0.root?.notes ?? [] }.map(\.description)
        #expect(
            notes == [
                "fault: status 503 instead of sending", "fault: offline instead of sending",
                "fault: reset: the response is lost", "fault: truncation: a part of the content is lost",
                "fault: captive portal instead of sending",
            ]
        )
    }

    @Test func retryRepeatsInjectedFaults() async throws {
        let chain = InterceptorChain(
            [
                .retry(.constant(.zero, maxAttempts: 4)),
                .faults(.status(503).times(1), .reset.times(1), .truncation.times(1)),
            ],
            transport: recorder
        )
        let response = try await chain.send(HTTPRequest(url: apiURL))
        #expect(response.status == 200)
        #expect(response.context.attempts.count == 4)
    }

    @Test func belongsInside() {
        let inside = InterceptorChain([.retry(3), .timeout(.seconds(1)), .faults(.reset)], transport: recorder)
        #expect(inside.findings.isEmpty)
        let outside = InterceptorChain([.faults(.reset), .retry(3)], transport: recorder)
        #expect(outside.findings.map(\.rule) == [.placement])
    }
}
