/// Decides which of two attempts wins, as a value without side effects.
struct HedgeRace<Answer> {
    /// One of the two attempts.
    enum Try: Int, Sendable { case first = 1, second }

    /// The rank of an attempt's outcome.
    enum Worth: Sendable {
        /// Wins at once.
        case good
        /// Wins unless the other attempt is good.
        case bad
        /// Wins only if the other attempt has already ended: an unread stream holds resources that the other attempt may need.
        case badStream
        /// Ends the race, whatever the other attempt brings. A cancellation is final.
        case final
    }

    /// The next action for the interceptor.
    enum Step {
        case wait
        case startSecond
        /// The race is over: return the winner's outcome, and discard the other one, if there is any.
        case finish(Try, Answer, discarded: Answer?)
        /// The race was over already, or a bad stream can't wait: discard this outcome.
        case discard(Answer)
    }

    private var running: Set<Try> = [.first]
    private var held: Answer?
    private var isOver = false
    /// Whether the second attempt was started.
    private(set) var hasSecond = false

    /// Handles the end of the delay.
    ///
    /// - Parameter mayHedge: whether a second attempt is allowed. Called last, because it may withdraw from a budget.
    mutating func delayIsOver(mayHedge: () -> Bool) -> Step {
        guard !isOver, !hasSecond, running.contains(.first), mayHedge() else { return .wait }
        hasSecond = true
        running.insert(.second)
        return .startSecond
    }

    /// Handles the end of an attempt.
    mutating func answer(_ number: Try, _ answer: Answer, _ worth: Worth) -> Step {
        running.remove(number)
        if isOver { return .discard(answer) }
        if !running.isEmpty {
            if worth == .badStream { return .discard(answer) }
            if worth == .bad {
                held = answer
                return .wait
            }
        }
        isOver = true
        guard let other = held else { return .finish(number, answer, discarded: nil) }
        held = nil
        // If both are bad, the caller gets the outcome it would have had without a second attempt.
        return worth != .good && worth != .final && number == .second
            ? .finish(.first, other, discarded: answer) : .finish(number, answer, discarded: other)
    }
}
