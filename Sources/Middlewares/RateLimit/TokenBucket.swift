/// A token bucket: a token comes in each interval, up to a number of them, and each request takes one.
///
/// It is kept as the time at which it is going to be full (the generic cell rate algorithm): nothing has to be filled up,
/// and nothing is rounded.
struct TokenBucket: Sendable, Hashable {
    /// The time between two tokens.
    let interval: Duration
    /// The most tokens.
    let capacity: Int
    private var full = Duration.zero

    /// A full bucket.
    init(interval: Duration, capacity: Int) {
        self.interval = interval
        self.capacity = capacity
    }

    /// Whether it holds all the tokens it can, as a new one does.
    func isFull(at now: Duration) -> Bool { full <= now }

    /// How long until a token is there for the one before whom so many take one.
    func wait(at now: Duration, behind others: Int = 0) -> Duration {
        // An empty bucket has its first token an interval later, and is full again `capacity` intervals later.
        let due = max(full, now) + interval * others - interval * (capacity - 1)
        return max(.zero, due - now)
    }

    /// Takes a token, even one that is not there yet: then the next ones come later.
    mutating func take(at now: Duration) { full = max(full, now) + interval }
}
