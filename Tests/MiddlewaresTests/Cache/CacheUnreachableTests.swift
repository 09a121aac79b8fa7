import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

/// Responses when the server can't be reached, or must be asked in spite of a stored response.
@Suite(.againstHanging) struct CacheUnreachableTests {
    private let world = CacheWorld()
    private let gone = TransportError(.cannotConnect, "No network.")

    private func fail(times: Int = 1) { for _ in 0..<times { world.stub.enqueue(.failure(gone)) } }

    @Test(arguments: [
        ("no-cache", [], CacheMode.standard), ("max-age=5, must-revalidate", [], .standard),
        ("max-age=60", ["Cache-Control: no-cache"], .standard), ("max-age=60", ["Cache-Control: max-age=0"], .standard),
        ("max-age=60", [], .revalidate), ("max-age=60", [], .reload),
    ])
    func storedResponseThatNeedsTheServerIsA504WithTheCause(
        directives: String,
        request: [String],
        mode: CacheMode
    ) async throws {
        world.answer(["Cache-Control: \(directives)"], "one")
        _ = try await world.send()
        world.advance(10)
        fail(times: 2)
        let asked = try world.request(request, mode: mode)
        let response = try await world.chain.send(asked)
        #expect(response.status == 504)
        #expect(response.context.cacheOutcome?.result == .unsatisfiable)
        #expect((response.context.underlyingError as? TransportError)?.code == .cannotConnect)
        let chain = InterceptorChain([.validateStatus(), world.cache], transport: world.stub)
        let error = try #require(await #expect(throws: StatusError.self) { try await chain.send(asked) })
        #expect(error.status == 504)
        #expect((error.underlying as? TransportError)?.code == .cannotConnect)
        #expect(error.message.contains("the server could not be reached, and nothing stored may be used"))
        #expect("\(error)".contains("Cause: TransportError.cannotConnect"))
    }

    @Test func withoutAStoredResponseTheErrorIsThrown() async throws {
        fail(times: 2)
        await #expect(throws: TransportError.self) { try await world.send(["Cache-Control: no-cache"]) }
        await #expect(throws: TransportError.self) { try await world.send(mode: .revalidate) }
    }

    @Test func the504OfAnOfflineRequestHasNoCause() async throws {
        let chain = InterceptorChain([.validateStatus(), world.cache], transport: world.stub)
        let request = try world.request(mode: .offline)
        let error = try #require(await #expect(throws: StatusError.self) { try await chain.send(request) })
        #expect(error.underlying == nil)
        #expect(error.message.contains("nothing may be sent, and nothing stored may be used"))
    }

    @Test func a504OfTheServerIsNotTheCaches() async throws {
        world.answer(504, [])
        let chain = InterceptorChain([.validateStatus(), world.cache], transport: world.stub)
        let request = try world.request()
        let error = try #require(await #expect(throws: StatusError.self) { try await chain.send(request) })
        #expect(error.message.hasSuffix("is not an accepted status."))
    }

    @Test(arguments: [(7 * 86_400, true), (7 * 86_400 + 1, false), (1_000 * 86_400, false)])
    func responseBeyondTheMaximumStalenessIsNotServedWhenDisconnected(staleness: Int, isServed: Bool) async throws {
        world.answer(["Cache-Control: max-age=60"], "one")
        _ = try await world.send()
        world.advance(60 + staleness)
        fail()
        let line = try? await world.send()
        #expect(line == (isServed ? "200 stale one age \(60 + staleness)" : nil))
        #expect(try await world.send(mode: .offline) == "200 stale one age \(60 + staleness)")
        #expect(try await world.send(["Cache-Control: max-stale"]) == "200 stale one age \(60 + staleness)")
    }

    @Test func maximumStalenessCanBeSet() async throws {
        for (bound, age, isServed) in [(1, 62, false), (2, 62, true), (0, 60, true), (-1, 60, true), (0, 61, false)] {
            let world = CacheWorld()
            let cache = AnyInterceptor.cache(
                MemoryCacheStore(),
                maximumStaleness: .seconds(bound),
                time: .manual(world.clock, startingAt: Date(timeIntervalSince1970: Double(start))),
                report: { _ in }
            )
            let chain = InterceptorChain([cache], transport: world.stub)
            world.answer(["Cache-Control: max-age=60"], "one")
            _ = try await chain.send(try world.request())
            world.advance(age)
            world.stub.enqueue(.failure(gone))
            let response = try? await chain.send(try world.request())
            #expect((response != nil) == isServed, "\(bound) \(age)")
        }
    }

    // RFC 9111 §5.2.1.1
    @Test func revalidateSendsMaxAgeZero() async throws {
        for _ in 0..<4 { world.answer(["Cache-Control: max-age=60", "ETag: \"a\""], "one") }
        _ = try await world.send(mode: .revalidate)
        _ = try await world.send(mode: .revalidate)
        _ = try await world.send(["Cache-Control: no-cache"], mode: .revalidate)
        world.advance(100)
        _ = try await world.send(mode: .revalidate)
        let sent = world.stub.requests.map { $0.headers[.cacheControl] }
        #expect(sent == ["max-age=0", "max-age=0", "no-cache", "max-age=0"])
        #expect(world.stub.requests[1].headers[.ifNoneMatch] == "\"a\"")
    }

