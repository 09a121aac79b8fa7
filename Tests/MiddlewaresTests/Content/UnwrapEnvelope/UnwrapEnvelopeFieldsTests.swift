import Foundation
import Interceptors
import InterceptorsTestSupport
import Testing

@Suite(.againstHanging) struct UnwrapEnvelopeFieldsTests {
    private func send(
        _ fields: HTTPFields,
        status: HTTPResponse.Status = 200,
        body: HTTPBody = "payload",
        method: HTTPRequest.Method = .get,
        through interceptor: any Interceptor = .unwrapEnvelope(codeField: "status")
    ) async throws -> HTTPResponse {
        let request = HTTPRequest(method: method, url: try url("https://api.example.com/a"))
        let response = HTTPResponse(status: status, headers: fields, body: body)
        return try await InterceptorChain([interceptor], transport: Recorder { _ in response }).send(request)
    }

    @Test func theFieldSuccessDecides() async throws {
        let fields: HTTPFields = ["Success": "TRUE", "status": "200", "message": "OK"]
        let passed = try await send(fields)
        #expect(passed.body.data == Data("payload".utf8))
        #expect(passed.headers == fields)
        let error = try await #require(throws: EnvelopeError.self) {
            try await send(["success": "false", "status": "1005", "message": "No such user"], body: "detail")
        }
        #expect(error.code == .envelopeFailure && error.serverCode == 1005 && error.serverMessage == "No such user")
        #expect(error.body == Data("detail".utf8) && error.status == 200)
    }

    @Test func fieldsMayHaveOtherNames() async throws {
        let interceptor = AnyInterceptor.unwrapEnvelope(
            codeField: "X-Code",
            messageField: "X-Text",
            success: .flag("X-Ok")
        )
        _ = try await send(["X-OK": "1"], through: interceptor)
        let error = try await #require(throws: EnvelopeError.self) {
            try await send(["X-OK": "0", "x-code": "E7", "x-text": "No"], through: interceptor)
        }
        #expect(error.serverCode == "E7" && error.serverMessage == "No")
    }

    @Test func theCodeMayDecide() async throws {
        let interceptor = AnyInterceptor.unwrapEnvelope(codeField: "status", success: .codes(200...299))
        _ = try await send(["status": "201"], through: interceptor)
        let error = try await #require(throws: EnvelopeError.self) {
            try await send(["status": "500"], through: interceptor)
        }
        #expect(error.serverCode == 500)
    }

    @Test func aClosureSeesTheFields() async throws {
        let interceptor = AnyInterceptor.unwrapEnvelope(
            codeField: "status",
            success: .custom { $0.text(at: "X-State") == "done" && $0.payload == Data("payload".utf8) }
        )
        _ = try await send(["x-state": "done"], through: interceptor)
        await #expect(throws: EnvelopeError.self) { try await send([:], through: interceptor) }
    }

    @Test func aStreamIsLetGoWhenTheClosureThrows() async throws {
        let discards = Tally()
        await #expect(throws: CocoaError.self) {
            try await send(
                ["success": "true"],
                body: .oneShot(Chunks(["a"])) { discards.count() },
                through: .unwrapEnvelope(
                    codeField: "status",
                    success: .custom { _ in throw CocoaError(.userCancelled) }
                )
            )
        }
        #expect(discards.value == 1)
    }

    @Test func withoutTheFieldsItPassesOrFailsAsConfigured() async throws {
        let error = try await #require(throws: EnvelopeError.self) { try await send(["message": "OK"]) }
        #expect(error.code == .notAnEnvelope)
        #expect(error.message.contains("success"))
        _ = try await send([:], through: .unwrapEnvelope(codeField: "status", passesOthers: true))
    }

    @Test func headAnd204AreJudgedOnlyIfTheyHaveTheFields() async throws {
        _ = try await send([:], method: .head)
        _ = try await send([:], status: 204, body: .empty)
        await #expect(throws: EnvelopeError.self) { try await send(["success": "false"], method: .head) }
        await #expect(throws: EnvelopeError.self) { try await send(["success": "false"], status: 204, body: .empty) }
    }

    @Test func whatOthersHandleIsNotTurnedIntoAnErrorBeforeThem() async throws {
        for status in [HTTPResponse.Status(302), 304, 401, 407] {
            #expect(try await send(["success": "false"], status: status).status == status)
        }
    }

    @Test func aStatusOfFailureWithoutTheFieldsPassesToWhoJudgesIt() async throws {
        #expect(try await send([:], status: 503).status == 503)
        #expect(try await send(["success": "true"], status: 503).status == 503)
        let error = try await #require(throws: EnvelopeError.self) { try await send(["success": "false"], status: 503) }
        #expect(error.status == 503)
    }

    @Test func aStreamPassesUnreadOnSuccess() async throws {
        let reads = Tally()
        let response = try await send(["success": "true"], body: .oneShot(Chunks(["a"], reads: reads)))
        #expect(reads.value == 0 && response.body.isReadable)
    }

    @Test func ofAStreamThatFailsTheErrorKeepsTheBeginning() async throws {
        let discards = Tally()
        let error = try await #require(throws: EnvelopeError.self) {
            let body = HTTPBody.oneShot(Chunks(["abcd", "efgh", "ijkl"])) { discards.count() }
            return try await send(
                ["success": "false"],
                body: body,
                through: .unwrapEnvelope(codeField: "status", limit: 6)
            )
        }
        #expect(error.body == Data("abcdef".utf8) && !error.isBodyComplete)
        #expect(discards.value == 1)
    }

    @Test func aNegativeLimitKeepsNothing() async throws {
        let error = try await #require(throws: EnvelopeError.self) {
            let body = HTTPBody.oneShot(Chunks(["abcd"]))
            return try await send(
                ["success": "false"],
                body: body,
                through: .unwrapEnvelope(codeField: "status", limit: -1)
            )
        }
        #expect(error.body.isEmpty && !error.isBodyComplete)
    }

    @Test func aBodyThatBreaksOffDoesNotHideTheFailure() async throws {
        let error = try await #require(throws: EnvelopeError.self) {
            let chunks = Chunks(["ab"], failure: TransportError(.truncated, "Cut."))
            return try await send(["success": "false", "message": "No"], body: .oneShot(chunks))
        }
        #expect(error.serverMessage == "No" && error.body == Data("ab".utf8) && !error.isBodyComplete)
    }

    @Test func cancellingWhileAFailuresBodyIsReadThrowsCancellationError() async throws {
        let (begun, began) = AsyncStream<Void>.makeStream()
        let task = Task { try await send(["success": "false"], body: .oneShot(NoChunks(began: began))) }
        for await _ in begun { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
