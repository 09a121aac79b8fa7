internal import Synchronization

extension Task where Success == Never, Failure == Never {
    /// Whether the current task is part of a credential refresh. Such a task runs the closure of a ``TokenStore``,
    /// `retryOnUnauthorized` or `bearerAuth`, or was started by that closure.
    ///
    /// An interceptor that makes requests wait for each other (for a permit or a connection) must let the requests of a
    /// refresh pass. Otherwise they deadlock: the requests that hold all permits may themselves be waiting for the refresh.
    ///
    /// ```swift
    /// func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
    ///     if Task.isRefreshingCredential { return try await next(request) }
    ///     try await permits.acquire()
    ///     defer { permits.release() }
    ///     return try await next(request)
    /// }
    /// ```
    /// If the closure starts a task that outlives the refresh, the task stops counting when the refresh ends. A detached task
    /// (`Task.detached`) never counts.
    public static var isRefreshingCredential: Bool {
        CredentialRefresh.flights.contains(where: \.isRunning)
    }
}

/// The credential refreshes that the current task is part of.
enum CredentialRefresh {
    /// The refresh that the current task belongs to, preceded by the refreshes that contain it.
    @TaskLocal fileprivate static var flights: [Flight] = []

    // A class, because a task that outlives its refresh keeps its task-local values, and must stop counting.
    fileprivate final class Flight: Sendable {
        let owner: ObjectIdentifier
        private let hasEnded = Atomic(false)

        init(of owner: AnyObject) { self.owner = ObjectIdentifier(owner) }

        var isRunning: Bool { !hasEnded.load(ordering: .relaxed) }

        func end() { hasEnded.store(true, ordering: .relaxed) }
    }

    /// Whether the current task belongs to a running refresh of this owner.
    static func isCurrent(of owner: AnyObject) -> Bool {
        flights.contains { $0.owner == ObjectIdentifier(owner) && $0.isRunning }
    }

    /// Runs a closure as a refresh of this owner.
    static func run<Value>(of owner: AnyObject, _ refresh: () async throws -> Value) async rethrows -> Value {
        let flight = Flight(of: owner)
        defer { flight.end() }
        return try await $flights.withValue(flights + [flight]) { try await refresh() }
    }
}
