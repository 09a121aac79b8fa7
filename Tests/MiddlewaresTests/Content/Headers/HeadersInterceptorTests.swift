import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@Suite(.againstHanging) struct HeadersInterceptorTests {
    private func sent(
        _ interceptors: any Interceptor...,
        fields: HTTPFields = [:]
    ) async throws -> HTTPFields {
        let recorder = Recorder()
        let chain = InterceptorChain(interceptors, transport: recorder)
        _ = try await chain.send(HTTPRequest(url: try url("https://example.com/a"), headers: fields))
        return recorder.requests.first?.headers ?? [:]
    }

    @Test func defaultIsAddedWhereTheRequestHasNone() async throws {
        let fields = try await sent(.headers([.accept: "application/json", "X-Client": "ios"]), fields: [.host: "h"])
        #expect(fields == [.host: "h", .accept: "application/json", "X-Client": "ios"])
    }

    @Test func aRequestsOwnValueOverridesADefaultHoweverItIsSpelled() async throws {
        let fields = try await sent(.headers([.accept: "application/json"]), fields: ["ACCEPT": "text/csv"])
        #expect(Array(fields) == [HTTPField(unchecked: "ACCEPT", "text/csv")])
        #expect(fields.first?.name.rawName == "ACCEPT")
    }

    @Test func anEmptyValueOfTheRequestOverridesADefault() async throws {
        #expect(try await sent(.headers([.accept: "a"]), fields: [.accept: ""])[values: .accept] == [""])
    }

    @Test func aDefaultReplacesWhatTheClientFilledInOnItsOwn() async throws {
        let stub = StubTransport()
        stub.on(nil, "**", .json("1"))
        let made: any Interceptor = .headers { _ in [.contentType: "made/c"] }
        let client = Client(
            baseURL: try url("https://example.com"),
            interceptors: [
                .headers([.accept: "outer/a"]), made, .headers([.accept: "inner/a", .contentType: "inner/c"]),
            ],
            transport: stub
        )
        let _: Int = try await client.post("/a", body: 1)
        let _: Int = try await client.post("/a", body: 1, headers: [.accept: "own/a", .contentType: "own/c"])
        #expect(stub.requests.map { $0.headers[values: .accept] } == [["outer/a"], ["own/a"]])
        #expect(stub.requests.map { $0.headers[values: .contentType] } == [["made/c"], ["own/c"]])
    }

    @Test func forcedReplacesEveryFieldOfTheName() async throws {
        let own: HTTPFields = ["x-client": "1", .accept: "a", "X-CLIENT": "2"]
        #expect(
            try await sent(.headers(forced: ["X-Client": "ios"]), fields: own) == [.accept: "a", "X-Client": "ios"]
        )
    }

    @Test func forcedWinsOverADefaultOfTheSameInterceptor() async throws {
        #expect(try await sent(.headers([.accept: "a"], forced: [.accept: "b"]))[values: .accept] == ["b"])
    }

    @Test func aNameThatStandsTwiceIsSentTwice() async throws {
        let twice: HTTPFields = [.cacheControl: "no-cache", .cacheControl: "no-store"]
        #expect(try await sent(.headers(twice))[values: .cacheControl] == ["no-cache", "no-store"])
        #expect(try await sent(.headers(forced: twice))[values: .cacheControl] == ["no-cache", "no-store"])
    }

    @Test func theOuterDefaultWinsOverTheInnerOne() async throws {
        #expect(try await sent(.headers([.accept: "outer"]), .headers([.accept: "inner"]))[.accept] == "outer")
        #expect(try await sent(.headers(forced: [.accept: "o"]), .headers(forced: [.accept: "i"]))[.accept] == "i")
    }

    @Test func aClosureSeesTheRequestAndMakesDefaultsOrForcedFields() async throws {
        let own: HTTPFields = [.accept: "own"]
        let path: @Sendable (HTTPRequest) async throws -> HTTPFields = { request in
            await Task.yield()
            return ["X-Path": request.url.path, .accept: "made"]
        }
        #expect(try await sent(.headers(path), fields: own) == [.accept: "own", "X-Path": "/a"])
        #expect(try await sent(.headers(overriding: true, path), fields: own) == ["X-Path": "/a", .accept: "made"])
    }

    @Test func insideARetryTheClosureIsAskedForEachAttempt() async throws {
        let recorder = Recorder()
        let calls = Tally()
        let chain = InterceptorChain(
            [.headers(forced: ["X-Once": "1"]), sendTwice, .headers { _ in ["X-Call": "\(calls.count())"] }],
            transport: recorder
        )
        _ = try await chain.send(HTTPRequest(url: try url("https://example.com")))
        #expect(recorder.requests.map { $0.headers["X-Call"] } == ["1", "2"])
    }

    @Test func whatAClosureThrowsReachesTheCallerAndNothingIsSent() async throws {
        struct NoLanguage: Error {}
        let recorder = Recorder()
        let chain = InterceptorChain([.headers { _ in throw NoLanguage() }], transport: recorder)
        await #expect(throws: NoLanguage.self) { try await chain.send(HTTPRequest(url: try url("https://e.com"))) }
        #expect(recorder.requests.isEmpty)
    }

    @Test(arguments: ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\0b"])
    func controlCharacterInAFieldIsRefusedBeforeAnythingIsSent(value: String) async throws {
        let recorder = Recorder { request in
            try request.validate()
            return HTTPResponse(status: 200)
        }
        let chain = InterceptorChain([.headers([.userAgent: value])], transport: recorder)
        let request = HTTPRequest(url: try url("https://example.com"))
        let error = await #expect(throws: TransportError.self) { try await chain.send(request) }
        #expect(error?.code == .invalidRequest)
    }

    @Test func aMutationOfOneRequestNeverLeaksIntoAnother() async throws {
        let recorder = Recorder()
        let chain = InterceptorChain([.headers { ["X-Path": $0.url.path] }], transport: recorder)
        let base = try url("https://example.com")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask { _ = try await chain.send(HTTPRequest(url: base.appending(path: "\(number)"))) }
            }
            try await group.waitForAll()
        }
        let requests = recorder.requests
        #expect(requests.count == 200)
        #expect(requests.allSatisfy { $0.headers[values: "X-Path"] == [$0.url.path] })
    }
}
