/// Which of several answers each request gets: equal requests get them in order, and then the last one again and again.
struct AnswerCounts<Key: Hashable & Sendable>: Sendable {
    /// The maximum number of keys. Each request with a further key gets the first answer.
    static var limit: Int { 10_000 }

    private var counts: [Key: Int] = [:]

    /// The index of the next answer to the requests of a key.
    ///
    /// - Parameter count: the number of answers, at least 1.
    mutating func next(_ key: Key, of count: Int) -> Int {
        guard count > 1 else { return 0 }
        guard let number = counts[key] else {
            if counts.count < Self.limit { counts[key] = 1 }
            return 0
        }
        if number < count - 1 { counts[key] = number + 1 }
        return min(number, count - 1)
    }
}
