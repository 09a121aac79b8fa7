internal import InterceptorsCore
internal import Synchronization

/// Knows the current network path, and wakes the requests that wait for another one.
///
/// ``system`` is the system's monitor. A test, or a program with its own probes, makes a monitor and reports each change:
///
/// ```swift
/// let network = NetworkPathMonitor(.unsatisfied)
/// let api = Client(
///     baseURL: url,
///     interceptors: [.waitForNetwork(upTo: .seconds(30), monitor: network)],
///     transport: stub
/// )
/// async let user: User = api.get("/users/42")     // waits
/// network.update(.satisfied)                      // the request is sent
/// ```
public final class NetworkPathMonitor: Sendable {
    private let state: Mutex<PathWaiters<Waiter<WaitAbandonment?>>>
    /// The system's reports to this monitor, which end with it.
    private let reports = Mutex<SystemPathReports?>(nil)
    private let observe: @Sendable (_ waiting: Int) -> Void

    /// Creates a monitor that learns of changes by ``update(_:)``.
    ///
    /// - Parameter path: the current path; by default unknown, so that nothing waits.
    public convenience init(_ path: NetworkPath = .unknown) { self.init(path) { _ in } }

    /// Creates a monitor.
    ///
    /// - Parameters:
    ///   - path: the current path.
    ///   - isStarting: whether the first report is due soon.
    ///   - observe: called with the number of waiting requests whenever a request starts to wait; for tests.
    init(_ path: NetworkPath, isStarting: Bool = false, observe: @escaping @Sendable (_ waiting: Int) -> Void) {
        state = Mutex(PathWaiters(path, isStarting: isStarting))
        self.observe = observe
    }

    /// The current path.
    public var path: NetworkPath { state.withLock { $0.path } }

    /// Whether a request with these requirements has nothing to wait for.
    func allows(_ requirements: NetworkRequirements) -> Bool { state.withLock { $0.allows(requirements) } }

    /// Whether the first report is due soon.
    var isStarting: Bool { state.withLock { $0.isStarting } }

    /// Stops waiting for the first report.
    func endStart() {
        for waiter in state.withLock({ $0.isStarting ? $0.update($0.path) : [] }) { waiter.resume(with: nil) }
    }

    /// Reports the current path, from any thread. Every waiting request that the path allows continues at once.
    ///
    /// Don't report to ``system``: your path would stay until the system's next report.
    public func update(_ path: NetworkPath) {
        for waiter in state.withLock({ $0.update(path) }) { waiter.resume(with: nil) }
    }

    /// Waits until the path allows a request.
    ///
    /// - Parameters:
    ///   - requirements: the kinds of network that the request must not use.
    ///   - deadline: the latest moment to wait until.
    /// - Returns: the reason the wait ended without such a path; `nil` if there is one.
    func wait(for requirements: NetworkRequirements, until deadline: Deadline) async -> WaitAbandonment? {
        let waiter = Waiter<WaitAbandonment?>()
        let (ticket, count) = state.withLock { ($0.join(requirements, waiter), $0.count) }
        guard let ticket else { return nil }
        observe(count)
        return await waiter.outcome(before: deadline) { [self] reason in
            state.withLock { $0.leave(ticket) }?.resume(with: reason)
        }
    }

    /// The number of waiting requests.
    var waiting: Int { state.withLock { $0.count } }
}

extension NetworkPathMonitor {
    private struct Shared { weak var monitor: NetworkPathMonitor? }
    private static let shared = Mutex(Shared())

    /// The monitor of the system's path, which all its users share. Its resources are released with its last user.
    ///
    /// On Apple's platforms, the path is that of `NWPathMonitor`. Until its first report, soon after the monitor was made, the
    /// path is unknown. Keep the monitor to read its path: without another user, each access makes a monitor.
    ///
    /// On Linux, the path is satisfied if an interface that is up and running has an address for more than the machine or the
    /// link. That may be the address of a VPN, or of a bridge to containers, so a machine with one never waits. Linux doesn't know
    /// whether the path leads to the Internet, costs by volume or is constrained. The kernel reports each change over netlink. A
    /// new network counts half a second later, when it usually has a route and name servers. Without netlink, as in some
    /// containers, the path stays unknown.
    ///
    /// On watchOS and on other systems, the path stays unknown. `NWPathMonitor` doesn't see the network of a watch app.
    public static var system: NetworkPathMonitor {
        shared.withLock { shared in
            if let monitor = shared.monitor { return monitor }
            let monitor = NetworkPathMonitor(.unknown, isStarting: true) { _ in }
            let reports = SystemPathReports(to: monitor)
            if reports == nil { monitor.endStart() }
            monitor.reports.withLock { $0 = reports }
            shared.monitor = monitor
            return monitor
        }
    }
}
