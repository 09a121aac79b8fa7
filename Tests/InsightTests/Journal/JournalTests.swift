import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsInsight

struct Pass: Interceptor {
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await next(request)
    }
}

struct AddField: Interceptor {
    var name: HTTPField.Name = "X-Added"
    var value = "yes"

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        request.headers[name] = value
        var response = try await next(request)
        response.headers[name] = value
        return response
    }
}

struct Twice: Interceptor {
    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await next(request).body.discard()
        return try await next(request)
    }
}

/// A journal on a clock that the test moves, and a chain that it records.
struct JournalFixture {
    let clock = ManualClock()
    let journal: Journal
    let chain: InterceptorChain
    let stub: StubTransport

    init(
        _ interceptors: [any Interceptor],
        limit: Int = 1_000,
        byteLimit: Int = 16 << 20,
        answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse = { _ in HTTPResponse(status: 204) }
    ) {
        stub = StubTransport(answer)
        let redaction = Redaction.standard.showingOtherText
        journal = Journal(limit: limit, byteLimit: byteLimit, redaction: redaction, time: .manual(clock))
        chain = InterceptorChain(interceptors, transport: stub, observer: journal)
    }

    @discardableResult
    func send(_ path: String = "/", _ change: (inout HTTPRequest) -> Void = { _ in }) async throws -> HTTPResponse {
        var request = try HTTPRequest(string: "https://a.example\(path)")
        change(&request)
        return try await chain.send(request)
    }

    /// The text of the only call, without the times, which are all zero.
    var explained: String {
        journal.calls.map { $0.explained.replacing(/[ ]{2,}0 µs$/.anchorsMatchLineEndings(), with: "") }
            .joined(separator: "\n")
    }
}

