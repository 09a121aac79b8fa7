import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

// Errors, observation, tests, and parts that nothing replaces.
extension MigrationRows {
    static let others: [String: Check] = [
        "AFError": errors, "MoyaError": errors, "URLError": errors, "EventMonitor": observation,
        "NetworkLoggerPlugin": observation, "NetworkActivityPlugin": observation, "cURLDescription()": curl,
        "sampleData, stubClosure": stub, "URLProtocol in tests": stub, "a table of stubs, isStubbed": stub,
        "a protocol in front of URLSession, and its mock": stub, "dependencies between operations": sequence,
        "delegate: server trust": pins, "ServerTrustManager": pins,
        "publishDecodable": publisher, "CombineMoya": publisher, "WebSocketRequest, suspend()": nothing,
    ]

    private static let errors: Check = { () async throws in
        let failure = TransportError(.cannotConnect, "Refused.", underlying: URLError(.cannotConnectToHost))
        try await sent([], [.failure(failure)]) { (api) async throws in
            let error = await #expect(throws: TransportError.self) { try await api.get("/") }
            #expect((error as (any HTTPError)?)?.code == .cannotConnect)
            #expect(error?.underlying is URLError)
        }
    }

    private static let observation: Check = { () async throws in
        let (lines, events) = (Notes<String>(), Notes<String>())
        let interceptors: [any Interceptor] = [
            .tracing(),
            .metrics { event in if case .began = event { events.add("began") } else { events.add("ended") } },
            .logging(.headers, to: LogSink { lines.add($0.text) }),
        ]
        let requests = try await sent(interceptors) { _ = try await $0.get("/users/42", as: User.self) }
        #expect(events.all == ["began", "ended"])
        #expect(lines.all.contains { $0.contains("/users/42") })
        #expect(requests.first?.headers["traceparent"] != nil)
    }

    private static let curl: Check = { () async throws in
        let lines = Notes<String>()
        try await sent([.logging(to: LogSink { lines.add($0.text) }, curl: true)]) { try await $0.get("/users/42") }
        #expect(lines.all.contains { $0.contains("curl ") && $0.contains("/users/42") })
    }

    private static let stub: Check = { () async throws in
        let stub = StubTransport()
        stub.on(.get, "/v1/users/*", ada)
        #expect(try await client([], stub).get("/users/42", as: User.self) == User())
        #expect(stub.requests.count == 1)
    }

    private static let sequence: Check = { () async throws in
        let requests = try await sent([], [ada, ada]) { (api) async throws in
            let first: User = try await api.get("/users/1")
            let _: User = try await api.get("/users/\(first.id)")
        }
        #expect(requests.map { $0.url.path() } == ["/v1/users/1", "/v1/users/42"])
    }

    private static let pins: Check = { () async throws in
        let pins: [CertificatePin] = [
            "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
            "sha256/XohImNooBHFR0OVvjcYpJ3NgPQ1qq73WKhHvch0VQtg=",
        ]
        let transports: [any Transport] = [.platform(tls: .pinned(pins))]
        #expect(transports.count == 1)
    }

    private static let publisher: Check = { () async throws in
        #if canImport(Combine)
        try await sent { (api) async throws in
            for try await user in api.publisher({ try await $0.get("/users/42", as: User.self) }).values {
                #expect(user == User())
            }
        }
        #endif
    }
}
