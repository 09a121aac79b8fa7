import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsRecordings

/// A redacted stream keeps its chunks.
@Suite(.againstHanging) struct ChunkSplitTests {
    /// The chunks of a stream without their secrets.
    private func redacted(_ chunks: [String]) -> [String] {
        let response = RecordedExchange.Response(
            status: 200,
            headers: [.contentType: "text/event-stream"],
            chunks: chunks.map { StubAnswer.Chunk(Data($0.utf8)) },
            isStream: true
        )
        var exchange = RecordedExchange(startedAt: .now, request: .init(method: .get, url: "https://a.example/"))
        exchange.response = response
        let result = ExchangeRedaction.standard.redacted(exchange).response?.chunks ?? []
        return result.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    private static func event(_ json: String) -> String { "data: \(json)\n\n" }

    /// Events of which each is redacted alone as it is in the stream.
    private static let events = [
        event(#"{"id":1,"delta":"{\"token\":\"hush\",\"a\":\"caf\u00e9\"}"}"#), event(#"{"delta":"caf\u00e9"}"#),
        event(#"{"token":"hush","text":"\u2028\/"}"#), event(#"{"usage":{"otp":12},"a":0}"#), event("[DONE]"),
        event(#"{"text":"see https:\/\/ada:hush@a.example\/"}"#), event(#"{"a":"REDACTED","token":"a0"}"#),
    ]

    @Test(arguments: 0..<20) func eachEventStaysInItsChunk(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let events = (0..<10).map { _ in random.oneOf(Self.events) }
        let alone = events.flatMap { redacted([$0]) }
        #expect(!alone.joined().contains("hush"))
        #expect(redacted(events) == alone)
    }

    @Test func anEventThatIsWholeIsNotHeldBackByALongSecretBehindIt() {
        let secret = #"data: {"token":"\#(String(repeating: "x", count: 90))"}"# + "\n\n"
        let result = redacted(["data: a\n\n" + secret.prefix(20), String(secret.dropFirst(20)), "data: b\n\n"])
        #expect(result[0].hasPrefix("data: a\n\n") && result[2] == "data: b\n\n", "\(result)")
    }

    @Test func anEscapeWithinALineLeavesTheOtherLinesAlone() {
        let escaped = #"{"token":"hush","a":"{\"token\":\"hush\",\"b\":\"\u00e9\"}"}"#
        let chunks = ["a\n" + escaped.prefix(20), escaped.dropFirst(20) + "\nb", "c\nd"]
        let result = redacted(chunks)
        #expect(result.joined() == redacted([chunks.joined()]).joined())
        #expect(result[0].hasPrefix("a\n") && result[1].hasSuffix("\nb") && result[2] == "c\nd", "\(result)")
    }
}
