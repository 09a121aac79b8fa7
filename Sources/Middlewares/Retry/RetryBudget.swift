internal import Synchronization

/// How many retries the requests of a client may cause together: a share of them, so that an outage is not multiplied.
///
/// ```swift
/// let budget = RetryBudget(share: 0.2)
/// let interceptors: [any Interceptor] = [.retry(.exponential(maxAttempts: 3), budget: budget)]
/// ```
/// When everything fails, a client that tries three times sends three times the load, just when it does the most harm.
/// With a budget of 0.2 it sends 1.2 times the load. One budget may serve several chains that speak to one service.
///
/// Every request earns its share of a retry, and every retry costs one.
public final class RetryBudget: Sendable {
    private let share: Double
    private let capacity: Double
    private let saved: Mutex<Double>

    /// A budget.
    ///
    /// - Parameters:
    ///   - share: the retries that each request earns, 0.2 by default: one for five requests.
    ///   - reserve: the retries that can be made before any are earned, 10 by default.
    ///   - capacity: the most retries to save up, 100 by default; never fewer than the reserve.
    public init(share: Double = 0.2, reserve: Int = 10, capacity: Int = 100) {
        self.share = share > 0 ? min(share, 1_000) : 0
        self.capacity = Double(max(0, reserve, capacity))
        saved = Mutex(Double(max(0, reserve)))
    }

    /// The retries that could be made now.
    public var available: Int { saved.withLock { Int($0) } }

    /// Earns the share of one request.
    public func deposit() { saved.withLock { $0 = min(capacity, $0 + share) } }

    /// Takes one retry; `false` if there is none left.
    public func withdraw() -> Bool {
        saved.withLock { saved in
            // Ten tenths are a little less than one.
            guard saved >= 1 - 1e-9 else { return false }
            saved = max(0, saved - 1)
            return true
        }
    }
}
