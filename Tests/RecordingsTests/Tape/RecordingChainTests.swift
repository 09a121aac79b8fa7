import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization
import Testing

@testable import InterceptorsRecordings

/// A whole chain, recorded against a server and played without one.
@Suite(.againstHanging) struct RecordingChainTests {
    private let clock = ManualClock()

    /// The result of one call, as a user of the chain sees it.
    private struct Seen: Equatable {
        var text: String
        var status: Int
        var url: String
        var cache: String?
        var attempts: Int
        var redirects: Int
    }

    private func scenario(_ base: URL, _ tape: Recording, over transport: any Transport) async throws -> [Seen] {
        let origins: Set<Origin> = [try #require(Origin(base))]
        let time = TimeSource.manual(clock)
        let tokens = TokenStore(TokenStore.Token("first-hush"), origins: origins, time: time) { _ in
            TokenStore.Token("second-hush")
        }
        let chain = InterceptorChain(
            [
                .followRedirects(), .retryOnUnauthorized(tokens), .bearerAuth(tokens), .cache(.memory(), time: time),
                .retry(.constant(.zero, maxAttempts: 3), time: time),
            ],
            transport: .recorded(tape, over: transport)
        )
        var seen: [Seen] = []
        for (index, path) in ["/cached", "/cached", "/moved", "/busy", "/stream", "/private", "/moved"].enumerated() {
            var request = HTTPRequest(url: base.appending(path: path))
            request.context.responseBody = index % 2 == 0 ? .buffered : .streamed
            let response = try await chain.send(request)
            let text = String(decoding: try await response.body.collect(upTo: 1 << 20), as: UTF8.self)
            seen.append(
                Seen(
                    text: text,
                    status: response.status.code,
                    url: response.url?.absoluteString ?? "",
                    cache: response.context.cacheOutcome?.result.description,
                    attempts: response.context.attempts.count,
                    redirects: response.context.redirects.count
                )
            )
        }
        return seen
    }

    @Test func aWholeChainPlaysAsItWasRecorded() async throws {
        let server = try MockServer()
        let busy = Tally()
        server.on(.get, "/cached", .status(200, headers: [.cacheControl: "max-age=60"], body: "kept"))
        server.on(.get, "/moved", .status(302, headers: [.location: "/target"], body: "elsewhere"))
        server.on(.get, "/target", .status(200, body: "found"))
        server.on(.get, "/busy") { _ in busy.count() < 3 ? StubAnswer.status(503) : .status(200, body: "at last") }
        server.on(.get, "/stream", .stream([Data("one".utf8), Data("two".utf8)]))
        server.on(.get, "/private") { request in
            request.headers[.authorization] == "Bearer second-hush"
                ? StubAnswer.status(200, body: "yours") : .status(401)
        }
        let tape = try TapeFile()
        let recording = tape.recording(.once, time: .manual(clock))
        let real = try await scenario(server.url, recording, over: .platform())
        try recording.finish()
        let sent = server.requests.count
        server.stop()
        clock.advance(by: .seconds(86_400))
        let played = tape.recording(.none, time: .manual(clock))
        #expect(try await scenario(server.url, played, over: NoServer()) == real)
        try played.finish()
        #expect(real.map(\.text) == ["kept", "kept", "found", "at last", "onetwo", "yours", "found"])
        #expect(real[1].cache == "hit" && real[3].attempts == 3 && real[2].redirects == 1)
        #expect(try TapeIndex.ofFile(tape.url).exchanges.count == sent)
        #expect(!String(decoding: try #require(tape.bytes), as: UTF8.self).contains("hush"))
    }
}
