import Foundation
import InterceptorsInsight
import InterceptorsRecordings
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

private struct Person: Codable, Sendable, Equatable { let id: Int, name: String }

private struct PersonByID: Endpoint {
    let id: Int
    var request: EndpointRequest<Person> { .get("/people/\(id)") }
    var sample: StubAnswer { .json(encoding: Person(id: id, name: "Ada")) }
}

private struct Plain: Endpoint {
    let request: EndpointRequest<NoContent> = .get("/plain")
}

private struct Misspelled: Endpoint {
    let request: EndpointRequest<NoContent> = .get("/misspelled")
    /// Not a `StubAnswer`.
    let sample = "{}"
}

private enum People: Endpoint {
    case all
    case remove(Int)
    var request: EndpointRequest<NoContent> { if case .remove = self { .delete("/people") } else { .get("/people") } }
    var sample: StubAnswer {
        switch self {
        case .all: .json(encoding: [Person(id: 1, name: "Ada")])
        case .remove: .status(403, headers: [:], body: "no")
        }
    }
}

@Suite(.againstHanging) struct SamplesTests {
    private func client(_ transport: any Transport = .samples, journal: Journal? = nil) -> Client {
        Client(baseURL: url("https://a.example"), interceptors: [], transport: transport, observer: journal)
    }

    @Test func endpointIsAnsweredByItsSample() async throws {
        #expect(try await client().call(PersonByID(id: 42)) == Person(id: 42, name: "Ada"))
        #expect(try await client().call(People.all, as: [Person].self) == [Person(id: 1, name: "Ada")])
        #expect(try await client().send(People.remove(1)).status == 403)
        let response = try await client().send(PersonByID(id: 7))
        #expect(response.url == url("https://a.example/people/7"))
    }

    @Test func endpointWithoutATypeHasASampleToo() async throws {
        let endpoint = EndpointRequest<Person>.get("/x").sample(.json(#"{"id":1,"name":"Ada"}"#))
        #expect(try await client().call(endpoint) == Person(id: 1, name: "Ada"))
    }

    @Test func endpointWithoutASampleFailsAndNamesWhatIsMissing() async throws {
        func message(_ call: (Client) async throws -> Void) async -> String? {
            let error = await #expect(throws: TransportError.self) { try await call(client()) }
            #expect(error?.code == .noStub && error?.request?.url.hasPrefix("https://a.example/") == true)
            return error?.message
        }
        #expect(
            await message { try await $0.call(Plain()) } == "Plain has no sample: it needs a `var sample: StubAnswer`."
        )
        #expect(
            await message { try await $0.call(Misspelled()) }
                == "Misspelled has no sample: it needs a `var sample: StubAnswer`."
        )
        #expect(
            await message { try await $0.call(EndpointRequest<NoContent>.get("/x")) }
                == "EndpointRequest<NoContent> has no sample: it was made without `.sample(…)`."
        )
        #expect(await message { try await $0.get("/x") }?.hasPrefix("A sample belongs to an endpoint") == true)
    }

    @Test func requestWithoutASampleGoesToTheFallback() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 200, body: "other") }
        let client = client(.samples(fallback: stub))
        #expect(try await client.get("/x") == "other")
        #expect(try await client.call(Plain(), as: String.self) == "other")
        #expect(try await client.call(PersonByID(id: 1)).id == 1)
        #expect(stub.requests.map(\.url.path) == ["/x", "/plain"])
    }

    @Test func sampleThatIsAFailureIsThrownUnchanged() async throws {
        let endpoint = EndpointRequest<Person>.get("/x").sample(.failure(TransportError(.offline, "Off.")))
        let error = await #expect(throws: TransportError.self) { try await client().call(endpoint) }
        #expect(error?.isOffline == true)
    }

    @Test func delayIsWaitedForOnTheClockAndAdded() async throws {
        let clock = ManualClock()
        let client = client(.samples(delay: .seconds(2), time: .manual(clock)))
        let sample = StubAnswer.json(#"{"id":1,"name":"Ada"}"#).delayed(by: .seconds(1))
        try await clock.run { _ = try await client.call(EndpointRequest<Person>.get("/x").sample(sample)) }
        #expect(clock.now.elapsed == .seconds(3))
    }

    @Test func journalNamesTheEndpoint() async throws {
        let journal = Journal()
        _ = try await client(journal: journal).call(PersonByID(id: 1))
        #expect(
            journal.calls.map(\.explained).joined().contains("source: sample of PersonByID"),
            "\(journal.calls.map(\.explained).joined())"
        )
    }

    @Test func chainRunsBeforeTheSample() async throws {
        let client = Client(
            baseURL: url("https://a.example"),
            interceptors: [
                .intercept { request, next in
                    var response = try await next(request)
                    response.headers["X-Seen"] = "yes"
                    return response
                }
            ],
            transport: .samples
        )
        #expect(try await client.send(PersonByID(id: 1)).headers["X-Seen"] == "yes")
    }
}
