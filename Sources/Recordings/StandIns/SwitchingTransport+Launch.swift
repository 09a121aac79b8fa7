public import Foundation

extension Transport where Self == SwitchingTransport {
    /// The stubs that a UI test handed over in the launch arguments, or another transport if there are none.
    ///
    /// ```swift
    /// let table: [String: [Stub]] = [
    ///     "users": [.on(.get, "/users", .json(#"[{"id":42,"name":"Ada"}]"#))],
    ///     "login": [.on(.post, "/login", .status(204))],
    /// ]
    /// let api = Client(
    ///     baseURL: url,
    ///     interceptors: chain,
    ///     transport: .launchStubs(allowed: isDebugBuild, defaults: table, otherwise: .platform())
    /// )
    /// ```
    /// ``LaunchStubs`` is the test's side.
    ///
    /// ## Release builds
    /// With `allowed: false`, the launch arguments are never read: the result is `otherwise`. On a Mac or on Linux, any program of
    /// the user can start an app with arguments, and could make it believe invented answers. So pass `true` only in builds
    /// for developers. There is no default, because a library can't know how the app was built:
    ///
    /// ```swift
    /// #if DEBUG
    /// let isDebugBuild = true
    /// #else
    /// let isDebugBuild = false
    /// #endif
    /// ```
    ///
    /// ## With stubs, nothing reaches the network
    /// A request that no stub matches fails with `HTTPErrorCode.noStub`, and the message lists the stubs. Malformed arguments, or
    /// a name that isn't in the table, fail every request with ``InterceptorsTransport/HTTPErrorCode/invalidLaunchStubs``.
    ///
    /// A `fallback` transport changes that. Stubs can then lead the app elsewhere: by a redirect that the chain follows, by a
    /// link to a next page, or by a URL in JSON. Interceptors such as `bearerAuth` send credentials only to their origins.
    /// A stub can't change a request, and sees none.
    ///
    /// A stub with a `file` makes the app read any file that it may read, as an answer to itself.
    ///
    /// ## State
    /// An app that keeps responses, tokens or cookies on disk should keep those of stubs elsewhere, because the next start
    /// without stubs would use them. The transport's only source is `stubs`, also if the arguments are malformed, or else `other`:
    ///
    /// ```swift
    /// let transport: SwitchingTransport = .launchStubs(allowed: isDebugBuild, otherwise: .platform())
    /// let cache: AnyInterceptor = transport.source == "stubs" ? .cache(.memory()) : .cache(.disk(at: caches))
    /// ```
    ///
    /// - Parameters:
    ///   - allowed: whether to look at the arguments at all.
    ///   - defaults: stubs that a test names instead of carrying them, by name. A name may stand for several stubs.
    ///   - fallback: receives the requests that no stub matches; by default none, so that they fail.
    ///   - other: the transport if the arguments contain no stubs, or aren't allowed.
    ///   - arguments: the arguments, read only if allowed; by default those of this process.
    ///   - time: its clock measures the delays of stubs.
    public static func launchStubs(
        allowed: Bool,
        defaults: [String: [Stub]] = [:],
        fallback: (any Transport)? = nil,
        otherwise other: any Transport,
        arguments: @autoclosure () -> [String] = ProcessInfo.processInfo.arguments,
        time: TimeSource = .system
    ) -> Self {
        // An app runs longer than a test, so the transport keeps no requests.
        let stubbed = StubTransport(forgettingRequests: true, fallback: fallback, time: time)
        do {
            guard allowed, let stubs = try LaunchArguments.stubs(in: arguments()) else {
                return Self(["other": other], source: "other")
            }
            stubbed.add(try stubs.resolved(by: defaults))
        } catch {
            let reason = (error as? TransportError)?.message ?? ErrorText.line(error)
            let message = "The stubs in the launch arguments can't be used, so nothing was sent. \(reason)"
            let refusal = StubAnswer.choosing { throw TransportError(.invalidLaunchStubs, message, request: $0) }
            stubbed.on({ _ in true }, refusal)
        }
        return Self(["stubs": stubbed], source: "stubs")
    }
}
