import TestSupport
import Testing

@testable import Interceptors

/// The decisions of an upload of 100 bytes, without a network.
@Suite(.againstHanging) struct UploadPlanTests {
    private func plan(_ kind: UploadProtocol, sent: Int64 = 60, maxAttempts: Int = 5) -> UploadPlan {
        let resuming: UploadResuming =
            kind == .draft
            ? .draft(maxAttempts: maxAttempts) : .tus(creation: .withContent, maxAttempts: maxAttempts)
        var plan = UploadPlan(kind, length: 100, resuming: resuming, isRepeatable: false)
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
        arguments: [(60, .append(60..<100)), (0, .append(0..<100)), (61, .fail(.offsetBeyondSent))]
            + [(101, .fail(.offsetBeyondLength)), (nil, .fail(.offsetMissing))] as [(Int64?, UploadStep)]
    )
    func theOffsetDecidesAboutTheNextPart(offset: Int64?, step: UploadStep) {
        for kind in [UploadProtocol.draft, .tus] {
            var plan = plan(kind)
            plan.proceed(after: answer(200, offset))
            #expect(plan.step == step)
            #expect(!plan.waits)
        }
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
        var plan = UploadPlan(.draft, length: 100, resuming: .draft, isRepeatable: false)
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

        var made = UploadPlan(.draft, length: 100, resuming: .draft(partLimit: 10), isRepeatable: false)
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
        var plan = plan(.draft, sent: 100, maxAttempts: 3)
        for _ in 0..<10 where plan.step == .askForOffset || plan.step == .append(100..<100) {
            if plan.step == .askForOffset, plan.attemptsWithoutProgress < 2 {
                plan.proceed(after: answer(204, 100, complete: true))
            } else {
                let end = status.map { UploadOutcome.End.answered(UploadAnswer(status: $0)) }
                plan.proceed(after: UploadOutcome(end: end ?? .failed(isTemporary: true, sentNothing: false)))
            }
        }
        #expect(plan.step == .finishWithOffset)
    }

    @Test func anUploadThatIsCompleteAtTheServerDoesNotExpire() {
        var plan = UploadPlan(.draft, length: 100, resuming: .draft, isRepeatable: true)
        plan.name()
        plan.proceed(after: UploadOutcome(end: .failed(isTemporary: true, sentNothing: false)))
        plan.limits.expiry = 10
        var early = plan
        early.expire(at: 9)
        #expect(early.step == .askForOffset)
        var expired = plan
        expired.expire(at: 10)
        #expect(expired.step == .create(0..<100))
        plan.proceed(after: answer(204, 100, complete: true))
        plan.expire(at: 10)
        #expect(plan.step == .append(100..<100))
    }

    @Test func anInterimOffsetIsProgress() {
        var plan = plan(.draft, maxAttempts: 3)
        for offset in stride(from: Int64(2), through: 40, by: 2) {
            plan.proceed(after: answer(204, offset))
            guard case .append = plan.step else { break }
            plan.note(interimOffset: offset + 1)
            plan.proceed(after: UploadOutcome(end: .failed(isTemporary: true, sentNothing: false), sent: 2))
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
            var asked = plan(kind)
            asked.proceed(after: answer(status))
            #expect(asked.step == .giveUp)
            var appended = plan(kind)
            appended.proceed(after: answer(204, 40))
            appended.proceed(after: answer(status))
            #expect(appended.step == .giveUp)
        }
    }

    @Test func aSuccessWithoutNewBytesIsCounted() {
        var plan = plan(.tus, maxAttempts: 3)
        plan.proceed(after: answer(200, 0))
        for _ in 0..<2 {
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
}

/// How the fields of a response are read.
@Suite(.againstHanging) struct UploadAnswerTests {
    @Test func theFieldsOfTheDraftAreRead() {
        let answer = UploadAnswer(
            104,
            [
                "Upload-Offset": "7", "Upload-Complete": "?0", "Upload-Length": "9",
                "Upload-Draft-Interop-Version": "8",
                "Upload-Limit": "max-size=100, max-append-size=10, min-append-size=5, max-age=3600, other=\"x\"",
            ],
            .draft,
            now: 1_000
        )
        #expect(answer.offset == 7 && answer.length == 9 && answer.isComplete == false && answer.hasVersion)
        #expect(answer.limits.maxSize == 100)
        #expect(answer.limits.maxAppendSize == 10)
        #expect(answer.limits.minAppendSize == 5)
    }

    @Test(arguments: ["-1", "x", "1.0", "", "1, 1", "9999999999999999999"]) func anInvalidOffsetIsMissing(text: String)
    {
        for kind in [UploadProtocol.draft, .tus] {
            #expect(UploadAnswer(200, ["Upload-Offset": text], kind, now: 0).offset == nil)
        }
    }

    @Test func twoOffsetsAreNone() {
        var fields: HTTPFields = ["Upload-Offset": "5"]
        fields.append("Upload-Offset", "5")
        #expect(UploadAnswer(200, fields, .draft, now: 0).offset == nil)
    }

    @Test(arguments: [
        "max-size=10, max-append-size=?1", "max-size=10, min-size=1.5", "max-size=10 max-age=1", "max-size",
    ])
    func aWrongLimitMakesTheFieldInvalid(text: String) {
        #expect(UploadLimits(draft: ["Upload-Limit": text], now: 0) == UploadLimits())
    }

    @Test func aLimitOfNoBytesDoesNotCount() {
        #expect(UploadLimits(draft: ["Upload-Limit": "max-append-size=0"], now: 0).maxAppendSize == nil)
    }

    @Test func theMaximumOfTusIsRead() {
        #expect(UploadAnswer(413, ["Tus-Max-Size": "50"], .tus, now: 0).limits.maxSize == 50)
    }
}
