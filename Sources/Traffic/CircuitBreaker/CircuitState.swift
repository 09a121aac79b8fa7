/// Whether requests to an origin are sent.
public enum CircuitState: String, Sendable, CaseIterable, CustomStringConvertible {
    /// Requests are sent.
    case closed
    /// Requests are refused for some time.
    case open
    /// A few requests are sent as probes; others are refused.
    case halfOpen

    /// The name of the state, such as `halfOpen`.
    public var description: String { rawValue }
}

/// A change of a circuit's state.
struct CircuitChange: Sendable {
    let origin: Origin
    let from: CircuitState
    let to: CircuitState
}

/// The meaning of an outcome for the health of the host.
enum CircuitVerdict: Sendable, Hashable, CaseIterable {
    /// The host works.
    case success
    /// The host failed.
    case failure
    /// The outcome says nothing about the host: the request never got there, or failed for a reason on the client's side.
    case ignored
}
