import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransport
import Testing

@Suite(.againstHanging) struct StubTrailersTests {
    private let stub = StubTransport()
    private static let stream = HTTPBody.restartable {
        AsyncStream { feed in
            feed.yield(Data("a"))
            feed.finish()
        }
    }

    @Test func trailersComeWithTheContent() async throws {
        stub.on(nil, "**", .stream([Data("a"), Data("b")], trailers: ["X-A": "1"]))
        #expect(try await stub.send(stubRequest()).trailers == ["X-A": "1"])
        var request = try stubRequest()
        request.context.responseBody = .streamed
        let response = try await stub.send(request)
        let early = #expect(throws: TransportError.self) { try response.trailers }
        #expect(early?.code == .trailersNotReceived)
        #expect(try await content(of: response) == "ab")
        #expect(try response.trailers == ["X-A": "1"])
    }

    @Test func answerWithoutTrailersHasNone() async throws {
        stub.on(nil, "**", .text("ok"))
        #expect(try await stub.send(stubRequest()).trailers.isEmpty)
    }

    @Test func failedStreamHasNoTrailers() async throws {
        let failure = TransportError(.truncated, "Cut.")
        stub.on(nil, "**", .stream([Data("a")], thenFailing: failure, trailers: ["X-A": "1"]))
        var request = try stubRequest()
        request.context.responseBody = .streamed
        let response = try await stub.send(request)
        await #expect(throws: TransportError.self) { try await content(of: response) }
        let error = #expect(throws: TransportError.self) { try response.trailers }
        #expect(error?.code == .trailersNotReceived)
    }

    @Test func answerWithoutContentHasNoTrailers() async throws {
        stub.on(nil, "**", .stream([Data("a")], trailers: ["X-A": "1"]))
        var request = try stubRequest()
        request.method = .head
        #expect(try await stub.send(request).trailers.isEmpty)
    }

    @Test func followedRedirectWhoseContentFailsHasNoTrailers() async throws {
        let failure = TransportError(.truncated, "Cut.")
        let answer = StubAnswer.stream(
            [Data("a")],
            thenFailing: failure,
            trailers: ["X-A": "1"],
            status: 302,
            headers: [.location: "/b"]
        )
        stub.on(nil, "**", answer)
        var request = try stubRequest()
        request.context.followsRedirects = true
        let response = try await stub.send(request)
        #expect(response.status == 302)
        let error = #expect(throws: TransportError.self) { try response.trailers }
        #expect(error?.code == .trailersNotReceived)
    }

    @Test func responseOfAClosureKeepsItsTrailers() async throws {
        stub.on(
            nil,
            "**",
            .answer { request in
                var response = HTTPResponse(status: 200, body: "ok", url: request.url)
                response.context.trailers = HTTPTrailers(["X-A": "1"])
                return response
            }
        )
        #expect(try await stub.send(stubRequest()).trailers == ["X-A": "1"])
    }

    @Test func interimResponsesComeInOrderBeforeTheDelay() async throws {
        let clock = ManualClock()
        let stub = StubTransport(time: .manual(clock))
        stub.on(
            nil,
            "**",
            .text("ok").delayed(by: .seconds(1)).preceded(byInterim: 103, headers: [.link: "</a>"]).preceded(
                byInterim: 100
            )
        )
        let heads = Shared<[HTTPResponse]>([])
        var request = try stubRequest()
        request.context.interim = { head in heads.change { $0.append(head) } }
        let call = Task { [request] in try await stub.send(request) }
        await clock.sleepers(1)
        #expect(heads.value.map(\.status.code) == [100, 103])
        #expect(heads.value.last?.headers == [.link: "</a>"])
        clock.advance(by: .seconds(1))
        #expect(try await call.value.status == 200)
    }
}
