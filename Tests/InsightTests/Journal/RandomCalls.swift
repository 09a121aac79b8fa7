import Foundation
import Interceptors
import InterceptorsTestSupport

@testable import InterceptorsInsight

/// Random calls: trees of any shape, texts with any characters, missing parts, absurd durations.
struct RandomCalls {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    private mutating func text() -> String {
        let pieces =
            JournalSamples.hostileTexts + [
                "", "a", "ä", "👩‍👩‍👧", "\"", "\\", "\n", "=", ";", "%", "%41", "%FF", "?", "&", "#", " ",
            ]
        return (0..<Int.random(in: 0..<6, using: &random)).map { _ in random.oneOf(pieces) }.joined()
    }

    private mutating func duration() -> Duration {
        switch Int.random(in: 0..<12, using: &random) {
        case 0: .zero
        case 1: .seconds(1 << 40)
        case 2: .nanoseconds(-5)
        default: .nanoseconds(Int64.random(in: 0..<10_000_000_000, using: &random))
        }
    }

    private mutating func message(isRequest: Bool) -> JournalCall.Message {
        let names = ["Content-Type", "cookie", "Set-Cookie", "LOCATION", "X"]
        let fields = (0..<Int.random(in: 0..<6, using: &random)).map { _ in
            HTTPField(name: random.oneOf(names) + (chance(10) ? text() : ""), value: text())
        }
        let isStream = chance(20)
        let size: Int64? = chance(15) ? nil : Int64.random(in: 0..<1_000_000, using: &random)
        let content = isStream || chance(30) ? nil : text()
        return JournalCall.Message(
            method: isRequest ? random.oneOf(["GET", "POST", text()]) : nil,
            url: isRequest ? "https://a.example/\(text())?\(text())" : nil,
            status: isRequest ? nil : Int.random(in: 100...999, using: &random),
            fields: HTTPFields(fields),
            body: .init(isStream: isStream, size: size, text: content, isCut: chance(10))
        )
    }

    private mutating func step(depth: Int) -> JournalCall.Step {
        let isTransport = depth == 0 || chance(20)
        var step = JournalCall.Step(
            name: text(),
            isTransport: isTransport,
            start: duration(),
            request: message(isRequest: true)
        )
        if !isTransport {
            step.steps = (0..<random.oneOf([0, 1, 1, 1, 2, 4])).map { _ in self.step(depth: depth - 1) }
        }
        if chance(90) { step.duration = duration() }
        if chance(70) { step.response = chance(50) ? step.steps.last?.response : message(isRequest: false) }
        if step.response == nil, chance(80) {
            step.error = chance(20) ? JournalCall.cancelled : "\(text()).\(text()): \(text())"
        }
        if isTransport, chance(70) {
            step.timings = .init(
                nameLookup: duration(),
                connect: duration(),
                tls: duration(),
                firstByte: duration(),
                total: duration(),
                reusedConnection: chance(50)
            )
        }
        step.notes = (0..<Int.random(in: 0..<3, using: &random)).map { _ in
            CallNote(text(), text(), callID: chance(20) ? 1 : nil)
        }
        return step
    }

    mutating func call(id: Int) -> JournalCall {
        let date = random.oneOf([0, 1_790_000_000.123_456, -1e12, 1e300, .nan])
        return JournalCall(
            id: id,
            startedAt: Date(timeIntervalSince1970: date),
            parentID: chance(20) ? 1 : nil,
            root: chance(95) ? step(depth: 6) : nil,
            omittedCount: chance(20) ? 3 : 0
        )
    }
}
