/// Which of two tries of a request wins: a value that decides, and does nothing.
struct HedgeRace<Answer> {
    /// One of the tries.
    enum Try: Int, Sendable { case first = 1, second }

    /// What an answer is worth.
    enum Worth: Sendable {
        /// It wins.
        case good
        /// It wins unless the other one is good.
        case bad
        /// The same, but it can't wait to be compared: it is a stream, and holds what the other try may need to go on.
        case badStream
        /// It ends the race, whatever the other one would say: a cancellation.
        case final
    }

    /// What is to be done.
    enum Step {
        case wait
        case startSecond
        /// It is over: that try wins, and the answer of the other one, if there is one, is to be discarded.
        case finish(Try, Answer, discarded: Answer?)
        /// It was over already: the answer is to be discarded.
        case discard(Answer)
    }

    private var running: Set<Try> = [.first]
    private var held: Answer?
    private var isOver = false
    /// Whether there was a second try.
    private(set) var hasSecond = false

    /// The delay is over.
    ///
    /// - Parameter mayHedge: asked last, whether another try may be made.
    mutating func delayIsOver(mayHedge: () -> Bool) -> Step {
        guard !isOver, !hasSecond, running.contains(.first), mayHedge() else { return .wait }
        hasSecond = true
        running.insert(.second)
        return .startSecond
    }

    /// A try was answered.
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
        // Where both are bad, the caller gets what it would have got without a second try.
        return worth != .good && worth != .final && number == .second
            ? .finish(.first, other, discarded: answer) : .finish(number, answer, discarded: other)
    }
}
