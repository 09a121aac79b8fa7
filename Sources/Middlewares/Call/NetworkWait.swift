public import Interceptors

/// How long a call waited for a network, for the description of its error.
struct NetworkWait: ContextNote {
    var duration: Duration
    /// Whether the wait ended because there was a network.
    var isSatisfied: Bool

    var note: String? {
        isSatisfied
            ? "Sent after a wait of \(duration.logged) for a network."
            : "Sent after \(duration.logged) without a network, as far as the system knows."
    }
}

extension HTTPContext {
    private enum NetworkWaitKey: HTTPContextKey { static var defaultValue: NetworkWait? { nil } }

    /// On a response or an error (``HTTPError``): how long the request waited in `waitForNetwork`; `nil` if it didn't.
    ///
    /// Inside a retry, the value is about the last attempt.
    public var networkWait: Duration? { self[NetworkWaitKey.self]?.duration }

    /// Adds a wait to those of inner interceptors.
    mutating func add(_ wait: NetworkWait) {
        var wait = wait
        if let inner = networkWait { wait.duration += inner }
        self[NetworkWaitKey.self] = wait
    }
}
