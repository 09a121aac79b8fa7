import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsRecordings

/// Decoding never traps, whatever the text is, and what was decoded can be encoded.
@Suite(.againstHanging) struct StubCodingFuzzTests {
    private static let seed = DailySeed.value

    private static let words = [
        "{", "}", "[", "]", ",", ":", "\"on\"", "\"GET /a\"", "\"/*\"", "\"status\"", "\"headers\"", "\"json\"",
        "\"text\"",
        "\"base64\"", "\"file\"", "\"chunks\"", "\"failure\"", "\"never\"", "\"delay\"", "\"times\"",
        "\"after\"",
        "\"code\"", "null", "true", "false", "0", "-1", "200", "1e309", "1e-400", "9223372036854775808", "0.1", "\"\"",
        "\"\\u0000\"", "\"\\ud800\"", "\"é\"", "\"/answers/x\"", "\"AA==\"", "\"a\"",
    ]

    private func json(_ generator: inout SeededGenerator, depth: Int = 0) -> String {
        switch Int.random(in: 0..<(depth > 4 ? 6 : 10), using: &generator) {
        case 0...5: return generator.oneOf(Self.words.filter { !["{", "}", "[", "]", ",", ":"].contains($0) })
        case 6, 7:
            let count = Int.random(in: 0...4, using: &generator)
            return "[" + (0..<count).map { _ in json(&generator, depth: depth + 1) }.joined(separator: ",") + "]"
        default:
            let count = Int.random(in: 0...5, using: &generator)
            let members = (0..<count).map { _ in
                let key = generator.oneOf(Self.words.filter { $0.hasPrefix("\"") })
                return key + ":" + json(&generator, depth: depth + 1)
            }
            return "{" + members.joined(separator: ",") + "}"
        }
    }

    /// A stub whose members are of the right names, and often of the right types.
    private func stub(_ generator: inout SeededGenerator) -> String {
        let values: [String: [String]] = [
            "on": ["\"GET /a\"", "\"/*\"", "\"* /x\""], "status": ["200", "999", "1e2", "null"],
            "headers": ["[[\"A\",\"b\"]]", "[[\"Content-Type\",\"a/b\"],[\"A\",\"\"]]", "[]"],
            "json": [json(&generator)], "text": ["\"é\"", "\"\\u0000\""],
            "base64": ["\"AA==\""],
            "file": ["\"/tmp\"", "\"/\"", "\"/a.json\""],
            "chunks": ["[]", "[{\"text\":\"a\"},{\"after\":1e9}]", "[{\"base64\":\"/w==\"}]"],
            "failure": ["{\"code\":\"x\"}", "{\"code\":\"\"}"], "never": ["true", "false"],
            "delay": ["0", "1e9", "0.1"],
            "times": ["1", "9223372036854775807"],
        ]
        let members = values.sorted { $0.key < $1.key }
            .filter { $0.key == "on" || Int.random(in: 0..<6, using: &generator) == 0 }
            .map { name, values in
                let isRight = Int.random(in: 0..<20, using: &generator) > 0
                return "\"\(name)\":" + (isRight ? generator.oneOf(values) : json(&generator))
            }
        return "{" + members.joined(separator: ",") + "}"
    }

    private func mutated(_ text: String, _ generator: inout SeededGenerator) -> Data {
        var bytes = Array(text.utf8)
        for _ in 0..<max(0, Int.random(in: -3...3, using: &generator)) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &generator)
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &generator)
            case 1: bytes.remove(at: index)
            default: bytes.insert(UInt8.random(in: .min ... .max, using: &generator), at: index)
            }
        }
        return Data(bytes)
    }

    @Test func decodingNeverTraps() throws {
        var generator = SeededGenerator(seed: Self.seed)
        var (decoded, refused) = (0, 0)
        for round in 0..<FullLoad.count(1_000, full: 5_000) {
            let text = "[" + (0..<2).map { _ in stub(&generator) }.joined(separator: ",") + ",\"users\"]"
            let data = mutated(round.isMultiple(of: 3) ? json(&generator) : text, &generator)
            do {
                let stubs = try LaunchStubs(json: data)
                decoded += 1
                let again = try LaunchStubs(json: stubs.json())
                #expect(again.names == stubs.names, "seed \(Self.seed)")
                let facts = [stubs, again].map { $0.stubs.map { AnswerFacts($0.answer) } }
                #expect(facts[0] == facts[1], "seed \(Self.seed): \(String(decoding: data, as: UTF8.self))")
            } catch is TransportError {
                refused += 1
            }
        }
        #expect(decoded > 20 && refused > 20, "seed \(Self.seed): \(decoded) decoded, \(refused) refused")
    }

    @Test func deepJSONIsRefusedWithinALittleStack() throws {
        // Threads other than the main one have 512 KiB on Apple platforms.
        @Sendable func decode(depth: Int) throws -> Stub {
            let value = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            return try decodedStub(#"{"on":"/x","json":\#(value)}"#)
        }
        let outcomes = Shared<[Bool]>([])
        let ended = DispatchSemaphore(value: 0)
        let thread = Thread {
            for depth in [1, 60, 64, 250, 400, 511, 100_000] {
                let isRead = (try? decode(depth: depth)) != nil
                outcomes.change { $0.append(isRead) }
            }
            ended.signal()
        }
        thread.stackSize = 512 << 10
        thread.start()
        ended.wait()
        #expect(outcomes.value == [true, true, true, true, false, false, false])
    }

    @Test func randomAnswersAreEqualAfterCoding() throws {
        var generator = SeededGenerator(seed: Self.seed)
        for _ in 0..<FullLoad.count(400, full: 2_000) {
            let bytes = Data(
                (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                    UInt8.random(in: 0...(Bool.random(using: &generator) ? 127 : 255), using: &generator)
                }
            )
            var fields = HTTPFields()
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                let name: HTTPField.Name = generator.oneOf([.contentType, "content-type", "X-A", .setCookie])
                let value = generator.oneOf(["application/json", "text/plain; charset=utf-8", "a=1; b", "", "grün"])
                fields.append(name, value)
            }
            let status = HTTPResponse.Status(code: Int.random(in: 100...999, using: &generator)) ?? 200
            let half = bytes.count / 2
            let answer = generator.oneOf([
                StubAnswer.status(status, headers: fields, body: HTTPBody(bytes)),
                .json(String(decoding: bytes, as: UTF8.self), status: status, headers: fields),
                .json(json(&generator), headers: fields),
                .text(String(decoding: bytes, as: UTF8.self), headers: fields),
                .stream([bytes.prefix(half), bytes.suffix(from: half)], every: .milliseconds(3), headers: fields),
            ]).delayed(by: .microseconds(Int64.random(in: 0...1_000_000, using: &generator)))
            let decoded = try decodedAnswer(try encoded(answer))
            #expect(AnswerFacts(decoded) == AnswerFacts(answer), "seed \(Self.seed)")
        }
    }
}