@Suite(.againstHanging) struct JournalTests {
    @Test func anUnchangedHopHasOnlyItsName() async throws {
        let fixture = JournalFixture([Pass(), Pass()])
        try await fixture.send()
        #expect(
            fixture.explained == """
                #1 GET https://a.example/ → 204 No Content, 0 µs
                Pass
                  Pass
                    StubTransport
                      ↑ 204 No Content, 0 bytes
                """
        )
    }

    @Test func changesAreNamedWhereTheyWereMade() async throws {
        let fixture = JournalFixture([
            Pass(), AddField(),
            .intercept { request, next in
                request.method = .post
                request.url = URL(string: "https://b.example/v2")!
                request.body = "hello"
                var response = try await next(request)
                response.body = "changed"
                response.status = 201
                return response
            },
        ]) { _ in HTTPResponse(status: 200, headers: ["X-Server": "a"], body: "body") }
        try await fixture.send("/v1") { $0.headers[.accept] = "text/plain" }
        #expect(
            fixture.explained == """
                #1 GET https://a.example/v1 → 201 Created, 0 µs
                ↓ + Accept: text/plain
                Pass
                  AddField
                    ↓ + X-Added: yes
                    intercept
                      ↓ POST https://b.example/v2
                      ↓ body: 5 bytes: hello
                      StubTransport
                        ↑ 200 OK, 4 bytes: body
                      ↑ 201 Created, 7 bytes: changed
                    ↑ + X-Added: yes
                """
        )
        let root = try #require(fixture.journal.calls.first?.root)
        #expect(root.response?.fields.map(\.name) == ["X-Server", "X-Added"])
        #expect(root.steps[0].steps[0].request.fields.map(\.name) == ["Accept", "X-Added"])
        #expect(root.request.fields.map(\.name) == ["Accept"])
    }

    @Test func aReplacedOrRemovedFieldIsSeenWhereverItIs() async throws {
        let fixture = JournalFixture([
            .intercept { request, next in
                request.headers["B"] = "2"
                request.headers.remove("D")
                return try await next(request)
            }
        ])
        try await fixture.send { $0.headers = ["A": "1", "B": "1", "C": "1", "D": "1", "E": "1"] }
        let attempt = try #require(fixture.journal.calls.first?.attempts.first)
        #expect(attempt.request.fields.map { "\($0.name)\($0.value)" } == ["A1", "B2", "C1", "E1"])
    }

    @Test func aShortCircuitHasNoAttempt() async throws {
        let fixture = JournalFixture([
            Pass(), .intercept { _, _ in HTTPResponse(status: 200, body: "stored") }, Pass(),
        ])
        try await fixture.send()
        #expect(fixture.journal.calls.first?.attempts.isEmpty == true)
        #expect(fixture.explained.hasSuffix("  intercept\n    ↑ 200 OK, 6 bytes: stored"))
    }

    @Test func eachRunOfTheRestIsAStep() async throws {
        let fixture = JournalFixture([Twice(), Pass()])
        try await fixture.send()
        let root = try #require(fixture.journal.calls.first?.root)
        #expect(root.steps.map(\.name) == ["Pass", "Pass"])
        #expect(fixture.journal.calls.first?.attempts.count == 2)
    }

    @Test func concurrentRunsAreBranchesOfOneStep() async throws {
        let arrived = Tally()
        let fixture = JournalFixture([
            .intercept { request, next in
                let request = request
                async let first = next(request)
                async let second = next(request)
                return try await [first, second][1]
            }, AddField(),
        ]) { _ in
            arrived.count()
            await arrived.reached(2)
            return HTTPResponse(status: 200)
        }
        try await fixture.send()
        let root = try #require(fixture.journal.calls.first?.root)
        #expect(root.steps.count == 2)
        #expect(root.steps.allSatisfy { $0.steps.count == 1 && $0.steps[0].request.fields.count == 1 })
    }

    @Test func workThatOutlivesItsCallIsRecordedUnderIt() async throws {
        let release = Latch()
        let task = Shared<Task<Void, any Error>?>(nil)
        let fixture = JournalFixture([
            .intercept { request, next in
                let request = request
                task.value = Task {
                    await release.opened()
                    _ = try await next(request)
                }
                return HTTPResponse(status: 202)
            }
        ])
        try await fixture.send()
        #expect(fixture.journal.calls.first?.attempts.isEmpty == true)
        release.open()
        try await task.value?.value
        #expect(fixture.journal.calls.count == 1)
        #expect(fixture.journal.calls.first?.attempts.count == 1)
        #expect(fixture.journal.calls.first?.root?.response?.status == 202)
    }

    @Test func aPartOfAChainIsRecordedWithItsElements() async throws {
        let fixture = JournalFixture([
            .group([Pass(), .group([AddField()])]),
            .when(.origin("https://a.example"), [AddField(name: "X-A"), .when(.matching { _ in false }, [Pass()])]),
            .when(.origin("https://b.example"), [AddField(name: "X-B")]),
        ])
        try await fixture.send()
        #expect(
            fixture.explained == """
                #1 GET https://a.example/ → 204 No Content, 0 µs
                Pass
                  AddField
                    ↓ + X-Added: yes
                    when
                      AddField
                        ↓ + X-A: yes
                        when
                          when
                            StubTransport
                              ↑ 204 No Content, 0 bytes
                        ↑ + X-A: yes
                    ↑ + X-Added: yes
                """
        )
        let plain = InterceptorChain(fixture.chain.interceptors, transport: fixture.stub)
        #expect("\(fixture.chain)" == "\(plain)")
        #expect(fixture.chain.interceptors.count == 3)
    }

    @Test func aChainOrClientAsTransportIsRecordedWithItsElements() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        let journal = Journal()
        let inner = Client(
            interceptors: [AddField()],
            transport: InterceptorChain([Pass()], transport: stub)
        )
        let outer = Client(interceptors: [Twice()], transport: inner, observer: journal)
        _ = try await outer.send(HTTPRequest(string: "https://a.example/"))
        let call = try #require(journal.calls.first)
        #expect(journal.calls.count == 1)
        #expect(call.root?.steps.map(\.name) == ["AddField", "AddField"])
        #expect(call.attempts.map(\.name) == ["StubTransport", "StubTransport"])
        // The inner client alone has no journal.
        _ = try await inner.send(HTTPRequest(string: "https://a.example/"))
        #expect(journal.calls.count == 1)
    }

    @Test func aTransportWithAnotherJournalIsOneAttempt() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        let (mine, other) = (Journal(), Journal())
        let inner = InterceptorChain([Pass()], transport: stub, observer: other)
        let outer = InterceptorChain([Pass()], transport: inner, observer: mine)
        _ = try await outer.send(HTTPRequest(string: "https://a.example/"))
        #expect(mine.calls.first?.attempts.map(\.name) == ["InterceptorChain"])
        #expect(other.calls.first?.attempts.map(\.name) == ["StubTransport"])
    }

    @Test func aJournalOfSeveralClientsNumbersAllCalls() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        let journal = Journal()
        for _ in 0..<2 {
            let chain = InterceptorChain([], transport: stub, observer: journal)
            _ = try await chain.send(HTTPRequest(string: "https://a.example/"))
        }
        #expect(journal.calls.map(\.id) == [1, 2])
        #expect(journal.calls.map { $0.root?.isTransport } == [true, true])
        #expect(journal[2]?.id == 2)
        #expect(journal[3] == nil)
        #expect(journal[0] == nil)
    }

    @Test func anErrorIsNamedWhereItWasThrown() async throws {
        let fixture = JournalFixture([Pass(), Pass()]) { _ in throw TransportError(.connectionLost, "It is gone.") }
        await #expect(throws: TransportError.self) { try await fixture.send() }
        #expect(
            fixture.explained == """
                #1 GET https://a.example/ → TransportError.connectionLost, 0 µs
                Pass
                  Pass
                    StubTransport
                      ↑ throws TransportError.connectionLost: It is gone.
                """
        )
        #expect(fixture.journal.calls.first?.root?.error == "TransportError.connectionLost: It is gone.")
    }

    @Test func aReplacedErrorIsNamedAgain() async throws {
        let fixture = JournalFixture([
            .intercept { request, next in
                do { return try await next(request) } catch { throw Broken(place: "outside") }
            }
        ]) { _ in throw Broken(place: "inside") }
        await #expect(throws: Broken.self) { try await fixture.send() }
        let root = try #require(fixture.journal.calls.first?.root)
        // Stored values of an error without a description are not shown.
        #expect(root.error == "Broken: Broken")
    }

    @Test func aCancellationIsNoFailure() async throws {
        let arrived = Latch()
        let fixture = JournalFixture([Pass()]) { _ in
            arrived.open()
            try await Task.sleep(for: .seconds(3_600))
            return HTTPResponse(status: 204)
        }
        let task = Task { try await fixture.send() }
        await arrived.opened()
        #expect(fixture.journal.calls.first?.duration == nil)
        #expect(fixture.explained.contains("… running"))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(fixture.journal.calls.first?.root?.error == JournalCall.cancelled)
        #expect(fixture.explained.hasSuffix("↑ cancelled"))
    }

    @Test func aTransportThatRunsAChainOfTheJournalIsNoAttempt() async throws {
        struct Router: Transport {
            let inner: InterceptorChain
            func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse { try await inner.send(request) }
        }
        let journal = Journal()
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        let inner = InterceptorChain([Twice()], transport: stub, observer: journal)
        let outer = InterceptorChain([Pass()], transport: Router(inner: inner), observer: journal)
        _ = try await outer.send(HTTPRequest(string: "https://a.example/"))
        #expect(journal.calls.count == 1)
        #expect(journal.calls.first?.attempts.map(\.name) == ["StubTransport", "StubTransport"])
        #expect(journal.calls.first?.root?.steps.first?.isTransport == false)
    }

    @Test func aRespelledNameIsSeen() async throws {
        let fixture = JournalFixture([
            .intercept { request, next in
                request.headers = HTTPFields([HTTPField(unchecked: "X-API-Version", "1")])
                return try await next(request)
            }
        ])
        try await fixture.send { $0.headers = ["x-api-version": "1"] }
        #expect(fixture.journal.calls.first?.root?.request.fields.map(\.name.rawName) == ["x-api-version"])
        #expect(fixture.journal.calls.first?.attempts.first?.request.fields.map(\.name.rawName) == ["X-API-Version"])
    }

    @Test func aStepThatBeginsAfterAnotherHasEndedTakesNoneOfItsTime() {
        var step = JournalCall.Step(name: "cache", start: .zero, request: .init())
        step.duration = .milliseconds(10)
        var late = JournalCall.Step(name: "Wire", start: .seconds(1), request: .init())
        late.duration = .milliseconds(10)
        step.steps = [late]
        #expect(step.ownDuration == .milliseconds(10))
    }

    @Test func ownTimeLeavesOutTheStepsBelow() async throws {
        let clock = ManualClock()
        let journal = Journal(time: .manual(clock))
        let stub = StubTransport { _ in
            clock.advance(by: .milliseconds(20))
            return HTTPResponse(status: 204)
        }
        let slow: AnyInterceptor = .intercept { request, next in
            clock.advance(by: .milliseconds(3))
            let response = try await next(request)
            clock.advance(by: .milliseconds(4))
            return response
        }
        let chain = InterceptorChain([slow, Pass()], transport: stub, observer: journal)
        _ = try await chain.send(HTTPRequest(string: "https://a.example/"))
        let root = try #require(journal.calls.first?.root)
        #expect(root.duration == .milliseconds(27))
        #expect(root.ownDuration == .milliseconds(7))
        #expect(root.steps[0].ownDuration == .zero)
        #expect(root.steps[0].steps[0].start == .milliseconds(3))
        #expect(root.steps[0].steps[0].ownDuration == .milliseconds(20))
    }
}
