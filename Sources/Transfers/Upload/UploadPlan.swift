internal import Interceptors

/// The next action of an upload.
enum UploadStep: Sendable, Equatable {
    /// Make the upload at the server by a request with this range of the content, possibly an empty one.
    case create(Range<Int64>)
    /// Ask how many bytes the server has.
    case askForOffset
    /// Send a range to the upload. An empty range at the end completes it, and asks for a final response that was lost.
    case append(Range<Int64>)
    /// The last response is the result.
    case finish
    /// The response to the last question for the offset is the result, because the server doesn't repeat the final response.
    case finishWithOffset
    /// The upload ends with the last error or response.
    case giveUp
    /// The upload ends with a `TransferError`.
    case fail(UploadFault)
}

extension UploadStep {
    /// The range of the content in the request of the step.
    var part: Range<Int64>? {
        switch self {
        case .create(let part), .append(let part): part
        default: nil
        }
    }
}

/// The end of one request of an upload.
struct UploadOutcome: Sendable {
    enum End: Sendable {
        case answered(UploadAnswer)
        /// - Parameters:
        ///   - isTemporary: whether another attempt may succeed.
        ///   - sentNothing: whether no server has seen any of the request.
        case failed(isTemporary: Bool, sentNothing: Bool)
    }

    let end: End
    /// An upper bound of the bytes of its content that the server can have.
    var sent: Int64 = .max
}

extension UploadOutcome.End {
    /// Whether no server has seen any of the request.
    var sentNothing: Bool { if case .failed(_, sentNothing: true) = self { true } else { false } }

    /// Whether the server has refused the content for its size.
    fileprivate var isRefusalOfSize: Bool {
        if case .answered(let answer) = self { answer.status == 413 && answer.isComplete != true } else { false }
    }

    /// The kind of failure, if the attempt makes no progress.
    fileprivate var failure: TransferPatience.Failure {
        guard case .answered(let answer) = self else { return .unanswered }
        return [409, 423].contains(answer.status) ? .locked : .answered
    }
}

/// The decisions of an upload. A value without clock and network: it says which request comes next.
///
/// ```
///                    ┌───────── failed or 5xx, after a wait ─────────┐
///                    ▼                                               │
///  create ──▶ askForOffset ── the server's offset ──▶ append ────────┤
///    │               │                                  │            │
///    │               └── 404, 410: create once more     ├── next part┘
///    └── the whole content was taken ──▶ finish ◀───────┘
/// ```
struct UploadPlan: Sendable {
    let length: Int64
    private let resuming: UploadResuming
    /// Whether the creating request may be repeated although the server may have acted on it.
    private let isRepeatable: Bool

    var limits = UploadLimits()
    /// Whether the upload has a URL.
    private(set) var isNamed: Bool
    /// The bytes that the server has acknowledged.
    private(set) var acknowledged: Int64 = 0
    /// The bytes that the server can have.
    private var sent: Int64
    private var hasStartedOver = false
    /// Whether the server has said that the upload is complete. Only the final response is missing then.
    private var isCompleteAtServer = false
    /// Whether the last request with content was refused with a 413. The upload isn't complete at the server then.
    private var isRefused = false
    private(set) var patience: TransferPatience
    /// The failure of the last attempt, if it brings no progress, and its time.
    private var attempt: (failure: TransferPatience.Failure, time: Duration) = (.unanswered, .zero)
    /// Whether the next step comes after a wait.
    private(set) var waits = false
    private(set) var step: UploadStep

    /// - Parameters:
    ///   - isRepeatable: whether the method of the creating request is idempotent.
    ///   - isContinued: whether an earlier launch made the upload.
    init(length: Int64, resuming: UploadResuming, isRepeatable: Bool, isContinued: Bool = false) {
        self.length = length
        self.resuming = resuming
        patience = TransferPatience(resuming.patience, answerLimit: resuming.answerLimit)
        // An upload of tus without bytes has no effect yet. Without content it is complete at once.
        self.isRepeatable = isRepeatable || resuming.kind == .tus && resuming.startsEmpty && length > 0
        isNamed = isContinued
        // Nobody knows how far an earlier launch came.
        sent = isContinued ? length : 0
        step = .askForOffset
        if !isContinued { step = .create(firstPart) }
    }

    private var kind: UploadProtocol { resuming.kind }

    /// The content of the creating request.
    private var firstPart: Range<Int64> { resuming.startsEmpty ? 0..<0 : nextPart(from: 0) }

