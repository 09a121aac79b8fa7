import Foundation
import InterceptorsInsight
import InterceptorsRecordings
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@Suite(.againstHanging) struct SwitchingTransportTests {
    private let remote = StubTransport { _ in HTTPResponse(status: 200, body: "remote") }
    private let local = StubTransport { _ in HTTPResponse(status: 200, body: "local") }

    private func client(_ transport: any Transport, journal: Journal? = nil) -> Client {
        Client(baseURL: url("https://a.example"), interceptors: [], transport: transport, observer: journal)
    }

    @Test func changeOfSourceTakesEffectForTheNextRequest() async throws {
        let switching = SwitchingTransport(["remote": remote, "local": local], source: "remote")
        let client = client(switching)
        #expect(switching.source == "remote")
        #expect(try await client.get("/") == "remote")
        switching.source = "local"
        #expect(try await client.get("/") == "local")
        switching.source = "remote"
        #expect(try await client.get("/") == "remote")
    }

    @Test func switchOfAClientIsWithinReach() async throws {
        let client = client(SwitchingTransport(["remote": remote, "local": local], source: "remote"))
        (client.chain.transport as? SwitchingTransport)?.source = "local"
        #expect(try await client.get("/") == "local")
    }

    @Test func thereMayBeMoreThanTwoSources() async throws {
        let staging = StubTransport { _ in HTTPResponse(status: 200, body: "staging") }
        let transports: [String: any Transport] = ["remote": remote, "local": local, "staging": staging]
        let switching = SwitchingTransport(transports, source: "staging")
        let client = client(switching)
        #expect(try await client.get("/") == "staging")
        switching.source = "local"
        #expect(try await client.get("/") == "local")
    }

    @Test func unknownSourceIsRefusedAndNothingIsSent() async throws {
        let client = client(SwitchingTransport(["remote": remote, "local": local], source: "staging"))
        let error = await #expect(throws: TransportError.self) { try await client.get("/") }
        #expect(error?.code == .unsupported)
        #expect(error?.message == "There is no source \"staging\" to switch to, only: local, remote.")
        #expect(remote.requests.isEmpty && local.requests.isEmpty)
    }

    @Test func responseThatIsStreamedKeepsItsSource() async throws {
        let streaming = StubTransport()
        streaming.on(.get, "/", .stream([Data("a".utf8), Data("b".utf8)]))
        let switching = SwitchingTransport(["remote": streaming, "local": local], source: "remote")
        let request = HTTPRequest(url: url("/"), context: .with(\.responseBody, .streamed))
        let response = try await client(switching).send(request)
        switching.source = "local"
        #expect(try await response.body.collect(upTo: 10) == Data("ab".utf8))
        try streaming.verify()
    }

    @Test func journalNamesTheSource() async throws {
        let journal = Journal()
        let switching = SwitchingTransport(["remote": remote, "local": local], source: "local")
        try await client(switching, journal: journal).get("/")
        #expect(
            journal.calls.map(\.explained).joined().contains("source: local: StubTransport"),
            "\(journal.calls.map(\.explained).joined())"
        )
    }

    @Test func switchingWhileRequestsAreUnderWayIsSafe() async throws {
        let switching = SwitchingTransport(["remote": remote, "local": local], source: "remote")
        let client = client(switching)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask {
                    if number.isMultiple(of: 3) { switching.source = number.isMultiple(of: 2) ? "local" : "remote" }
                    let answer: String = try await client.get("/")
                    return answer == "local" || answer == "remote"
                }
            }
            for try await isKnown in group { #expect(isKnown) }
        }
        #expect(remote.requests.count + local.requests.count == 200)
    }
}

@Suite(.againstHanging, .heavy) struct SwitchingConformanceTests {
    #if os(Linux)
    @Test(.againstHanging, arguments: TransportConformance.rules)
    func switchInFrontOfCurlKeepsItsPromises(rule: TransportConformance.Rule) async throws {
        try await rule.check { time in
            var configuration = CurlTransport.Configuration()
            configuration.time = time
            return SwitchingTransport(["curl": CurlTransport(configuration)], source: "curl")
        }
    }
    #endif

    @Test(.againstHanging, arguments: TransportConformance.rulesInMemory)
    func launchTransportKeepsThePromisesOfAnotherTransport(rule: TransportConformance.MemoryRule) async throws {
        try await rule.check { time, answer in
            SwitchingTransport.launchStubs(allowed: true, otherwise: StubTransport(time: time, answer), arguments: [])
        }
    }

    @Test(.againstHanging, arguments: TransportConformance.rulesInMemory)
    func launchTransportKeepsThePromisesOfAFallback(rule: TransportConformance.MemoryRule) async throws {
        try await rule.check { time, answer in
            SwitchingTransport.launchStubs(
                allowed: true,
                fallback: StubTransport(time: time, answer),
                otherwise: StubTransport(),
                arguments: ["--interceptors-stubs=[]"],
                time: time
            )
        }
    }

    @Test(.againstHanging, arguments: TransportConformance.rulesInMemory)
    func samplesKeepThePromisesOfATransport(rule: TransportConformance.MemoryRule) async throws {
        try await rule.check { time, answer in
            InterceptorChain(
                [
                    .intercept { request, next in
                        var request = request
                        request.context.endpoint = EndpointRequest<NoContent>.get("/").sample(.answer(answer))
                        return try await next(request)
                    }
                ],
                transport: .samples(time: time)
            )
        }
    }
}
