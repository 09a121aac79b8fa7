import ExampleInterceptors
import Foundation
import Interceptors
import InterceptorsTesting
import Synchronization
import Testing

private let apiURL = URL(string: "https://api.example.com/users/42")!

/// A transport made from a closure. It keeps the requests that it receives.
private final class Recorder: Transport {
    private let sent = Mutex<[HTTPRequest]>([])
    private let answer: @Sendable (HTTPRequest) -> HTTPResponse

    init(_ answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse) { self.answer = answer }

    var requests: [HTTPRequest] { sent.withLock(\.self) }

    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        let request = request
        sent.withLock { $0.append(request) }
        return answer(request)
    }
}

/// The interceptors of `Examples/Interceptors` keep the rules of their roles, and do what the examples say.
@Suite(.timeLimit(.minutes(60))) struct ExampleInterceptorsTests {
    private static let second = URL(string: "https://second.example")!
    /// Only its roles are read.
    private static let outboxForRoles = OutboxInterceptor(folder: URL(filePath: "/outbox"))
    private static let cipher = { @Sendable (data: Data) in Data(data.map { $0 ^ 0x5A }) }

    private static func sealed(_ frames: [String]) -> Data {
        var content = Data()
        for frame in frames {
            content.append(contentsOf: [0, 0, 0, UInt8(frame.utf8.count)])
            content.append(cipher(Data(frame.utf8)))
        }
        return content
    }

    @Test(arguments: InterceptorConformance.rules(for: [.resends]))
    func failover(rule: InterceptorConformance.Rule) async throws {
        try await rule.check { world in FailoverInterceptor.failover(from: world.origin, to: Self.second) }
    }

    @Test(arguments: InterceptorConformance.rules(for: BulkheadInterceptor(limit: 1)))
    func bulkhead(rule: InterceptorConformance.Rule) async throws {
        try await rule.check { _ in BulkheadInterceptor(limit: 8) }
    }

    @Test(arguments: InterceptorConformance.rules(for: UnsealInterceptor { $0 }))
    func unseal(rule: InterceptorConformance.Rule) async throws {
        let content = HTTPBody(Self.sealed((1...40).map { "This is frame \($0)." }))
        try await rule.check(answering: content) { _ in UnsealInterceptor(open: Self.cipher) }
    }

    @Test(arguments: InterceptorConformance.rules(for: outboxForRoles))
    func outbox(rule: InterceptorConformance.Rule) async throws {
        let folder = try TemporaryFolder()
        try await rule.check { world in OutboxInterceptor(folder: folder.url, time: world.time) }
    }

    @Test func chainOfTheExamplesKeepsEveryProperty() async throws {
        try await Simulation(seeds: 1...200) { world in
            world.client(interceptors: [
                .retry(maxAttempts: 3, time: world.time), BulkheadInterceptor(limit: 3),
                .failover(from: world.origin, to: Self.second),
            ])
        }.run()
    }

    @Test func credentialsOfTheFirstServerStayThere() async throws {
        let recorder = Recorder { HTTPResponse(status: $0.url.host() == "second.example" ? 200 : 503) }
        let origin = try #require(Origin(apiURL))
        let chain = InterceptorChain([.failover(from: origin, to: Self.second)], transport: recorder)
        let request = HTTPRequest(url: apiURL, headers: [.authorization: "Bearer secret", .accept: "text/plain"])
        #expect(try await chain.send(request).status == 200)
        #expect(recorder.requests.map { $0.headers[.authorization] } == ["Bearer secret", nil])
        #expect(recorder.requests.last?.headers[.accept] == "text/plain")
        #expect(recorder.requests.last?.url.path == apiURL.path)
    }

    @Test func aFrameThatIsCutOffOrTooLongIsAnError() async throws {
        let contents: [Data] = [Data(Self.sealed(["a frame"]).dropLast()), Data([0xFF, 0, 0, 0, 1])]
        for content in contents {
            let recorder = Recorder { _ in HTTPResponse(status: 200, body: HTTPBody(content)) }
            let chain = InterceptorChain([UnsealInterceptor(open: Self.cipher)], transport: recorder)
            await #expect(throws: TransportError.self) { try await chain.send(HTTPRequest(url: apiURL)) }
        }
    }

    @Test func theOutboxSendsEachOrderOnceInTheirOrderWithoutCredentials() async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock()
        let outbox = OutboxInterceptor(folder: folder.url, time: .manual(clock))
        let isOffline = Shared(true)
        let network: AnyInterceptor = .faults(.failure(.offline)) { isOffline.value }
        let recorder = Recorder { _ in HTTPResponse(status: 201) }
        let client = Client(baseURL: apiURL, interceptors: [outbox, network], transport: recorder)
        for text in ["one", "two", "three"] {
            let fields: HTTPFields = [.authorization: "Bearer secret"]
            let order = HTTPRequest(method: .post, url: apiURL, headers: fields, body: HTTPBody(text))
            #expect(try await client.send(order).status == 202)
            clock.advance(by: .seconds(1))
        }
        try await #require(throws: TransportError.self) { try await outbox.sendAll(with: client) }
        isOffline.value = false
        try await outbox.sendAll(with: client)
        try await outbox.sendAll(with: client)
        #expect(
            recorder.requests.compactMap { $0.body.data.map { String(decoding: $0, as: UTF8.self) } } == [
                "one", "two", "three",
            ]
        )
        #expect(Set(recorder.requests.map { $0.headers[.idempotencyKey] }).count == 3)
        #expect(recorder.requests.allSatisfy { $0.headers[.authorization] == nil })
    }

    @Test func theOutboxKeepsWhatTheServerHasNotAccepted() async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock()
        let outbox = OutboxInterceptor(folder: folder.url.appending(path: "outbox"), time: .manual(clock))
        let isOffline = Shared(true)
        let network: AnyInterceptor = .faults(.failure(.offline)) { isOffline.value }
        // Answers an order with the status that is its content.
        let statuses = Shared<[Int: Int]>([400: 400, 409: 409, 200: 200])
        let recorder = Recorder { request in
            let order = Int(String(decoding: request.body.data ?? Data(), as: UTF8.self)) ?? 0
            return HTTPResponse(status: HTTPResponse.Status(integerLiteral: statuses.value[order] ?? 500))
        }
        let client = Client(baseURL: apiURL, interceptors: [outbox, network], transport: recorder)
        // The folder doesn't exist yet.
        try await outbox.sendAll(with: client)
        for order in ["400", "409", "200"] {
            let request = HTTPRequest(method: .post, url: apiURL, body: HTTPBody(order))
            #expect(try await client.send(request).status == 202)
            clock.advance(by: .seconds(1))
        }
        let damaged = folder.url.appending(path: "outbox/0-damaged.json")
        try Data("{".utf8).write(to: damaged)
        isOffline.value = false
        async let other: Void = outbox.sendAll(with: client)
        try await outbox.sendAll(with: client)
        try await other
        let orders = { recorder.requests.compactMap { $0.body.data.map { String(decoding: $0, as: UTF8.self) } } }
        // A call of sendAll during another one does nothing; a later one repeats the refused order.
        #expect(orders().filter { $0 == "409" } == ["409"] && orders().filter { $0 == "200" } == ["200"])
        statuses.change { $0[400] = 201 }
        try await outbox.sendAll(with: client)
        try await outbox.sendAll(with: client)
        #expect(orders().last == "400" && orders().count <= 5)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.appending(path: "outbox").path)
        #expect(names == ["0-damaged.json.damaged"])
    }

    @Test func eachExampleHasAtMost60Lines() throws {
        let folder = Repository.root.appending(path: "../Interceptors/Interceptors")
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 61, "\(name)")
        }
    }
}
