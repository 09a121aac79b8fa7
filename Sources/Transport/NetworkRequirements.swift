/// The kinds of network that a request must not use.
///
/// ```swift
/// let quiet: HTTPContext = .with(\.network, [.notConstrained, .notExpensive])
/// let thumbnails: [Film] = try await api.get("/thumbnails", context: quiet)
/// ```
/// On Apple's platforms, `URLSessionTransport` passes the requirements on to the system. If no other network is there, the
/// call fails with ``HTTPErrorCode/offline``. The error's message gives the reason.
///
/// On Linux, the kernel doesn't know whether a network is expensive or constrained. Each network counts as neither, so the
/// requirements exclude no network, and no transport refuses the request.
public struct NetworkRequirements: OptionSet, Sendable, Hashable {
    /// A bit for each requirement.
    public let rawValue: UInt

    /// Creates a set from its bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// No network that costs by volume, such as cellular or a personal hotspot.
    public static let notExpensive = Self(rawValue: 1)
    /// No network in Low Data Mode, in which the user asks apps to use less data.
    public static let notConstrained = Self(rawValue: 2)
}

extension NetworkRequirements: CustomStringConvertible {
    /// The names of the requirements, such as `[notExpensive, notConstrained]`.
    public var description: String {
        let names = [(Self.notExpensive, "notExpensive"), (.notConstrained, "notConstrained")]
        return "[\(names.filter { contains($0.0) }.map(\.1).joined(separator: ", "))]"
    }
}

extension HTTPContext {
    private enum NetworkKey: HTTPContextKey { static var defaultValue: NetworkRequirements { [] } }

    /// On a request: the kinds of network that it must not use; by default it may use any.
    ///
    /// On Linux, no network is known to be of such a kind: see ``NetworkRequirements``.
    public var network: NetworkRequirements {
        get { self[NetworkKey.self] }
        set { self[NetworkKey.self] = newValue }
    }
}
