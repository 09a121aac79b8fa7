// Not on watchOS, where `NWPathMonitor` finds no network for ordinary apps although URLSession has one (Apple's TN3135).
#if canImport(Network) && !os(watchOS) && !os(Linux)
internal import Dispatch
internal import InterceptorsCore
internal import Network
internal import Synchronization

/// Reports the path of `NWPathMonitor` to a monitor, until the instance is released.
final class SystemPathReports: Sendable {
    private let system: Mutex<NWPathMonitor>

    init?(to monitor: NetworkPathMonitor) {
        let system = NWPathMonitor()
        system.pathUpdateHandler = { [weak monitor] path in
            // `requiresConnection` is a VPN on demand, for instance, which a request brings up.
            let isSatisfied = path.status != .unsatisfied
            let (isExpensive, isConstrained) = (path.isExpensive, path.isConstrained)
            monitor?.update(
                NetworkPath(isSatisfied: isSatisfied, isExpensive: isExpensive, isConstrained: isConstrained)
            )
        }
        system.start(queue: DispatchQueue(label: "Interceptors.NetworkPathMonitor"))
        self.system = Mutex(system)
    }

    deinit { system.withLock { $0.cancel() } }
}
#endif
