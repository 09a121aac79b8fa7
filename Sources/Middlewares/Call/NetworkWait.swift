public import InterceptorsCore

/// How long a call waited for a network, for the description of its error.
struct NetworkWait: ContextNote {
    var duration: Duration
    /// Whether the wait ended because there was a network.
    var isSatisfied: Bool

    var note: String? {
        isSatisfied
            ? "Sent after a wait of \(duration.logged) for a network."
            : "Sent after \(duration.logged) without a network that the request may use, as far as the system knows."
    }
}

extension HTTPContext {
    private enum NetworkWaitKey: HTTPContextKey { static var defaultValue: NetworkWait? { nil } }

    /// On a response or an error (``HTTPError``): how long the request waited in `waitForNetwork`; `nil` if it didn't.
    ///
    /// Inside a retry, the value is about the last attempt.
    public var networkWait: Duration? { self[NetworkWaitKey.self]?.duration }

    /// Adds the wait before those of inner interceptors, the last of which ended with a network or without.
    mutating func add(outer wait: NetworkWait) {
        var sum = self[NetworkWaitKey.self] ?? NetworkWait(duration: .zero, isSatisfied: wait.isSatisfied)
        sum.duration += wait.duration
        self[NetworkWaitKey.self] = sum
    }

    /// Adds the wait after those of outer interceptors.
    mutating func add(inner wait: NetworkWait) {
        var sum = wait
        sum.duration += networkWait ?? .zero
        self[NetworkWaitKey.self] = sum
    }
}
