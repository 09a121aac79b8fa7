internal import Foundation

extension TransportConformance {
    /// The server, clock and transport of one check.
    struct Bench: Sendable {
        let server: MockServer
        let clock: ManualClock
        let missing: Set<Capability>
        let transport: any Transport
        let log = WaitLog()

        /// A number that grows with each event at the transport and the server.
        var progress: Int { log.count + server.requests.count + server.connectionsOpened + server.connectionsClosed }

        /// The functions that wait and the server's counts, as sentences.
        var standstill: String {
            let (requests, opened, closed) =
                (server.requests.count, server.connectionsOpened, server.connectionsClosed)
            return
                "\(log) Requests at the server: \(requests). Connections: \(opened), closed by the transport: \(closed)."
        }
    }
}

extension TransportConformance.Bench {
    func request(
        _ path: String = "/",
        _ method: HTTPRequest.Method = .get,
        fields: HTTPFields = [:],
        body: HTTPBody = .empty,
        mode: ResponseBodyMode = .buffered,
        timeouts: Timeouts? = nil
    ) throws -> HTTPRequest {
        guard let url = URL(string: server.url.absoluteString + path) else {
            throw RuleObservation("The check's path \(path) is wrong.")
        }
        var request = HTTPRequest(method: method, url: url, headers: fields, body: body)
        request.context.responseBody = mode
        request.context.timeouts = timeouts
        return request
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await waiting(for: "the response to \(request.method) \(request.url.path)") {
            try await transport.send(request)
        }
    }

    /// Sends a request, and throws unless the response has the content.
    @discardableResult
    func send(_ request: HTTPRequest, expecting text: String) async throws -> HTTPResponse {
        let response = try await send(request)
        try expect(try await self.text(response), is: text, "The content")
        return response
    }

    /// Sends a request, and throws unless the call fails with one of the codes.
    func send(_ request: HTTPRequest, failingWith codes: HTTPErrorCode...) async throws {
        try await TransportConformance.expectFailure(codes) { _ = try await send(request) }
    }

    func text(_ response: HTTPResponse) async throws -> String {
        try await waiting(for: "the end of the content") {
            String(decoding: try await response.body.collect(upTo: 64 << 20), as: UTF8.self)
        }
    }

    func next(_ iterator: inout HTTPBody.AsyncIterator) async throws -> Data? {
        try await waiting(for: "the next bytes of the content") { try await iterator.next() }
    }

    /// Reads a stream to its end.
    func drain(_ iterator: inout HTTPBody.AsyncIterator) async throws {
        while try await next(&iterator) != nil {}
    }

    /// Waits for requests at the server.
    @discardableResult
    func received(atLeast count: Int) async throws -> [MockServer.Request] {
        try await waiting(for: "request \(count) at the server") { await server.requests(atLeast: count) }
    }

    /// The first request at the server.
    func firstReceived() async throws -> MockServer.Request {
        guard let request = try await received(atLeast: 1).first else {
            throw RuleObservation("The server received no request.")
        }
        return request
    }

    /// Waits until the transport has closed its connection.
    func connectionCloses() async throws {
        try await waiting(for: "the transport to close its connection") { await server.closedConnections(1) }
    }

    /// Waits until a time limit runs on the clock.
    func limitRuns() async throws {
        try await waiting(for: "a time limit on the given clock") { await clock.sleepers(1) }
    }

    func waiting<Value>(for name: String, _ body: () async throws -> Value) async throws -> Value {
        try await log.waiting(for: name, body)
    }

    /// Runs a check in each response body mode that the transport has.
    func inEachMode(_ check: (ResponseBodyMode) async throws -> Void) async throws {
        try await check(.buffered)
        if !missing.contains(.responseStreams) { try await check(.streamed) }
    }
}

extension TransportConformance {
    /// Runs a call, including reading its content, that must fail with one of the given codes.
    static func expectFailure(_ codes: [HTTPErrorCode], of call: () async throws -> Void) async throws {
        let expected = "a TransportError with \(codes.map(\.rawValue).joined(separator: " or "))"
        try await expect(expected, of: call) { error in
            (error as? TransportError).map { codes.contains($0.code) } ?? false
        }
    }

    static func expectCancellation(_ call: () async throws -> Void) async throws {
        try await expect("CancellationError", of: call) { $0 is CancellationError }
    }

    private static func expect(
        _ expected: String,
        of call: () async throws -> Void,
        _ isExpected: (any Error) -> Bool
    ) async throws {
        do {
            try await call()
        } catch let observation as RuleObservation {
            throw observation
        } catch {
            if isExpected(error) { return }
            throw RuleObservation("The call threw \(error) instead of \(expected).")
        }
        throw RuleObservation("The call succeeded instead of throwing \(expected).")
    }

    static func chunks(of content: Data) -> HTTPBody {
        // Slices, whose indices don't begin at 0.
        let starts = stride(from: 0, to: content.count, by: 50_000)
        return ScriptedStream(starts.map { content[$0..<min($0 + 50_000, content.count)] }).body()
    }
}

extension TransportConformance.Law {
    /// Whether the rule needs one of the capabilities.
    func needs(_ capabilities: Set<TransportConformance.Capability>) -> Bool {
        scope.map { !$0.isDisjoint(with: capabilities) } ?? false
    }

    /// Checks a transport over loopback.
    func check(
        without missing: Set<TransportConformance.Capability>,
        patience: RulePatience,
        _ make: TransportConformance.Factory
    ) async throws {
        let clock = ManualClock()
        let server = try MockServer()
        defer { server.stop() }
        let transport = try make(.manual(clock))
        let bench = TransportConformance.Bench(server: server, clock: clock, missing: missing, transport: transport)
        try await watch(bench, patience)
    }

    /// Checks a transport without connections, once for each seed.
    func check(
        without missing: Set<TransportConformance.Capability>,
        inMemory make: TransportConformance.MemoryFactory,
        patience: RulePatience
    ) async throws {
        for seed in 1...(seeds ?? 1) {
            let clock = ManualClock()
            let server = try MockServer()
            defer { server.stop() }
            let peer = server.memoryPeer
            let transport = try make(.manual(clock)) { try await peer.answer($0) }
            let bench = TransportConformance.Bench(server: server, clock: clock, missing: missing, transport: transport)
            let report: RuleStage.Report = { text.failure(of: $0, bench.standstill) }
            do {
                // The stage has a clock that nobody uses: only the rule moves the time of the transport.
                try await RuleStage.run(seed: seed, clock: ManualClock(), patience: patience, report: report) { _ in
                    try await judge(bench)
                }
            } catch is JobQueue.Unavailable {
                try await watch(bench, patience)
            }
            guard server.connectionsOpened == 0 else {
                let observed = "A transport in memory opened \(server.connectionsOpened) connections."
                throw RuleFailure(rule: text, observed: observed)
            }
        }
    }

    private func watch(_ bench: TransportConformance.Bench, _ patience: RulePatience) async throws {
        let watch = RuleWatch(patience: patience.otherThreads, progress: { bench.progress }) {
            text.failure(of: $0, bench.standstill)
        }
        try await watch.run { try await judge(bench) }
    }

    private func judge(_ bench: TransportConformance.Bench) async throws {
        try await text.judging("A call failed") { try await body(bench) }
    }
}
