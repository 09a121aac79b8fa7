import Foundation
import Interceptors
import Testing

@testable import InterceptorsInsight

@Suite(.againstHanging) struct JournalExplainedTests {
    private typealias Step = JournalCall.Step
    private typealias Message = JournalCall.Message
    private typealias Field = HTTPField

    private static let request = Message(method: "GET", url: "https://a.example/")

    private static func step(
        _ name: String,
        from start: Duration = .zero,
        for duration: Duration? = .zero,
        _ request: Message = request,
        response: Message? = nil,
        error: String? = nil,
        steps: [Step] = []
    ) -> Step {
        var step = Step(name: name, start: start, request: request)
        step.duration = duration
        step.response = response
        step.error = error
        step.steps = steps
        return step
    }

    private static func explained(_ root: Step?, omitted: Int = 0, for parent: Int? = nil) -> String {
        JournalCall(id: 7, startedAt: Date(), parentID: parent, root: root, omittedCount: omitted).explained
    }

    @Test func aCallWithoutStepsHasALine() {
        #expect(Self.explained(nil) == "#7 …")
    }

    @Test func aRunningCallSaysSo() {
        #expect(
            Self.explained(Self.step("retry", for: nil, steps: [Self.step("Wire", for: nil)]), for: 3) == """
                #7 (for #3) GET https://a.example/ … running
                retry                                       running
                  Wire                                      running
                """
        )
    }

    @Test func whatWasLeftOutIsCounted() {
        let step = Self.step("Wire", response: Message(status: 204))
        #expect(Self.explained(step, omitted: 12).hasSuffix("\n… 12 steps, notes and fields are omitted"))
    }

    @Test func aCancellationIsNamedWhereItBegan() {
        let failure = JournalCall.cancelled
        let inner = Self.step("Wire", for: .milliseconds(5), error: failure)
        #expect(
            Self.explained(Self.step("retry", for: .milliseconds(5), error: failure, steps: [inner])) == """
                #7 GET https://a.example/ → cancelled, 5.00 ms
                retry                                       0 µs
                  Wire                                      5.00 ms
                    ↑ cancelled
                """
        )
    }

    @Test(arguments: [
        (JournalCall.Body(), "0 bytes"), (JournalCall.Body(size: nil), "no bytes"),
        (JournalCall.Body(isStream: true, size: nil), "a stream"),
        (JournalCall.Body(isStream: true, size: 3), "a stream of 3 bytes"),
        (JournalCall.Body(size: 5, text: "hello"), "5 bytes: hello"),
        (JournalCall.Body(size: 9, text: "hello", isCut: true), "9 bytes: hello…"),
        (JournalCall.Body(size: 9, text: "a\r\n  b\tc"), "9 bytes: a b c"),
        (JournalCall.Body(size: 9, text: "a\u{1B}[2Jb"), "9 bytes: a\\u{1B}[2Jb"),
        (
            JournalCall.Body(size: 500, text: String(repeating: "x", count: 500)),
            "500 bytes: \(String(repeating: "x", count: 100))…"
        ),
    ])
    func aBodyIsShownOnOneLine(body: JournalCall.Body, text: String) {
        let response = Message(status: 200, body: body)
        #expect(Self.explained(Self.step("Wire", response: response)).hasSuffix("\n  ↑ 200 OK, \(text)"))
    }

    @Test func aNameOrValueCanNotForgeALine() {
        var request = Self.request
        request.fields = [Field(name: "X-A", value: "a\n#8 GET https://b.example/")]
        let text = Self.explained(Self.step("Wire\n#9", request, response: Message(status: 200)))
        #expect(text.split(separator: "\n").count == 4)
        #expect(!text.contains("\n#"))
    }

    @Test func ownTimeCountsBranchesThatOverlapOnce() {
        func branch(_ start: Int, _ end: Int?) -> Step {
            Self.step("Wire", from: .seconds(start), for: end.map { .seconds($0 - start) })
        }
        func own(_ branches: [Step]) -> Duration? {
            Self.step("hedge", for: .seconds(10), steps: branches).ownDuration
        }
        #expect(own([]) == .seconds(10))
        #expect(own([branch(1, 4), branch(2, 6)]) == .seconds(5))
        #expect(own([branch(2, 6), branch(1, 8)]) == .seconds(3))
        #expect(own([branch(1, nil)]) == .seconds(1))
        // A step that outlived this one, and one that began afterwards.
        #expect(own([branch(8, 30), branch(20, 21)]) == .seconds(8))
        #expect(Self.step("hedge", for: nil).ownDuration == nil)
    }
}
