#if os(Linux)
/// Decides whether to wait for more of a stream before waking its reader: only after several long iterations in a row, when
/// the stream flows.
///
/// Waiting costs a millisecond in vain if no more follows, as after a message that the server expects a reaction to. After
/// each wait in vain, twice as many long iterations are needed before the next wait.
struct WakeupCoalescer {
    private static let least = 1
    private static let most = 1024
    // The bytes of a long iteration: enough that more is probably on its way.
    private static let longIteration = 16 * 1024

    private var needed = least
    private var longIterations = 0
    private var hasWaited = false

    /// Call it after an iteration of the loop, with the number of bytes that the iteration brought.
    mutating func expectsMore(afterIterationOf bytes: Int) -> Bool {
        guard bytes >= Self.longIteration else {
            // A short iteration is still part of the flow, but no reason to wait for more.
            if bytes == 0 {
                longIterations = 0
                if hasWaited { needed = min(Self.most, needed * 2) }
            }
            hasWaited = false
            return false
        }
        longIterations += 1
        hasWaited = longIterations > needed
        return hasWaited
    }

    /// Call it when the wait paid off: the reader was woken with a full threshold of bytes.
    mutating func wasRewarded() {
        (needed, hasWaited) = (Self.least, false)
    }
}
#endif
