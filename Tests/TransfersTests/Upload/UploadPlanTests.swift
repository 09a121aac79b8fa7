import InterceptorsCore
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTransfers

/// The decisions of an upload of 100 bytes, without a network.
@Suite(.againstHanging) struct UploadPlanTests {
    private func plan(_ kind: UploadProtocol, sent: Int64 = 60, answers: Int = 5) -> UploadPlan {
        var resuming: UploadResuming = kind == .draft ? .draft : .tus(startsEmpty: false)
        resuming.answerLimit = answers
        var plan = UploadPlan(length: 100, resuming: resuming, isRepeatable: false)
        plan.name()
        plan.proceed(after: UploadOutcome(end: .failed(isTemporary: true, sentNothing: false), sent: sent))
        #expect(plan.step == .askForOffset)
        return plan
    }

    private func answer(_ status: Int = 204, _ offset: Int64? = nil, complete: Bool? = nil) -> UploadOutcome {
        UploadOutcome(
            end: .answered(UploadAnswer(status: status, offset: offset, isComplete: complete, hasVersion: true))
        )
    }

    @Test(
        arguments: [(60, .append(60..<100)), (0, .append(0..<100)), (101, .fail(.offsetBeyondLength))]
            + [(nil, .fail(.offsetMissing))] as [(Int64?, UploadStep)]
    )
    func theOffsetDecidesAboutTheNextPart(offset: Int64?, step: UploadStep) {
        for kind in [UploadProtocol.draft, .tus] {
            var plan = plan(kind)
            plan.proceed(after: answer(200, offset))
            #expect(plan.step == step)
            #expect(!plan.waits)
        }
    }

    @Test func offsetBeyondTheSentBytesIsAllowedByTheDraftAlone() {
        var draft = plan(.draft)
        draft.proceed(after: answer(200, 61))
        #expect(draft.step == .append(61..<100))
        var tus = plan(.tus)
        tus.proceed(after: answer(200, 61))
        #expect(tus.step == .fail(.offsetBeyondSent))
    }

    @Test func draftGoesOnFromAnOffsetThatWasNeverSent() {
        // Nothing was sent, and the server has all of it from elsewhere.
        var plan = plan(.draft, sent: 0)
        plan.proceed(after: answer(200, 100))
        #expect(plan.step == .append(100..<100))
        plan.proceed(after: answer(404))
        #expect(plan.step == .fail(.forgotten), "it may be complete")
    }

    @Test func refusalOfAQuestionByTusSaysThatTheUploadIsGone() {
        var asked = plan(.tus)
        asked.proceed(after: answer(403))
        #expect(asked.step == .create(0..<100))
        var sent = plan(.tus, sent: 100)
        sent.proceed(after: answer(403))
        #expect(sent.step == .fail(.forgotten))
    }

    // MARK: Progress

    /// Fails without a response for as long as the plan asks on. Each question gets the same offset.
    private func fail(_ plan: inout UploadPlan, interimOffset: Int64? = nil) -> Duration {
        var now = Duration.zero
        for _ in 0..<30 where plan.isOngoing {
            now += .seconds(10)
            let end = UploadOutcome.End.failed(isTemporary: true, sentNothing: false)
            if case .append = plan.step {
                if let interimOffset { plan.note(interimOffset: interimOffset) }
                plan.proceed(after: UploadOutcome(end: end, sent: 0), at: now)
            } else {
                plan.proceed(after: answer(204, 40), at: now)
            }
        }
        return now
    }

    @Test(arguments: [UploadProtocol.draft, .tus]) func offsetThatDoesNotMoveIsNoProgress(kind: UploadProtocol) {
        var plan = plan(kind)
        let end = fail(&plan)
        #expect(plan.step == .giveUp)
        // The question at 10 s brings 40 bytes. The first failure after it is at 20 s.
        #expect(end == .seconds(140))
    }

