import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsRecordings

@Suite(.againstHanging, .heavy) struct RecordingRoundTripTests {
    /// Twenty tapes of 50 exchanges. With INTERCEPTORS_FULL_LOAD each has 500, which makes ten thousand.
    @Test(arguments: 0..<20) func randomExchangesPlayAsTheyWereRecordedWithoutTheirSecrets(number: UInt64) async throws
    {
        let seed = DailySeed.of(number)
        var random = SeededGenerator(seed: seed)
        let tape = try TapeFile()
        // The dates of a response move with the clock, which stands still.
        let time = TimeSource.manual(ManualClock())
        let recording = tape.recording(.all, time: time)
        var exchanges: [(RandomExchange, RandomExchange.Seen)] = []
        for _ in 0..<FullLoad.count(50, full: 500) {
            let exchange = RandomExchange(&random, host: tapeHost)
            let server = StubTransport()
            server.enqueue(exchange.answer)
            // A one-shot body can't be sent once more to play.
            var playable = exchange
            playable.request.body = HTTPBody(exchange.content)
            let seen = try await RandomExchange.Seen { try await recording.send(exchange.request, over: server) }
            exchanges.append((playable, seen))
        }
        try recording.finish()
        let text = try #require(tape.bytes)
        if let leak = text.range(of: Data(RandomExchange.secret.utf8)) {
            let surroundings = text[max(0, leak.lowerBound - 200)..<min(text.count, leak.upperBound + 50)]
            Issue.record("seed \(seed): \(String(decoding: surroundings, as: UTF8.self))")
        }
        let played = tape.recording(.none, time: time)
        for (index, (exchange, seen)) in exchanges.enumerated() {
            let replay = try await RandomExchange.Seen { try await played.send(exchange.request, over: NoServer()) }
            let expected = seen.redacted(isStream: exchange.request.context.responseBody.bufferLimit == nil)
            #expect(replay == expected, "seed \(seed), exchange \(index): \(exchange.request)")
        }
        try played.finish()
    }
}
