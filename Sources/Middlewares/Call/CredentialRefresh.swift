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
        CredentialRefresh.flights.contains { $0.isRunning() }
    }
}

/// The credential refreshes that the current task is part of.
enum CredentialRefresh {
    /// The refresh that the current task belongs to, preceded by the refreshes that contain it.
    @TaskLocal static var flights: [Flight] = []

    struct Flight: Sendable {
        let owner: ObjectIdentifier
        // A task that outlives its refresh keeps its task-local values, so this closure checks that the refresh is still
        // running.
        let isRunning: @Sendable () -> Bool
    }

    /// Whether the current task belongs to a running refresh of this owner.
    static func isCurrent(of owner: AnyObject) -> Bool {
        flights.contains { $0.owner == ObjectIdentifier(owner) && $0.isRunning() }
    }
}