    @Test func interimOffsetThatDoesNotMoveIsNoProgress() {
        var plan = plan(.draft)
        let end = fail(&plan, interimOffset: 40)
        #expect(plan.step == .giveUp)
        #expect(end == .seconds(140))
    }

    @Test(arguments: [UploadProtocol.draft, .tus])
    func acknowledgementThatDoesNotMoveComesBeforeAWait(kind: UploadProtocol) {
        var plan = plan(kind)
        plan.limits.maxAppendSize = 10
        plan.proceed(after: answer(204, 40))
        #expect(!plan.waits)
        plan.proceed(after: answer(204, 40))
        #expect(plan.step == .append(40..<50) && plan.waits)
        plan.proceed(after: answer(204, 50))
        #expect(plan.step == .append(50..<60) && !plan.waits)
    }

    @Test func partThatIsTooLargeIsAskedAbout() {
        var plan = plan(.draft)
        plan.proceed(after: answer(204, 40))
        var refusal = UploadAnswer(status: 413)
        refusal.limits.maxAppendSize = 10
        plan.proceed(after: UploadOutcome(end: .answered(refusal), sent: 0))
        #expect(plan.step == .askForOffset && plan.waits)
        plan.proceed(after: answer(204, 45))
        #expect(plan.step == .append(45..<55))
        plan.proceed(after: answer(413))
        #expect(plan.step == .giveUp, "without a smaller limit")
    }

    @Test func theOffsetNeverDecreases() {
        for kind in [UploadProtocol.draft, .tus] {
            var plan = plan(kind)
            plan.proceed(after: answer(200, 40))
            plan.proceed(after: UploadOutcome(end: .failed(isTemporary: true, sentNothing: false)))
            plan.proceed(after: answer(200, 39))
            #expect(plan.step == .fail(.offsetDecreased))
        }
    }

    @Test func anUploadThatNothingWasSentForStartsOver() {
        var plan = UploadPlan(length: 100, resuming: .draft, isRepeatable: false)
        plan.name()
        let unsent = UploadOutcome(end: .failed(isTemporary: true, sentNothing: true), sent: 0)
        plan.proceed(after: unsent)
        plan.proceed(after: answer(404))
        #expect(plan.step == .create(0..<100))
        plan.name()
        plan.proceed(after: UploadOutcome(end: .failed(isTemporary: true, sentNothing: false), sent: 60))
        plan.proceed(after: answer(404))
        #expect(plan.step == .fail(.forgotten), "once")
    }

    @Test func anInterimOffsetCountsAsAcknowledged() {
        var plan = plan(.draft)
        plan.note(interimOffset: 30)
        plan.proceed(after: answer(204, 29))
        #expect(plan.step == .fail(.offsetDecreased))
    }

    @Test func anotherLengthEndsTheUpload() {
        var plan = plan(.draft)
        var other = UploadAnswer(status: 204, offset: 10)
        other.length = 99
        plan.proceed(after: UploadOutcome(end: .answered(other)))
        #expect(plan.step == .fail(.lengthChanged))
    }

    @Test func completeWithoutTheWholeContentIsNoSuccess() {
        var asked = plan(.draft)
        asked.proceed(after: answer(204, 60, complete: true))
        #expect(asked.step == .fail(.completeTooEarly))

        var made = UploadPlan(length: 100, resuming: .draft(partLimit: 10), isRepeatable: false)
        made.name()
        made.proceed(after: answer(200, complete: true))
        #expect(made.step == .fail(.completeTooEarly))
    }

    @Test func completeAtAnotherOffsetOrLengthIsNoSuccess() {
        for isOffset in [true, false] {
            var plan = plan(.draft)
            plan.proceed(after: answer(204, 60))
            var last = UploadAnswer(status: 200, offset: isOffset ? 90 : nil, isComplete: true)
            last.length = isOffset ? nil : 99
            plan.proceed(after: UploadOutcome(end: .answered(last), sent: 40))
            #expect(plan.step == .fail(isOffset ? .completeTooEarly : .lengthChanged))
        }
    }

