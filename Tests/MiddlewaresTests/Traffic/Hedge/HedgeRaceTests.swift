import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares
@testable import InterceptorsTraffic

@Suite(.againstHanging) struct HedgeRaceTests {
    private typealias Race = HedgeRace<String>

    private func text(_ step: Race.Step) -> String {
        switch step {
        case .wait: "wait"
        case .startSecond: "start"
        case .finish(let number, let answer, let discarded): "\(number): \(answer), not \(discarded ?? "any other")"
        case .discard(let answer): "discard \(answer)"
        }
    }

    /// Events and the resulting steps. "delay": the delay is over; "no": also, but without a budget; else attempt,
    /// answer, worth.
    @Test(arguments: [
        (["1 a good"], ["first: a, not any other"]),
        (["1 a bad"], ["first: a, not any other"]),
        (["1 a bad", "delay"], ["first: a, not any other", "wait"]),
        (["no", "1 a bad"], ["wait", "first: a, not any other"]),
        (["delay", "1 a good", "2 b good"], ["start", "first: a, not any other", "discard b"]),
        (["delay", "2 b good", "1 a good"], ["start", "second: b, not any other", "discard a"]),
        (["delay", "1 a bad", "2 b good"], ["start", "wait", "second: b, not a"]),
        (["delay", "2 b bad", "1 a good"], ["start", "wait", "first: a, not b"]),
        (["delay", "1 a bad", "2 b bad"], ["start", "wait", "first: a, not b"]),
        (["delay", "2 b bad", "1 a bad"], ["start", "wait", "first: a, not b"]),
        (["delay", "1 a final", "2 b good"], ["start", "first: a, not any other", "discard b"]),
        (["delay", "2 b final", "1 a good"], ["start", "second: b, not any other", "discard a"]),
        (["delay", "2 b bad", "1 a final"], ["start", "wait", "first: a, not b"]),
        (["delay", "1 a bad", "2 b final"], ["start", "wait", "second: b, not a"]),
        (["delay", "1 a stream", "2 b good"], ["start", "discard a", "second: b, not any other"]),
        (["delay", "1 a stream", "2 b bad"], ["start", "discard a", "second: b, not any other"]),
        (["delay", "2 b stream", "1 a stream"], ["start", "discard b", "first: a, not any other"]),
        (["delay", "1 a bad", "2 b stream"], ["start", "wait", "first: a, not b"]),
        (["1 a stream"], ["first: a, not any other"]),
    ])
    func firstGoodAnswerWins(events: [String], expected: [String]) {
        var race = Race()
        let steps = events.map { event in
            let words = event.split(separator: " ")
            guard words.count == 3 else { return text(race.delayIsOver { event == "delay" }) }
            let worths: [Substring: Race.Worth] = ["good": .good, "bad": .bad, "stream": .badStream]
            let worth = worths[words[2]] ?? .final
            return text(race.answer(words[0] == "1" ? .first : .second, String(words[1]), worth))
        }
        #expect(steps == expected)
    }

    @Test func budgetIsAskedOnlyIfThereWouldBeASecondTry() {
        var race = Race()
        _ = race.answer(.first, "a", .good)
        let step = race.delayIsOver {
            Issue.record("nothing to hedge")
            return true
        }
        #expect(text(step) == "wait")
        #expect(!race.hasSecond)
    }
}
