#if os(Linux)
import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransport
import Testing

@Suite(.againstHanging) struct CurlInterimTests {
    private let server: MockServer
    private let transport = CurlTransport()
    private let heads = Shared<[HTTPResponse]>([])

    init() throws { server = try MockServer() }

    private func request(
        _ method: HTTPRequest.Method = .get,
        fields: HTTPFields = [:],
        body: HTTPBody = .empty,
        mode: ResponseBodyMode = .buffered
    ) throws -> HTTPRequest {
        var request = try makeRequest(server, "/", method, fields: fields, body: body, responseBody: mode)
        request.context.interim = { [heads] head in heads.change { $0.append(head) } }
        return request
    }

    @Test func headsArriveWithTheirFieldsBeforeTheResponse() async throws {
        let gate = Latch()
        server.enqueue(
            .text("ok").preceded(by: [.run { await gate.opened() }])
                .preceded(byInterim: 103, headers: [.link: "</a.css>", .setCookie: "a=b"])
        )
        var request = try request()
        request.context.interim = { [heads] head in
            heads.change { $0.append(head) }
            gate.open()
        }
        #expect(try await transport.send(request).headers[.link] == nil)
        #expect(heads.value.map(\.status) == [103])
        #expect(heads.value.first?.headers == [.link: "</a.css>", .setCookie: "a=b"])
    }

    @Test func continueIsToldWhereTheServerAsksForTheContent() async throws {
        server.enqueue(.text("ok"))
        let request = try request(
            .put,
            fields: [.expect: "100-continue"],
            body: HTTPBody(String(repeating: "a", count: 9_000))
        )
        #expect(try await transport.send(request).status == 200)
        #expect(heads.value.map(\.status.code) == [100])
    }

    @Test func aStreamAfterAnInterimHeadEndsWhenNobodyReadsIt() async throws {
        // In one packet, so that the response is there while the interim head is handed out.
        let heads =
            "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n"
        server.enqueue(StubAnswer(steps: [.send(heads), .waitForever]))
        _ = try await transport.send(try request(mode: .streamed))
        await server.closedConnections(1)
        #expect(self.heads.value.map(\.status) == [103])
    }

    @Test func switchingProtocolsIsNotReported() async throws {
        server.enqueue(.raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nbytes"))
        _ = try await failure { try await transport.send(try request()) }
        #expect(heads.value.isEmpty)
    }

    /// The closure runs on the call's task, so nothing can follow the end of the call.
    @Test func nothingIsToldAfterTheCallWasCancelled() async throws {
        let gate = Latch()
        // It never ends: a response that is complete before the loop hears of the cancellation keeps its connection open.
        server.enqueue(
            .neverAnswer.preceded(byInterim: 103, headers: [.link: "</second>"]).preceded(by: [
                .run { await gate.opened() }
            ])
            .preceded(byInterim: 103, headers: [.link: "</first>"])
        )
        var request = try request()
        let told = Latch()
        request.context.interim = { [heads] head in
            heads.change { $0.append(head) }
            told.open()
        }
        let call = Task { [transport, request] in try await transport.send(request) }
        await told.opened()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        gate.open()
        await server.closedConnections(1)
        #expect(heads.value.count == 1)
    }

    @Test func closureMayCancelItsOwnCall() async throws {
        server.enqueue(.text("ok").preceded(byInterim: 103).preceded(byInterim: 103))
        var request = try request()
        request.context.interim = { [heads] head in
            heads.change { $0.append(head) }
            withUnsafeCurrentTask { $0?.cancel() }
        }
        let call = Task { [transport, request] in try await transport.send(request) }
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(heads.value.count == 1)
    }

    @Test func callWithoutAClosureSkipsTheHeads() async throws {
        server.enqueue(.text("ok").preceded(byInterim: 103))
        #expect(try await transport.send(makeRequest(server)).status == 200)
    }

    @Test func headsAreToldInBothModesAndThenTheContentArrives() async throws {
        for mode in [ResponseBodyMode.buffered, .streamed] {
            server.enqueue(.text("ok").preceded(byInterim: 103).preceded(byInterim: 102))
            let response = try await transport.send(try request(mode: mode))
            #expect(try await content(of: response) == "ok")
        }
        #expect(heads.value.map(\.status.code) == [102, 103, 102, 103])
    }
}
#endif