    @Test(arguments: [404, 410, 503, nil]) func anUploadThatIsCompleteAtTheServerNeverStartsOver(status: Int?) {
        var plan = plan(.draft, sent: 100, answers: 3)
        for round in 0..<10 where plan.step == .askForOffset || plan.step == .append(100..<100) {
            let now = Duration.seconds(30 * round)
            if plan.step == .askForOffset, plan.patience.failures < 2 {
                plan.proceed(after: answer(204, 100, complete: true), at: now)
            } else {
                let end = status.map { UploadOutcome.End.answered(UploadAnswer(status: $0)) }
                plan.proceed(after: UploadOutcome(end: end ?? .failed(isTemporary: true, sentNothing: false)), at: now)
            }
        }
        #expect(plan.step == .finishWithOffset)
    }

    @Test func anInterimOffsetIsProgress() {
        var plan = plan(.draft, answers: 3)
        for offset in stride(from: Int64(2), through: 40, by: 2) {
            plan.proceed(after: answer(204, offset))
            guard case .append = plan.step else { break }
            plan.note(interimOffset: offset + 1)
            let outcome = UploadOutcome(end: .failed(isTemporary: true, sentNothing: false), sent: 2)
            plan.proceed(after: outcome, at: .seconds(30 * offset))
        }
        #expect(plan.step == .askForOffset)
    }

    @Test func anErrorOfTheTargetIsTheResult() {
        var plan = plan(.draft)
        plan.proceed(after: answer(204, 60))
        plan.proceed(after: answer(503, complete: true))
        #expect(plan.step == .finish)
    }

    @Test func aMismatchSaysWhereToGoOn() {
        var draft = plan(.draft)
        draft.proceed(after: answer(204, 40))
        draft.proceed(after: answer(409, 55))
        #expect(draft.step == .append(55..<100) && draft.waits)

        var tus = plan(.tus)
        tus.proceed(after: answer(204, 40))
        tus.proceed(after: answer(409, 55))
        #expect(tus.step == .askForOffset && tus.waits)
    }

    @Test(arguments: [400, 401, 403, 405, 411, 415, 422, 301]) func aRefusalEndsTheUpload(status: Int) {
        for kind in [UploadProtocol.draft, .tus] {
            if kind == .draft || status != 403 {
                var asked = plan(kind)
                asked.proceed(after: answer(status))
                #expect(asked.step == .giveUp)
            }
            var appended = plan(kind)
            appended.proceed(after: answer(204, 40))
            appended.proceed(after: answer(status))
            #expect(appended.step == .giveUp)
        }
    }

    @Test func aSuccessWithoutNewBytesIsCounted() {
        var plan = plan(.tus, answers: 3)
        plan.proceed(after: answer(200, 0))
        for _ in 0..<3 {
            #expect(plan.step == .append(0..<100))
            plan.proceed(after: answer(204, 0))
        }
        #expect(plan.step == .giveUp)
    }

    @Test func aLastPartWithoutAWordOfTheEndIsAskedAbout() {
        var plan = plan(.draft)
        plan.proceed(after: answer(204, 60))
        plan.proceed(after: answer(200))
        #expect(plan.step == .askForOffset)
    }

    @Test(
        arguments: [
            (nil, nil, .max, 0..<100), (30, nil, .max, 0..<30), (nil, nil, 30, 0..<30), (30, nil, 40, 0..<30),
            (nil, 50, 30, 0..<50), (60, 50, 30, 0..<50), (100, nil, .max, 0..<100), (.max, nil, .max, 0..<100),
        ] as [(Int64?, Int64?, Int64, Range<Int64>)]
    )
    func limitsBoundAPart(most: Int64?, least: Int64?, own: Int64, part: Range<Int64>) {
        var limits = UploadLimits()
        (limits.maxAppendSize, limits.minAppendSize) = (most, least)
        #expect(limits.part(from: 0, of: 100, upTo: own) == part)
    }