    /// The content of a request from an offset on.
    private func nextPart(from offset: Int64) -> Range<Int64> {
        limits.part(from: offset, of: length, upTo: resuming.partLimit)
    }

    /// Whether the request of a step completes the upload.
    func isLast(_ part: Range<Int64>) -> Bool { part.upperBound == length }

    /// Takes over that the server has named the upload.
    mutating func name() { isNamed = true }

    /// Decides about the next step.
    ///
    /// - Parameter now: the time since the upload began.
    mutating func proceed(after outcome: UploadOutcome, at now: Duration) {
        waits = false
        attempt = (outcome.end.failure, now)
        if case .answered(let answer) = outcome.end { limits.take(answer.limits) }
        switch step {
        case .create(let part):
            note(part, outcome)
            step = afterCreation(of: part, outcome.end)
        case .askForOffset: step = afterQuestion(outcome.end)
        case .append(let part):
            note(part, outcome)
            step = afterPart(part, outcome.end)
        default: break
        }
        if let maxSize = limits.maxSize, maxSize < length, isOngoing { step = .fail(.tooLarge) }
    }

    /// Takes over an offset that an interim response names. It must not decrease either.
    mutating func note(interimOffset offset: Int64) {
        guard offset <= length, offset > acknowledged else { return }
        acknowledged = offset
        patience.noteProgress()
    }

    /// Ends the upload, because the next request would come too late.
    mutating func stop() { step = end }

    /// Ends the upload with a fault that the plan can't see.
    mutating func fail(_ fault: UploadFault) { step = .fail(fault) }

    /// Whether the step sends a request.
    var isOngoing: Bool { step == .askForOffset || step.part != nil }

    private mutating func note(_ part: Range<Int64>, _ outcome: UploadOutcome) {
        isRefused = outcome.end.isRefusalOfSize
        sent = max(sent, part.lowerBound + min(part.upperBound - part.lowerBound, max(0, outcome.sent)))
    }
}

extension UploadPlan {
    private mutating func afterCreation(of part: Range<Int64>, _ end: UploadOutcome.End) -> UploadStep {
        switch end {
        case .failed(let isTemporary, let sentNothing):
            guard isTemporary else { return .giveUp }
            if isNamed { return again(.askForOffset) }
            return sentNothing || isRepeatable ? again(.create(part)) : .giveUp
        case .answered(let answer):
            if kind == .draft, answer.isComplete == true { return completion(of: part, answer) }
            if answer.isSuccess { return afterMaking(part, answer) }
            if answer.status == 413, let shorter = shortened(part) {
                return again(isNamed ? .askForOffset : .create(shorter))
            }
            if kind == .tus, answer.status == 412 { return .fail(.unsupported) }
            // A conflict is about the target here, not about the upload.
            guard answer.isTemporary, answer.status != 409, answer.status != 423 else { return .giveUp }
            if isNamed { return again(.askForOffset) }
            return isRepeatable ? again(.create(part)) : .giveUp
        }
    }

    /// The step after a response that says that the upload is complete.
    private func completion(of part: Range<Int64>, _ answer: UploadAnswer) -> UploadStep {
        guard answer.isSuccess else { return .finish }
        guard isLast(part), answer.offset ?? length == length else { return .fail(.completeTooEarly) }
        return answer.length ?? length == length ? .finish : .fail(.lengthChanged)
    }

    /// The step after a success of the creating request that doesn't say that the upload is complete.
    private mutating func afterMaking(_ part: Range<Int64>, _ answer: UploadAnswer) -> UploadStep {
        switch kind {
        case .draft:
            // A server without the protocol answers so too.
            if isLast(part), answer.isComplete == nil { return .finish }
            guard isNamed else { return .fail(.unsupported) }
            // The server has taken the request, and isn't done.
            if isLast(part) { return again(.askForOffset) }
            return afterAcknowledgement(answer.offset ?? part.upperBound, of: part)
        case .tus:
            guard isNamed, answer.hasVersion else { return .fail(.unsupported) }
            // A server without `creation-with-upload` ignores the content.
            return afterAcknowledgement(answer.offset ?? 0, of: part)
        }
    }

