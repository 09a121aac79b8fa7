import Foundation
import InterceptorsInsight
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTesting

// Responses and errors instead of sending.
@Suite(.againstHanging) struct FaultsInterceptorTests {
    private let bench = FaultBench()

    @Test func withoutFaultsEverythingPasses() async throws {
        #expect(try await bench.send().status == 200)
        #expect(bench.recorder.requests.count == 1)
    }

    @Test func faultsAreSwitchedAtRunTime() async throws {
        let isOn = Shared(false)
        let faults = AnyInterceptor.faults(.status(503), time: .manual(bench.clock)) { isOn.value }
        for (isOnNow, status) in [(false, 200), (true, 503), (false, 200)] as [(Bool, HTTPResponse.Status)] {
            isOn.value = isOnNow
            #expect(try await bench.send(faults).status == status)
        }
    }

    @Test func aStatusAnswersWithoutSending() async throws {
        let response = try await bench.send(.status(503))
        #expect(response.status == 503)
        #expect(response.url == apiURL)
        #expect(response.headers[.contentLength] == "0")
        #expect(bench.recorder.requests.isEmpty)
    }

    @Test(arguments: [204, 304] as [HTTPResponse.Status])
    func aStatusWithoutContentHasNoLength(status: HTTPResponse.Status) async throws {
        let response = try await bench.send(.status(status))
        #expect(response.status == status)
        #expect(!response.headers.contains(.contentLength))
    }

    @Test func aRejectionOfTheFirstRequestHasAChallenge() async throws {
        let faults = AnyInterceptor.faults(.status(401).times(1), time: .manual(bench.clock))
        let response = try await bench.send(faults)
        #expect(response.status == 401)
        #expect(response.headers[.wwwAuthenticate]?.hasPrefix("Bearer") == true)
        #expect(try await bench.send(faults).status == 200)
    }

    private static let page = "<h1>Sign in to use this network</h1>"
    private static let portal = Fault.answer(.text(page, headers: [.contentType: "text/html"]))

    @Test func anAnswerComesInsteadOfTheServers() async throws {
        let buffered = try await bench.send(Self.portal)
        #expect(buffered.status == 200)
        #expect(buffered.url == apiURL)
        #expect(buffered.headers[.contentType] == "text/html")
        #expect(buffered.body.data == Data(Self.page.utf8))
        let streamed = try await bench.send(Self.portal) { $0.context.responseBody = .streamed }
        #expect(streamed.body.isUnreadStream)
        #expect(try await streamed.body.collect(upTo: 10_000) == Data(Self.page.utf8))
        #expect(try await bench.send(Self.portal) { $0.method = .head }.body.isEmpty)
        #expect(bench.recorder.requests.isEmpty)
    }

    @Test func anAnswerBeyondTheLimitOfABufferedResponseFails() async throws {
        await #expect {
            try await bench.send(Self.portal) { $0.context.responseBody = .buffered(upTo: 10) }
        } throws: {
            let error = $0 as? TransportError
            return error?.code == .bodyTooLarge && error?.request?.url == apiURL.absoluteString
        }
    }

    @Test func aFailureIsTheTransportsErrorAndSendsNothing() async throws {
        #expect(try await bench.code(.failure(.offline)) == .offline)
        let error = try #require(try await bench.error([.failure(.tlsFailed)]))
        #expect(error.code == .tlsFailed && !error.sentNothing)
        #expect(!error.message.contains("sent"), "The code doesn't prove that nothing was sent.")
        #expect(bench.recorder.requests.isEmpty)
    }

    @Test func anAnswerUsesUpAOneShotBodyAndAFailureToConnectDoesNot() async throws {
        let discards = Tally()
        let body: () -> HTTPBody = { .oneShot(Chunks(["a"])) { discards.count() } }
        _ = try await bench.send(.status(503)) { $0.body = body() }
        #expect(discards.value == 1)
        _ = try await bench.code(.failure(.cannotConnect)) { $0.body = body() }
        #expect(discards.value == 1)
        _ = try await bench.code(.failure(.tlsFailed)) { $0.body = body() }
        #expect(discards.value == 2)
    }

    @Test func aRequestThatNoTransportSendsMeetsNoFault() async throws {
        let changes: [(inout HTTPRequest) throws -> Void] = [
            { $0.context.sendingForbidden = "The test forbids it." },
            { $0.headers["X-A"] = "a\r\nb" },
            { $0.url = try url("ftp://api.example.com/users/42") },
            { request in
                let spent = HTTPBody.oneShot(Chunks(["a"]))
                spent.discard()
                request.body = spent
            },
        ]
        for change in changes { #expect(try await bench.send(.status(503), .reset, changing: change).status == 200) }
        #expect(bench.recorder.requests.count == changes.count)
    }

    @Test func theJournalNotesEachFault() async throws {
        let journal = Journal()
        for fault in [Fault.status(503), .failure(.offline), .reset, .truncation] {
            let client = Client(
                baseURL: apiURL,
                interceptors: [.faults(fault)],
                transport: bench.recorder,
                observer: journal
            )
            _ = try? await client.send(HTTPRequest(url: apiURL))
        }
        let notes = journal.calls.flatMap { $0.root?.notes ?? [] }.map(\.description)
        #expect(
            notes == [
                "fault: 503 Service Unavailable, 0 bytes instead of sending", "fault: offline instead of sending",
                "fault: reset: the response is lost", "fault: truncation: a part of the content is lost",
            ]
        )
    }

    @Test func retryRepeatsInjectedFaults() async throws {
        let chain = InterceptorChain(
            [
                .retry(.constant(.zero, maxAttempts: 4)),
                .faults(.status(503).times(1), .reset.times(1), .truncation.times(1)),
            ],
            transport: bench.recorder
        )
        let response = try await chain.send(HTTPRequest(url: apiURL))
        #expect(response.status == 200)
        #expect(response.context.attempts.count == 4)
    }
}

// The place in a chain.
extension FaultsInterceptorTests {
    private static let innerRoles: [ChainRole] = [
        .retries, .stores, .limits, .validates, .readsStatus, .setsDeadline, .changesResponse, .logs, .measures,
        .keepsCookies,
    ]

    private func findings(_ interceptors: [any Interceptor]) -> [ChainFinding] {
        InterceptorChain(interceptors, transport: bench.recorder).findings.filter { $0.rule == .placement }
    }

    private func element(_ role: ChainRole) -> AnyInterceptor {
        .intercept("element", placement: [role]) { try await $1($0) }
    }

    @Test(arguments: innerRoles.indices) func belongsInsideInterceptorsThatHandleFaults(index: Int) {
        let other = element(Self.innerRoles[index])
        #expect(findings([.faults(.reset), other]).count == 1)
        #expect(findings([other, .faults(.reset)]).isEmpty)
    }

    @Test func belongsOutsideARecorder() {
        let recorder = element(.records)
        #expect(findings([recorder, .faults(.reset)]).count == 1)
        #expect(findings([.faults(.reset), recorder]).isEmpty)
    }
}
