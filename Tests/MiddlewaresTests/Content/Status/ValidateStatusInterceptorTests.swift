import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@Suite(.againstHanging) struct ValidateStatusInterceptorTests {
    private func outcome(
        _ interceptor: any Interceptor,
        _ code: Int,
        fields: HTTPFields = [:],
        method: HTTPRequest.Method = .get
    ) async throws -> Int {
        let status = try #require(HTTPResponse.Status(code: code))
        let recorder = Recorder { _ in HTTPResponse(status: status) }
        let request = HTTPRequest(method: method, url: try url("https://example.com"), headers: fields)
        return try await InterceptorChain([interceptor], transport: recorder).send(request).status.code
    }

    private func isAccepted(_ interceptor: any Interceptor, _ code: Int) async throws -> Bool {
        do {
            return try await outcome(interceptor, code) == code
        } catch let error as StatusError {
            #expect(error.status.code == code)
            return false
        }
    }

    @Test(arguments: [(199, false), (200, true), (204, true), (299, true), (300, false), (304, false), (404, false)])
    func by2xxWithoutAnArgument(code: Int, expected: Bool) async throws {
        #expect(try await isAccepted(.validateStatus(), code) == expected)
    }

    @Test(arguments: [100, 600, 999])
    func unknownStatusCodesAreErrors(code: Int) async throws {
        #expect(try await !isAccepted(.validateStatus(), code))
    }

    @Test func rangesSetsAndClosuresAreTakenAtTheirWord() async throws {
        #expect(try await isAccepted(.validateStatus(200..<400), 399))
        #expect(try await !isAccepted(.validateStatus(200..<400), 400))
        #expect(try await isAccepted(.validateStatus(200...400), 400))
        #expect(try await isAccepted(.validateStatus(..<500), 404))
        #expect(try await isAccepted(.validateStatus([200, 404]), 404))
        #expect(try await !isAccepted(.validateStatus([200, 404]), 201))
        #expect(try await isAccepted(.validateStatus { $0.status.kind != .serverError }, 404))
        #expect(try await !isAccepted(.validateStatus { $0.status.kind != .serverError }, 500))
        #expect(try await !isAccepted(.validateStatus { _ in false }, 200))
    }

    @Test func aCallCanSwitchItOff() async throws {
        struct Problem: Decodable { let title: String }
        let problem = StubAnswer.json(#"{"title":"gone"}"#, status: 404)
        let chains: [[any Interceptor]] = [[.validateStatus()], [.validateStatus([200])], []]
        for chain in chains {
            let api = Client(
                baseURL: try url("https://example.com"),
                interceptors: chain,
                transport: .stub(problem, problem, problem)
            )
            let found = try await api.get("/x", as: Problem.self, context: .with(\.validatesStatus, false))
            #expect(found.title == "gone")
            try await api.get("/x", context: .with(\.validatesStatus, false))
            await #expect(throws: (any Error).self) { try await api.get("/x") }
        }
    }

    @Test func aClientDecodesWhatIsLetThroughAndNothingElse() async throws {
        let stub = StubTransport()
        stub.on(nil, "**", .json("7", status: 404))
        let base = try url("https://example.com")
        let lenient = Client(baseURL: base, interceptors: [.validateStatus([200, 404])], transport: stub)
        #expect(try await lenient.get("/a", as: Int.self) == 7)
        let strict = Client(baseURL: base, interceptors: [.validateStatus()], transport: stub)
        await #expect(throws: StatusError.self) { try await strict.get("/a", as: Int.self) }
    }

    @Test(arguments: [HTTPField.Name.ifNoneMatch, .ifModifiedSince], [HTTPRequest.Method.get, .head])
    func a304ToTheCallersOwnConditionIsLetThrough(name: HTTPField.Name, method: HTTPRequest.Method) async throws {
        #expect(try await outcome(.validateStatus(), 304, fields: [name: "x"], method: method) == 304)
    }

    @Test func a304ThatWasNotAskedForIsAnError() async throws {
        await #expect(throws: StatusError.self) { try await outcome(.validateStatus(), 304) }
        await #expect(throws: StatusError.self) {
            try await outcome(.validateStatus(), 304, fields: [.ifNoneMatch: "x"], method: .put)
        }
        await #expect(throws: StatusError.self) {
            try await outcome(.validateStatus(200..<300), 304, fields: [.ifNoneMatch: "x"])
        }
        let inner: AnyInterceptor = .intercept { request, next in
            var request = request
            request.headers[.ifNoneMatch] = "x"
            return try await next(request)
        }
        let recorder = Recorder { _ in HTTPResponse(status: 304) }
        let chain = InterceptorChain([.validateStatus(), inner], transport: recorder)
        let error = await #expect(throws: StatusError.self) {
            try await chain.send(HTTPRequest(url: try url("https://example.com")))
        }
        #expect(error?.message.contains("conditional") == true)
    }

    @Test func anAcceptedResponseIsNotTouched() async throws {
        let recorder = Recorder { _ in HTTPResponse(status: 200, body: .oneShot(Chunks(["a", "b"]))) }
        let chain = InterceptorChain([.validateStatus()], transport: recorder)
        let response = try await chain.send(HTTPRequest(url: try url("https://example.com")))
        #expect(response.body.isReadable)
        #expect(try await response.body.collect(upTo: 10) == Data("ab".utf8))
    }

    @Test func whatTheTransportThrowsPassesThrough() async throws {
        struct Lost: Error {}
        let chain = InterceptorChain([.validateStatus()], transport: Recorder { _ in throw Lost() })
        await #expect(throws: Lost.self) { try await chain.send(HTTPRequest(url: try url("https://example.com"))) }
    }
}
