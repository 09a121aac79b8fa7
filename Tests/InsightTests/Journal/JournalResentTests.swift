import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsInsight

/// Requests that are kept, sent again, or built anew.
@Suite(.againstHanging) struct JournalResentTests {
    /// Keeps each request that fails, as an outbox does.
    private struct Outbox: Interceptor {
        let queue: Shared<[HTTPRequest]>

        func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
            do { return try await next(request) } catch {
                queue.value.append(request)
                throw error
            }
        }
    }

    private static func outbox(limit: Int = 1_000) -> (fixture: JournalFixture, queue: Shared<[HTTPRequest]>) {
        let queue = Shared<[HTTPRequest]>([])
        let fixture = JournalFixture([Pass(), Outbox(queue: queue)], limit: limit) { _ in
            throw TransportError(.connectionLost, "It is gone.")
        }
        return (fixture, queue)
    }

    @Test func aRequestSentAgainAfterItsCallBeginsACall() async throws {
        let (fixture, queue) = Self.outbox()
        await #expect(throws: TransportError.self) { try await fixture.send() }
        for _ in 0..<3 {
            let request = queue.value.removeLast()
            await #expect(throws: TransportError.self) { try await fixture.chain.send(request) }
        }
        #expect(fixture.journal.calls.map(\.parentID) == [nil, 1, 2, 3])
        #expect(fixture.journal.calls.allSatisfy { $0.attempts.count == 1 && $0.root?.name == "Pass" })
    }

    @Test func aRequestSentAgainIsRecordedAfterItsCallWasDropped() async throws {
        let (fixture, queue) = Self.outbox(limit: 2)
        await #expect(throws: TransportError.self) { try await fixture.send() }
        let request = try #require(queue.value.first)
        fixture.journal.removeAll()
        for _ in 0..<5 { await #expect(throws: TransportError.self) { try await fixture.chain.send(request) } }
        #expect(fixture.journal.calls.map(\.id) == [5, 6])
        #expect(fixture.journal.calls.allSatisfy { $0.root?.request.method == "GET" && $0.attempts.count == 1 })
    }

    @Test func aChainWithoutInterceptorsBeginsACallToo() async throws {
        let fixture = JournalFixture([])
        let request = Shared<HTTPRequest?>(nil)
        let keeping = InterceptorChain(
            [
                .intercept { kept, next in
                    request.value = kept
                    return try await next(kept)
                }
            ],
            transport: fixture.stub,
            observer: fixture.journal
        )
        _ = try await keeping.send(HTTPRequest(string: "https://a.example/"))
        _ = try await fixture.chain.send(try #require(request.value))
        #expect(fixture.journal.calls.map(\.parentID) == [nil, 1])
    }

    @Test func aRequestThatAStepBuildsStaysInItsCall() async throws {
        let fixture = JournalFixture([
            Pass(),
            .intercept { request, next in
                try await next(HTTPRequest(method: request.method, url: URL(string: "https://b.example/")!))
            },
            .when(.matching { _ in true }, [AddField()]), Pass(),
        ])
        try await fixture.send { $0.headers[.accept] = "text/plain" }
        #expect(
            fixture.explained == """
                #1 GET https://a.example/ → 204 No Content, 0 µs
                ↓ + Accept: text/plain
                Pass
                  intercept
                    ↓ GET https://b.example/
                    ↓ − Accept
                    when
                      AddField
                        ↓ + X-Added: yes
                        Pass
                          StubTransport
                            ↑ 204 No Content, 0 bytes
                        ↑ + X-Added: yes
                """
        )
    }

    @Test func aRequestOfAnotherCallGoesOnInTheCallThatSendsIt() async throws {
        let kept = Shared<HTTPRequest?>(nil)
        let fixture = JournalFixture([
            .intercept { request, next in
                if let other = kept.value { return try await next(other) }
                return try await next(request)
            },
            .intercept { request, next in
                kept.value = request
                return try await next(request)
            },
        ])
        for number in 1...3 { try await fixture.send("/\(number)") }
        #expect(fixture.journal.calls.map(\.attempts.count) == [1, 1, 1])
        #expect(fixture.journal.calls.last?.attempts.first?.request.url == "https://a.example/1")
    }

    @Test func nestingHasALimit() async throws {
        // Each call sends its request again while it runs.
        struct Again: Interceptor {
            let depth: Shared<Int>
            let client: Shared<InterceptorChain?>

            func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
                depth.value += 1
                guard depth.value < 1_000, let client = client.value else { return try await next(request) }
                return try await client.send(request)
            }
        }
        let client = Shared<InterceptorChain?>(nil)
        let fixture = JournalFixture([Again(depth: Shared(0), client: client)])
        client.value = fixture.chain
        try await fixture.send()
        client.value = nil
        let call = try #require(fixture.journal.calls.first)
        #expect(fixture.journal.calls.count == 1)
        var (depth, step) = (0, call.root)
        while let inner = step?.steps.first { (depth, step) = (depth + 1, inner) }
        #expect(depth == 128)
        #expect(call.omittedCount == 1_001 - 129)
    }
}
