import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsCore
@testable import InterceptorsInsight

@Suite(.againstHanging) struct JournalLimitTests {
    @Test func beyondTheLimitTheOldestCallGoes() async throws {
        let fixture = JournalFixture([Pass()], limit: 3)
        for number in 1...10 { try await fixture.send("/\(number)") }
        #expect(fixture.journal.calls.map(\.id) == [8, 9, 10])
        #expect(fixture.journal[7] == nil)
        #expect(fixture.journal[8]?.root?.request.url == "https://a.example/8")
        #expect("\(fixture.journal)" == "Journal(3 calls)")
    }

    @Test func aJournalWithoutRoomRecordsNothingAndSends() async throws {
        for (limit, byteLimit) in [(0, 1 << 20), (-1, 1 << 20), (10, 0), (10, -1)] {
            let fixture = JournalFixture([Pass()], limit: limit, byteLimit: byteLimit)
            try await fixture.send()
            #expect(fixture.stub.requests.count == 1)
            #expect(fixture.journal.calls.isEmpty)
            #expect(fixture.journal.byteCount == 0)
        }
    }

    @Test func beyondTheByteLimitTheOldestCallsGo() async throws {
        let fixture = JournalFixture([Pass(), Pass()], byteLimit: 32 << 10) { _ in
            HTTPResponse(status: 200, body: HTTPBody(String(repeating: "x", count: 800)))
        }
        for _ in 0..<200 { try await fixture.send() }
        #expect(fixture.journal.byteCount <= 32 << 10)
        #expect(fixture.journal.byteCount > 16 << 10)
        #expect(fixture.journal.calls.last?.id == 200)
        #expect(fixture.journal.calls.allSatisfy { $0.root != nil && $0.omittedCount == 0 })
    }

    @Test func aCallThatNeverEndsIsDroppedLikeAnyOther() async throws {
        let (arrived, release) = (Tally(), Latch())
        let fixture = JournalFixture([Pass()], limit: 2) { request in
            if request.url.path == "/endless" {
                arrived.count()
                await release.opened()
            }
            return HTTPResponse(status: 204)
        }
        let task = Task { _ = try await fixture.send("/endless") }
        await arrived.reached(1)
        #expect(fixture.journal.calls.first?.duration == nil)
        for _ in 0..<3 { try await fixture.send() }
        #expect(fixture.journal.calls.map(\.id) == [3, 4])
        let size = fixture.journal.byteCount
        release.open()
        try await task.value
        #expect(fixture.journal.byteCount == size)
        #expect(fixture.journal.calls.map(\.id) == [3, 4])
    }

    @Test func removingAllCallsForgetsRunningOnesToo() async throws {
        let (arrived, release) = (Latch(), Latch())
        let fixture = JournalFixture([Twice(), Pass()]) { _ in
            arrived.open()
            await release.opened()
            return HTTPResponse(status: 204)
        }
        let task = Task { _ = try await fixture.send() }
        await arrived.opened()
        fixture.journal.removeAll()
        #expect(fixture.journal.calls.isEmpty)
        #expect(fixture.journal.byteCount == 0)
        release.open()
        try await task.value
        #expect(fixture.journal.calls.isEmpty)
        #expect(fixture.journal.byteCount == 0)
        try await fixture.send()
        #expect(fixture.journal.calls.map(\.id) == [2])
    }

