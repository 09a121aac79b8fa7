import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct TransactionIDInterceptorTests {
    private func send(_ interceptors: [any Interceptor], fields: HTTPFields = [:]) async throws -> [HTTPFields] {
        let recorder = Recorder()
        let request = HTTPRequest(url: try url("https://example.com"), headers: fields)
        _ = try await InterceptorChain(interceptors, transport: recorder).send(request)
        return recorder.requests.map(\.headers)
    }

    @Test func setsAFreshIDForEachRequest() async throws {
        let first = try await send([.transactionID()])[0]["TransactionId"]
        let second = try await send([.transactionID()])[0]["TransactionId"]
        for text in [first, second] {
            let pattern = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/
            #expect(try #require(text).wholeMatch(of: pattern) != nil)
        }
        #expect(first != second)
    }

    @Test func theFieldsNameAndTheGeneratorAreTheUsers() async throws {
        let fields = try await send([.transactionID(named: "X-Request-ID") { "abc" }])
        #expect(fields == [["X-Request-ID": "abc"]])
        #expect(fields[0].first?.name.rawName == "X-Request-ID")
    }

    @Test func aRequestThatCarriesTheFieldKeepsIt() async throws {
        let calls = Tally()
        let interceptor: AnyInterceptor = .transactionID { "\(calls.count())" }
        #expect(try await send([interceptor], fields: ["transactionid": "mine"]) == [["TransactionId": "mine"]])
        #expect(calls.value == 0)
    }

    @Test func outsideARetryOneIDServesAllAttempts() async throws {
        let ids = try await send([.transactionID(), sendTwice]).map { $0[values: .transactionID] }
        #expect(ids.count == 2)
        #expect(ids[0].count == 1)
        #expect(ids[0] == ids[1])
    }

    @Test func insideARetryEachAttemptHasAnIDOfItsOwn() async throws {
        let ids = try await send([sendTwice, .transactionID()]).map { $0[values: .transactionID] }
        #expect(ids.count == 2)
        #expect(ids.allSatisfy { $0.count == 1 })
        #expect(ids[0] != ids[1])
    }

    @Test func anIDWithALineBreakIsRefusedBeforeAnythingIsSent() async throws {
        let recorder = Recorder { request in
            try request.validate()
            return HTTPResponse(status: 200)
        }
        let chain = InterceptorChain([.transactionID { "a\r\nX-Evil: 1" }], transport: recorder)
        await #expect(throws: TransportError.self) { try await chain.send(HTTPRequest(url: try url("https://e.com"))) }
    }

    @Test func sharedInterceptorGivesConcurrentRequestsDifferentIDs() async throws {
        let recorder = Recorder()
        let chain = InterceptorChain([.transactionID()], transport: recorder)
        let request = HTTPRequest(url: try url("https://example.com"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<500 { group.addTask { _ = try await chain.send(request) } }
            try await group.waitForAll()
        }
        #expect(Set(recorder.requests.map { $0.headers[.transactionID] }).count == 500)
    }
}
