/// What the current task has to do with the refresh of a credential.
public enum CredentialRefresh {
    /// Whether the current task works for a refresh that has not ended: it runs the closure of a ``TokenStore`` or of
    /// `retryOnUnauthorized`, or was started by it.
    ///
    /// An interceptor that makes requests wait for each other (for a permit, a slot, a turn) lets those of a refresh
    /// pass: whoever holds what they would wait for may itself be waiting for the refresh.
    ///
    /// ```swift
    /// func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
    ///     if CredentialRefresh.isCurrent { return try await next(request) }
    ///     try await permits.acquire()
    ///     defer { permits.release() }
    ///     return try await next(request)
    /// }
    /// ```
    /// A task that the closure starts and that outlives it stops counting when the refresh ends. A detached task
    /// (`Task.detached`) never counts.
    public static var isCurrent: Bool {
        flights.contains { $0.isRunning() }
    }

    /// The default pause after a refresh: 10 seconds. In a pause, a rejection of the new credential starts no other refresh,
    /// unless a server has accepted the credential.
    public static let defaultPause: Duration = .seconds(10)

    /// The refresh that a task works for, and those within which that one was started.
    @TaskLocal static var flights: [Flight] = []

    struct Flight: Sendable {
        let owner: ObjectIdentifier
        // A task that outlives its refresh keeps its task-local values: this tells whether they still mean something.
        let isRunning: @Sendable () -> Bool
    }

    /// Whether the current task works for a refresh of this owner.
    static func isCurrent(of owner: AnyObject) -> Bool {
        flights.contains { $0.owner == ObjectIdentifier(owner) && $0.isRunning() }
    }
}