    @Test func aLoopKeepsItsFirstAndItsLastAttempts() async throws {
        let count = 10_000
        let loop: AnyInterceptor = .intercept { request, next in
            let (request, step) = (request, request.context.observedStep)
            for number in 1..<count {
                var attempt = request
                attempt.headers["X-Attempt"] = "\(number)"
                try await next(attempt).body.discard()
                step?.add(CallNote("again", "attempt \(number + 1)"))
            }
            var attempt = request
            attempt.headers["X-Attempt"] = "\(count)"
            return try await next(attempt)
        }
        // A transport that keeps no requests.
        struct Canned: Transport {
            func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse { HTTPResponse(status: 503) }
        }
        let journal = Journal(byteLimit: 1 << 20)
        let chain = InterceptorChain([Pass(), loop, Pass()], transport: Canned(), observer: journal)
        _ = try await chain.send(HTTPRequest(string: "https://a.example/"))
        let call = try #require(journal.calls.first)
        let numbers = call.attempts.compactMap { Int($0.request.fields.last?.value ?? "") }
        #expect(numbers.first == 1)
        #expect(numbers.last == count)
        #expect(numbers == numbers.sorted())
        #expect(numbers.count < count)
        let step = try #require(call.root?.steps.first)
        #expect(step.notes.last?.text == "attempt \(count)")
        // Each attempt has two steps, of which the limit may omit one, and all but the last a note.
        let kept = step.steps.count + numbers.count + step.notes.count
        #expect(call.omittedCount + kept == 3 * count - 1)
        #expect(call.root?.response?.status == 503)
        #expect(call.root?.duration != nil)
        #expect(journal.byteCount < 100 << 10)
        #expect(call.explained.contains("\(call.omittedCount) steps, notes and fields are omitted"))
    }

    @Test func hugeFieldsAreCut() async throws {
        let fixture = JournalFixture([Pass()]) { _ in
            HTTPResponse(
                status: 200,
                headers: HTTPFields((0..<1_000).map { HTTPField(unchecked: "X-N", "\($0)") })
            )
        }
        try await fixture.send { $0.headers["X-Long"] = String(repeating: "x", count: 100_000) }
        let call = try #require(fixture.journal.calls.first)
        #expect(call.root?.request.fields.first.map(\.value.utf8.count) == (8 << 10) + 3)
        #expect(call.root?.response?.fields.count == 256)
        #expect(call.omittedCount == 744)
    }

    @Test func aHugeBodyLimitLeavesRoomForTheRestOfTheCall() async throws {
        let journal = Journal(bodyLimit: 1 << 20, redaction: .standard.showingOtherText)
        let (first, second) = (String(repeating: "a", count: 1_200_000), String(repeating: "b", count: 600_000))
        let chain = InterceptorChain(
            [
                .intercept { request, next in
                    request.body = HTTPBody(second)
                    return try await next(request)
                }, Pass(),
            ],
            transport: StubTransport { _ in HTTPResponse(status: 200, headers: ["A": "b"], body: HTTPBody(first))
            },
            observer: journal
        )
        var request = try HTTPRequest(string: "https://a.example/")
        (request.method, request.body) = (.post, HTTPBody(first))
        _ = try await chain.send(request)
        let call = try #require(journal.calls.first)
        #expect(call.root?.request.body.text?.utf8.count == 1 << 16)
        #expect(call.root?.response?.fields.map(\.name) == ["A"])
        #expect(call.root?.response?.body.size == 1_200_000)
        #expect(call.attempts.count == 1 && call.omittedCount == 0)
    }

    @Test func aCallWithoutRoomSaysSo() async throws {
        // Each of the steps changes much, so that the ends of the outer ones find no room.
        let text = String(repeating: "a", count: 4_000)
        let count = Shared(0)
        let wordy: any Interceptor = .intercept { request, next in
            for index in 0..<10 { request.headers[.init(stringLiteral: "X-\(index)")] = text }
            request.body = HTTPBody(text + "\(request.headers.count)")
            var response = try await next(request)
            count.value += 1
            response.body = HTTPBody("\(count.value)" + text)
            for index in 0..<10 { response.headers[.init(stringLiteral: "X-\(index)")] = "\(count.value)" + text }
            return response
        }
        let fixture = JournalFixture(Array(repeating: wordy, count: 60), byteLimit: 1 << 20) { _ in
            HTTPResponse(status: 200, body: "x")
        }
        try await fixture.send()
        let call = try #require(fixture.journal.calls.first)
        let root = try #require(call.root?.response)
        #expect(root.isCut && root.status == 200 && root.body.size == nil)
        #expect(call.omittedCount > 0)
        #expect(call.explained.contains("↑ 200 OK, …") && !call.explained.contains(" 0 bytes"))
        let har = String(decoding: fixture.journal.har(), as: UTF8.self)
        #expect(!har.contains("_fromCache"))
        #expect(fixture.journal.byteCount < 3 << 16)
    }

