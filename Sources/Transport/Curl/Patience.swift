#if os(Linux)
/// Whether to wait for more of a stream before its reader is woken: when so much has come in more than one turn that it flows.
///
/// A message that nothing follows until its reader has answered would wait in vain, for a millisecond. So each time that it
/// was in vain, twice as many turns must have brought much before the next time.
struct Patience {
    private static let least = 1
    private static let most = 1024
    // Long enough that there is probably more where it came from.
    private static let longTurn = 16 * 1024

    private var needed = least
    private var longTurns = 0
    private var hasWaited = false

    /// After a turn of the loop that brought so many bytes.
    mutating func expectsMore(afterTurnOf bytes: Int) -> Bool {
        guard bytes >= Self.longTurn else {
            // A little more is a part of the flow, too, but no reason to wait for the next.
            if bytes == 0 {
                longTurns = 0
                if hasWaited { needed = min(Self.most, needed * 2) }
            }
            hasWaited = false
            return false
        }
        longTurns += 1
        hasWaited = longTurns > needed
        return hasWaited
    }

    /// There came so much that the reader was woken for that.
    mutating func wasRewarded() {
        (needed, hasWaited) = (Self.least, false)
    }
}
#endif