    @Test func revalidateSendsMaxAgeZeroAgainWithoutConditions() async throws {
        world.answer(["Cache-Control: max-age=60", "ETag: \"a\""], "one")
        world.answer(304, ["ETag: \"other\""])
        world.answer(["Cache-Control: max-age=60", "ETag: \"b\""], "two")
        _ = try await world.send()
        #expect(try await world.send(mode: .revalidate) == "200 miss two")
        #expect(world.stub.requests[2].headers[.cacheControl] == "max-age=0")
        #expect(!world.stub.requests[2].headers.contains(.ifNoneMatch))
    }

    // MARK: Clearing, reporting

    @Test func clearingForARequestRemovesTheResponsesOfItsCallerOnly() async throws {
        let (ada, bob) = (["Authorization: Bearer ada"], ["Authorization: Bearer bob"])
        for caller in [ada, bob, []] {
            world.answer(["Cache-Control: max-age=60"], "one", times: 2)
            _ = try await world.send(caller)
            _ = try await world.send(caller, path: "y")
        }
        try await world.store.removeAll(for: try world.request(ada, path: "another"))
        for path in ["x", "y"] {
            #expect(try await world.send(ada, path: path, mode: .offline) == "504 unsatisfiable ")
            #expect(try await world.send(bob, path: path, mode: .offline) == "200 hit one age 0")
            #expect(try await world.send(path: path, mode: .offline) == "200 hit one age 0")
        }
    }

    @Test func clearingForARequestWithANamedPartitionNeedsNoKeyOfTheStore() async throws {
        let world = CacheWorld(store: KeylessStore(inner: MemoryCacheStore()))
        world.answer(["Cache-Control: max-age=60"], "one")
        let request = try world.request(partition: "ada")
        _ = try await world.chain.send(request)
        try await world.store.removeAll(for: request)
        #expect(try await world.store.listing().isEmpty)
    }

    @Test func clearingForARequestFailsIfTheStoreHasNoKeyForItsCredentials() async throws {
        let store = KeylessStore(inner: MemoryCacheStore())
        let request = try world.request(["Authorization: Bearer ada"])
        await #expect(throws: CacheStoreError.self) { try await store.removeAll(for: request) }
    }

    @Test func clearingForARequestRemovesWhatWasStoredBeforeTheKeyCouldBeRead() async throws {
        let store = LateKeyStore(inner: MemoryCacheStore())
        let world = CacheWorld(store: store)
        let ada = ["Authorization: Bearer ada"]
        world.answer(["Cache-Control: max-age=60"], "one", times: 2)
        _ = try await world.send(ada)
        store.key.value = Data(repeating: 7, count: 32)
        _ = try await world.send(ada)
        #expect(try await Set(store.listing().map(\.key.partition)).count == 2)
        try await store.removeAll(for: try world.request(ada))
        #expect(try await store.listing().isEmpty)
    }

    @Test func clearingWithAnExpiredTokenRefreshesNothing() async throws {
        let now = Shared(Date(timeIntervalSince1970: 0))
        let tokens = TokenStore(
            .init("token", expiresAt: Date(timeIntervalSince1970: 1_000)),
            time: TimeSource(now: { now.value })
        ) { _ in
            Issue.record("A refresh was begun.")
            return .new
        }
        func request(_ mode: CacheMode = .standard) throws -> HTTPRequest {
            var request = try world.request()
            request.context.clientOrigin = Origin(request.url)
            request.context.cacheMode = mode
            return request
        }
        world.answer(["Cache-Control: max-age=60"], "one")
        let chain = InterceptorChain([.bearerAuth(tokens), world.cache], transport: world.stub)
        _ = try await chain.send(try request())
        now.value = Date(timeIntervalSince1970: 5_000)
        var sample = try request(.offline)
        try await tokens.authorize(&sample)
        try await world.store.removeAll(for: sample)
        #expect(try await chain.send(try request(.offline)).status == 504)
    }

    @Test func defaultReportWritesALineInDebugBuildsOnly() {
        var isDebug = false
        assert(
            {
                isDebug = true
                return true
            }()
        )
        #expect(DebugReport.isOn == isDebug)
        let error = CacheStoreError(.storeUnavailable, "No room.\nfor https://a.example/?access_token=hush")
        let line = DebugReport.line("cache", error)
        #expect(line.hasPrefix("[Interceptors] cache: CacheStoreError.storeUnavailable: No room."))
        #expect(line.hasSuffix("\n") && line.dropLast().allSatisfy { !$0.isNewline })
        #expect(!line.contains("hush"))
    }
}

/// A store whose key can't be read.
private struct KeylessStore: ForwardingStore {
    let inner: any CacheStore

    func wrap(_ writer: any CacheWriter) -> any CacheWriter { writer }
    func digestKey() throws -> Data { throw CacheStoreError(.storeUnavailable, "No key.") }
}

/// A store whose key can't be read at first, as on a device that is locked.
private struct LateKeyStore: ForwardingStore {
    let inner: any CacheStore
    let key = Shared<Data?>(nil)

    func digestKey() throws -> Data {
        guard let key = key.value else { throw CacheStoreError(.storeUnavailable, "The device is locked.") }
        return key
    }

    func wrap(_ writer: any CacheWriter) -> any CacheWriter { writer }
}
