/// A token bucket: gains one token per interval, up to its capacity, and loses one for each request.
///
/// The only state is the time at which the bucket will be full (the generic cell rate algorithm). So nothing is refilled,
/// and nothing is rounded.
struct TokenBucket: Sendable, Hashable {
    /// The time in which the bucket gains one token.
    let interval: Duration
    /// The maximum number of tokens.
    let capacity: Int
    private var full = Duration.zero

    /// Creates a full bucket.
    init(interval: Duration, capacity: Int) {
        self.interval = interval
        self.capacity = capacity
    }

    /// Whether the bucket is full, as a new one is.
    func isFull(at now: Duration) -> Bool { full <= now }

    /// The time until a token is available for a request with this many others before it.
    func wait(at now: Duration, behind others: Int = 0) -> Duration {
        // An empty bucket gains its first token after one interval, and is full after `capacity` intervals.
        let due = max(full, now) + interval * others - interval * (capacity - 1)
        return max(.zero, due - now)
    }

    /// Takes a token, even if none is available; later tokens are then delayed.
    mutating func acquire(at now: Duration) { full = max(full, now) + interval }
}
