public import InterceptorsCore

/// The network that a system would use for a request now, as far as it knows.
///
/// A path is a hint: a satisfied path may lead nowhere, and a server may be reached although no path is reported.
public struct NetworkPath: Sendable, Hashable {
    /// Whether there is a network.
    public struct Status: OpenSet {
        /// The name of the status.
        public let rawValue: String

        /// Creates a status from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// There is a network, or sending a request may bring one up, such as a VPN on demand.
        public static let satisfied = Self(rawValue: "satisfied")
        /// There is no network.
        public static let unsatisfied = Self(rawValue: "unsatisfied")
        /// The system hasn't reported a path, or can't. A request waits at most for the first report, and for a second.
        public static let unknown = Self(rawValue: "unknown")
    }

    /// Whether there is a network.
    public var status: Status
    /// Whether the network costs by volume, such as cellular or a personal hotspot. `false` where the system can't say.
    public var isExpensive: Bool
    /// Whether the network is in Low Data Mode. `false` where the system can't say.
    public var isConstrained: Bool

    /// Creates a path.
    ///
    /// - Parameters:
    ///   - status: whether there is a network.
    ///   - isExpensive: whether the network costs by volume; by default not.
    ///   - isConstrained: whether the network is in Low Data Mode; by default not.
    public init(_ status: Status, isExpensive: Bool = false, isConstrained: Bool = false) {
        self.status = status
        self.isExpensive = isExpensive
        self.isConstrained = isConstrained
    }

    /// A network that no request excludes.
    public static let satisfied = Self(.satisfied)
    /// No network.
    public static let unsatisfied = Self(.unsatisfied)
    /// A path about which the system hasn't said anything.
    public static let unknown = Self(.unknown)

    /// Whether a request with these requirements has nothing to wait for.
    func allows(_ requirements: NetworkRequirements) -> Bool {
        status != .unsatisfied
            && !(isExpensive && requirements.contains(.notExpensive))
            && !(isConstrained && requirements.contains(.notConstrained))
    }
}
