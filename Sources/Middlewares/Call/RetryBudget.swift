internal import Synchronization

/// A limit on the retries of many requests together, as a share of those requests, so that retries don't worsen an outage.
///
/// ```swift
/// let budget = RetryBudget(share: 0.2)
/// let interceptors: [any Interceptor] = [.retry(maxAttempts: 3, budget: budget)]
/// ```
/// In an outage, a client with three attempts per call sends three times the load, when the server can bear it least. With a
/// budget of 0.2 the client sends 1.2 times the load. Chains that call the same service can share a budget.
///
/// Each request deposits its share of a retry, and each retry withdraws one.
public final class RetryBudget: Sendable {
    private let share: Double
    private let capacity: Double
    private let saved: Mutex<Double>

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - share: the retries that each request deposits, 0.2 by default: one retry for five requests.
    ///   - reserve: the retries available at the start, 10 by default.
    ///   - capacity: the maximum number of retries to save up, 100 by default; never lower than the reserve.
    public init(share: Double = 0.2, reserve: Int = 10, capacity: Int = 100) {
        self.share = share > 0 ? min(share, 1_000) : 0
        self.capacity = Double(max(0, reserve, capacity))
        saved = Mutex(Double(max(0, reserve)))
    }

    /// The number of whole retries that can be withdrawn now.
    public var available: Int { saved.withLock { Int($0) } }

    /// Deposits one request's share of a retry, up to the capacity.
    public func deposit() { saved.withLock { $0 = min(capacity, $0 + share) } }

    /// Withdraws one retry; returns `false`, and withdraws nothing, if less than one is available.
    public func withdraw() -> Bool {
        saved.withLock { saved in
            // The tolerance covers rounding: ten times 0.1 adds up to slightly less than 1.
            guard saved >= 1 - 1e-9 else { return false }
            saved = max(0, saved - 1)
            return true
        }
    }
}