    private mutating func afterQuestion(_ end: UploadOutcome.End) -> UploadStep {
        guard case .answered(let answer) = end else { return afterFailure(end) }
        // The answer of tus to a question about an upload that is gone.
        if kind == .tus, answer.status == 403 { return startOver() }
        guard answer.isSuccess else { return afterRefusal(answer) }
        guard let offset = answer.offset else { return .fail(.offsetMissing) }
        if let found = answer.length, found != length { return .fail(.lengthChanged) }
        if let fault = acknowledge(offset) { return .fail(fault) }
        if kind == .draft, answer.isComplete == true {
            guard offset == length else { return .fail(.completeTooEarly) }
            isCompleteAtServer = true
        }
        if kind == .tus, offset == length { return .finish }
        return .append(nextPart(from: offset))
    }

    private mutating func afterPart(_ part: Range<Int64>, _ end: UploadOutcome.End) -> UploadStep {
        guard case .answered(let answer) = end else { return afterFailure(end) }
        if kind == .draft, answer.isComplete == true { return completion(of: part, answer) }
        if isCompleteAtServer { return .finishWithOffset }
        if answer.isSuccess {
            // The draft's last response says that the upload is complete, and that of tus names the offset.
            if kind == .draft && isLast(part) || kind == .tus && answer.offset == nil { return again(.askForOffset) }
            return afterAcknowledgement(answer.offset ?? part.upperBound, of: part)
        }
        if answer.status == 409, let offset = answer.offset, kind == .draft {
            if let fault = acknowledge(offset) { return .fail(fault) }
            return again(.append(nextPart(from: offset)))
        }
        if answer.status == 413, shortened(part) != nil { return again(.askForOffset) }
        return afterRefusal(answer)
    }

    /// The step after a response that acknowledges bytes of a part.
    private mutating func afterAcknowledgement(_ offset: Int64, of part: Range<Int64>) -> UploadStep {
        if let fault = acknowledge(offset) { return .fail(fault) }
        if kind == .tus, offset == length { return .finish }
        let next = UploadStep.append(nextPart(from: offset))
        return offset > part.lowerBound || part.isEmpty && part.lowerBound < length ? next : again(next)
    }

    private mutating func afterFailure(_ end: UploadOutcome.End) -> UploadStep {
        guard case .failed(isTemporary: true, _) = end else { return .giveUp }
        return again(.askForOffset)
    }

    /// The step after a status that isn't a success, of a request to the upload's URL.
    private mutating func afterRefusal(_ answer: UploadAnswer) -> UploadStep {
        switch answer.status {
        case 404, 410: return isCompleteAtServer ? .finishWithOffset : startOver()
        case 412 where kind == .tus: return .fail(.unsupported)
        default: return answer.isTemporary ? again(.askForOffset) : .giveUp
        }
    }

    /// Makes the upload once more, if it can't be complete at the server already.
    private mutating func startOver() -> UploadStep {
        guard canStartOver else { return .fail(isRefused ? .tooLarge : .forgotten) }
        hasStartedOver = true
        (isNamed, acknowledged, sent) = (false, 0, 0)
        return again(.create(firstPart))
    }

    private var canStartOver: Bool {
        !hasStartedOver && !isCompleteAtServer && (sent < length || isRefused || isRepeatable && kind == .draft)
    }

    /// The part that the limits allow, if it is shorter.
    private func shortened(_ part: Range<Int64>) -> Range<Int64>? {
        let allowed = nextPart(from: part.lowerBound)
        return allowed.upperBound < part.upperBound ? allowed : nil
    }

    /// Takes over the server's offset, which never decreases. With tus it is never beyond the bytes that were sent. The draft lets a
    /// client go on that has the bytes, and this one has them all.
    private mutating func acknowledge(_ offset: Int64) -> UploadFault? {
        if offset > length { return .offsetBeyondLength }
        if offset < acknowledged { return .offsetDecreased }
        if offset > sent, kind == .tus { return .offsetBeyondSent }
        sent = max(sent, offset)
        if offset > acknowledged { patience.noteProgress() }
        acknowledged = offset
        return nil
    }

    /// The step after a wait, unless the patience is over.
    private mutating func again(_ next: UploadStep) -> UploadStep {
        patience.note(attempt.failure, at: attempt.time)
        waits = true
        return patience.isOver ? end : next
    }

    /// The end of an upload that makes no more attempts.
    private var end: UploadStep { isCompleteAtServer ? .finishWithOffset : .giveUp }
}

extension UploadAnswer {
    /// Whether the server may accept a later request: a lock of another request, a limit, or a failure.
    fileprivate var isTemporary: Bool {
        switch status {
        case 408, 409, 423, 425, 429, 460, 500...599: true
        default: false
        }
    }
}
