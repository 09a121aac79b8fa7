/// The rule for when a circuit opens.
public struct CircuitTrip: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case consecutive(Int)
        case rate(Double, atLeast: Int, slice: Duration)
    }

    let kind: Kind

    /// The number of failures in a row that opens a circuit; `nil` if the rule is another one.
    var failuresInARow: Int? { if case .consecutive(let count) = kind { count } else { nil } }

    /// Opens after this number of failures in a row, at least 1.
    public static func consecutiveFailures(_ count: Int) -> Self { Self(kind: .consecutive(max(1, count))) }

    /// Opens when this share of recent requests has failed.
    ///
    /// - Parameters:
    ///   - rate: the share of failures, from 0 to 1, at which the circuit opens.
    ///   - requests: the minimum number of requests in that time, at least 1 and 20 by default, because one failed request
    ///     isn't an outage.
    ///   - span: the length of the sliding window, which moves in steps of a tenth.
    public static func failureRate(_ rate: Double, ofAtLeast requests: Int = 20, within span: Duration) -> Self {
        let slice = min(max(.milliseconds(1), span / Count.slices), Stopwatch.farthest)
        return Self(kind: .rate(min(max(0, rate), 1), atLeast: max(1, requests), slice: slice))
    }
}

extension CircuitTrip {
    /// The counts of a closed circuit: a single number, or ten slices of time, so memory doesn't grow with the requests.
    enum Count: Sendable, Hashable {
        struct Slice: Sendable, Hashable {
            let index: Int
            var requests = 0
            var failures = 0
        }

        static let slices = 10

        case consecutive(Int)
        case window([Slice], slice: Duration)

        /// Whether no counted outcome still matters.
        func isEmpty(at now: Duration) -> Bool {
            switch self {
            case .consecutive(let failures): failures == 0
            case .window(let slices, let slice):
                slices.allSatisfy { $0.index <= Self.index(of: now, slice) - Self.slices }
            }
        }

        /// Counts an outcome.
        ///
        /// - Returns: whether the circuit opens.
        mutating func add(_ verdict: CircuitVerdict, at now: Duration, _ trip: CircuitTrip) -> Bool {
            guard verdict != .ignored else { return false }
            let isFailure = verdict == .failure
            switch (self, trip.kind) {
            case (.consecutive(let failures), .consecutive(let limit)):
                self = .consecutive(isFailure ? failures + 1 : 0)
                return isFailure && failures + 1 >= limit
            case (.window(var slices, let slice), .rate(let rate, let least, _)):
                let index = Self.index(of: now, slice)
                slices.removeAll { $0.index <= index - Self.slices }
                if slices.last?.index != index { slices.append(Slice(index: index)) }
                slices[slices.count - 1].requests += 1
                slices[slices.count - 1].failures += isFailure ? 1 : 0
                self = .window(slices, slice: slice)
                let requests = slices.reduce(0) { $0 + $1.requests }
                let failures = slices.reduce(0) { $0 + $1.failures }
                return isFailure && requests >= least && Double(failures) >= rate * Double(requests)
            default: return false
            }
        }

        private static func index(of now: Duration, _ slice: Duration) -> Int { Int(now / slice) }
    }

    /// An empty counter.
    var count: Count {
        switch kind {
        case .consecutive: .consecutive(0)
        case .rate(_, _, let slice): .window([], slice: slice)
        }
    }
}