    @Test func aPartNearTheEndOfAHugeContentDoesNotOverflow() {
        #expect(UploadLimits().part(from: .max - 1, of: .max, upTo: .max) == (.max - 1)..<(.max))
    }

    @Test(arguments: [nil, 0, -5] as [Int64?]) func aPartIsNeverEmpty(leastSize: Int64?) {
        var limits = UploadLimits()
        limits.minAppendSize = leastSize
        for most: Int64 in [0, -1, .min] { #expect(limits.part(from: 3, of: 10, upTo: most) == 3..<4) }
    }
}

extension UploadPlan {
    /// Decides at the beginning of the upload.
    fileprivate mutating func proceed(after outcome: UploadOutcome) { proceed(after: outcome, at: .zero) }
}

/// How the fields of a response are read.
@Suite(.againstHanging) struct UploadAnswerTests {
    @Test func theFieldsOfTheDraftAreRead() {
        let answer = UploadAnswer(
            104,
            [
                "Upload-Offset": "7", "Upload-Complete": "?0", "Upload-Length": "9",
                "Upload-Draft-Interop-Version": "8",
                "Upload-Limit": "max-size=100, max-append-size=10, min-append-size=5, other=\"x\"",
            ],
            .draft
        )
        #expect(answer.offset == 7 && answer.length == 9 && answer.isComplete == false && answer.hasVersion)
        #expect(answer.limits.maxSize == 100)
        #expect(answer.limits.maxAppendSize == 10)
        #expect(answer.limits.minAppendSize == 5)
    }

    @Test(arguments: ["-1", "+1", "x", "1.0", "", "1, 1", "9999999999999999"])
    func anInvalidOffsetIsMissing(text: String) {
        for kind in [UploadProtocol.draft, .tus] {
            #expect(UploadAnswer(200, ["Upload-Offset": text], kind).offset == nil)
        }
    }

    @Test func twoOffsetsAreNone() {
        var fields: HTTPFields = ["Upload-Offset": "5"]
        fields.append("Upload-Offset", "5")
        #expect(UploadAnswer(200, fields, .draft).offset == nil)
    }

    @Test(arguments: [
        "max-size=10, max-append-size=?1", "max-size=10, min-size=1.5", "max-size=10 min-size=1", "max-size",
        "max-size;a=5",
    ])
    func aWrongLimitMakesTheFieldInvalid(text: String) {
        #expect(UploadLimits(draft: ["Upload-Limit": text]) == UploadLimits())
    }

    @Test func otherMembersOfTheLimitsAreSkipped() {
        let text = #"a;x, max-size=10;y="1", b=?0 ,c="1, d=2";y=1,*x_.-=:aa==:, e=(1 "two")"#
        var limits = UploadLimits()
        limits.maxSize = 10
        #expect(UploadLimits(draft: ["Upload-Limit": text]) == limits)
    }

    @Test(arguments: [("?1", true), ("?0;a=1", false), ("1", nil), ("?2", nil), ("", nil)] as [(String, Bool?)])
    func theEndOfAnUploadIsABoolean(text: String, isComplete: Bool?) {
        #expect(UploadAnswer(200, ["Upload-Complete": text], .draft).isComplete == isComplete)
    }

    @Test(arguments: [("007", 7), ("42; a=1", 42), ("999999999999999", 999_999_999_999_999)] as [(String, Int64)])
    func anOffsetIsAnInteger(text: String, offset: Int64) {
        #expect(UploadAnswer(200, ["Upload-Offset": text], .draft).offset == offset)
    }

    @Test func aLimitOfNoBytesDoesNotCount() {
        #expect(UploadLimits(draft: ["Upload-Limit": "max-append-size=0"]).maxAppendSize == nil)
    }

    @Test func theMaximumOfTusIsRead() {
        #expect(UploadAnswer(413, ["Tus-Max-Size": "50"], .tus).limits.maxSize == 50)
    }
}