    @Test func aMessagesFieldsTakeAPartOfACall() async throws {
        let fixture = JournalFixture([Pass()], byteLimit: 1 << 20) { _ in
            HTTPResponse(
                status: 200,
                headers: HTTPFields(
                    (0..<200).map { HTTPField(unchecked: "X-N", String(repeating: "\($0)", count: 500)) }
                )
            )
        }
        try await fixture.send()
        let fields = try #require(fixture.journal.calls.first?.root?.response?.fields)
        #expect(fields.count == 200)
        #expect(fields[0].value.count == 500 && fields[199].value == "…")
    }

    @Test func notesOfStepsThatDidNotFitAreCounted() {
        var steps = JournalSteps(limit: 1_000)
        steps.add(.noted("late"), of: .omitted)
        #expect(steps.omittedCount == 1)
    }

    @Test func messagesThatStepsShareAreCountedOnce() async throws {
        func size(passes: Int) async throws -> Int {
            let fixture = JournalFixture(Array(repeating: Pass(), count: passes)) { _ in
                HTTPResponse(
                    status: 200,
                    headers: ["A": "b"],
                    body: HTTPBody(String(repeating: "x", count: 2_000))
                )
            }
            try await fixture.send { $0.body = HTTPBody(String(repeating: "y", count: 2_000)) }
            return fixture.journal.byteCount
        }
        let size = try await (size(passes: 0), size(passes: 100))
        #expect(size.0 > 4_000)
        #expect(size.1 - size.0 == 100 * MemoryLayout<JournalStep>.stride)
    }

    @Test func aStepThatWasDroppedWithItsPartIgnoresItsEnd() throws {
        let name = JournalName(text: "Pass", isTransport: false, isFirst: false)
        let message = JournalMessage(JournalCall.Message(), size: 100, omittedCount: 0)
        func begin(inside parent: JournalSteps.Location?, _ steps: inout JournalSteps) -> JournalSteps.Location {
            steps.begin(JournalStep(name: name, parent: parent, start: .zero, request: message), isShared: false)
        }
        var steps = JournalSteps(limit: 8_000)
        let root = begin(inside: nil, &steps)
        let all = (0..<1_000).map { _ in begin(inside: root, &steps) }
        // The newest steps of the tail stay, and so does all of the head.
        let kept = steps.parts.flatMap { part in
            part.steps.indices.map { JournalSteps.Location(part: part.number, index: $0) }
        }
        #expect(kept.suffix(3) == all.suffix(3))
        #expect(kept.count + steps.omittedCount == 1_001)
        for step in all {
            steps.end(step, at: .seconds(1), with: .response(message, bodySource: nil), isShared: true)
            steps.add(.noted("late"), of: step)
        }
        #expect(steps.parts.flatMap(\.steps).allSatisfy { $0.parent == nil || $0.duration == .seconds(1) })
        steps.drop()
        #expect(steps.size == 0 && begin(inside: root, &steps) == .omitted)
    }

    @Test func anEndedRunKeepsNoContent() async throws {
        let kept = Shared<(any ObservedStep)?>(nil)
        let fixture = JournalFixture([
            .intercept { request, next in
                kept.value = request.context.observedStep
                return try await next(request)
            }
        ])
        try await fixture.send { $0.body = HTTPBody(String(repeating: "a", count: 1_000)) }
        #expect((kept.value as? JournalVisit)?.isOver == true)
        #expect((kept.value as? JournalVisit)?.beginInner() == nil)
        kept.value?.add("late")
        #expect(fixture.journal.calls.first?.root?.notes.map(\.text) == ["late"])
    }

    @Test func manyTasksRecordAtOnce() async throws {
        let fixture = JournalFixture([Pass(), Twice(), AddField()], limit: 50)
        try await withThrowingTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<50 {
                        try await fixture.send("/\(task)/\(number)")
                        if number % 20 == 19 { _ = fixture.journal.calls.map(\.explained) }
                        if task == 0, number % 25 == 24 { fixture.journal.removeAll() }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(fixture.journal.calls.count <= 50)
        #expect(fixture.journal.calls.allSatisfy { $0.attempts.count == 2 && $0.duration != nil })
        fixture.journal.removeAll()
        #expect(fixture.journal.byteCount == 0)
    }
}
