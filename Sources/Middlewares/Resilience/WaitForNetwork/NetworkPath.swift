internal import InterceptorsCore

/// The network that a system would use for a request now, as far as it knows.
///
/// A path is a hint: a satisfied path may lead nowhere, and a server may be reached although no path is reported.
public struct NetworkPath: Sendable, Hashable {
    /// Whether there is a network, or sending a request may bring one up, such as a VPN on demand. `nil` if the system hasn't reported a
    /// path, or can't: a request waits at most for the first report, and for a second.
    public var isSatisfied: Bool?
    /// Whether the network costs by volume, such as cellular or a personal hotspot. `false` where the system can't say.
    public var isExpensive: Bool
    /// Whether the network is in Low Data Mode. `false` where the system can't say.
    public var isConstrained: Bool

    /// Creates a path.
    ///
    /// - Parameters:
    ///   - isSatisfied: whether there is a network; `nil` if that is unknown.
    ///   - isExpensive: whether the network costs by volume; by default not.
    ///   - isConstrained: whether the network is in Low Data Mode; by default not.
    public init(isSatisfied: Bool?, isExpensive: Bool = false, isConstrained: Bool = false) {
        self.isSatisfied = isSatisfied
        self.isExpensive = isExpensive
        self.isConstrained = isConstrained
    }

    /// A network that no request excludes.
    public static let satisfied = Self(isSatisfied: true)
    /// No network.
    public static let unsatisfied = Self(isSatisfied: false)
    /// A path about which the system hasn't said anything.
    public static let unknown = Self(isSatisfied: nil)

    /// Whether a request with these requirements has nothing to wait for.
    func allows(_ requirements: NetworkRequirements) -> Bool {
        isSatisfied != false
            && !(isExpensive && requirements.contains(.notExpensive))
            && !(isConstrained && requirements.contains(.notConstrained))
    }
}
