internal import Interceptors

/// The time limit at which a call without a response ends.
struct SilenceLimit {
    /// The time until the limit passes.
    let remaining: Duration
    private let length: Duration
    private let name: String

    /// Creates the earlier limit of two; `nil` without limits.
    ///
    /// - Parameters:
    ///   - timeouts: the limits of a request.
    ///   - elapsed: the time since the call began.
    init?(of timeouts: Timeouts?, after elapsed: Duration) {
        guard let timeouts else { return nil }
        let idle = timeouts.idle.map { Self(remaining: $0, length: $0, name: "timeouts.idle") }
        let total = timeouts.total.map {
            Self(remaining: $0 - timeouts.spent - elapsed, length: $0, name: "timeouts.total")
        }
        guard let first = [idle, total].compactMap(\.self).min(by: { $0.remaining < $1.remaining }) else { return nil }
        self = first
    }

    private init(remaining: Duration, length: Duration, name: String) {
        (self.remaining, self.length, self.name) = (remaining, length, name)
    }

    /// The error of a request that meets the limit.
    func error(_ request: HTTPRequest) -> TransportError {
        let message = "There was no response within \(length), the limit of \(name) (an injected fault)."
        return TransportError(.timedOut, message, request: request)
    }
}
