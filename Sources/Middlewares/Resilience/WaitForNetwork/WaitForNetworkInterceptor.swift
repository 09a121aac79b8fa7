public import InterceptorsCore

/// The implementation of `.waitForNetwork(…)`, documented there.
struct WaitForNetworkInterceptor: PlacedInterceptor {
    /// How long a request waits for the system's first report, which comes within milliseconds.
    private static let longestStart = Duration.seconds(1)

    let limit: Duration
    let monitor: NetworkPathMonitor
    let time: TimeSource

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        let limit = longestWait(of: request)
        guard limit > .zero else { return try await next(request) }
        let wait = try await wait(for: request.context.network, upTo: limit)
        request.note(.waitedForNetwork(wait))
        request.context.interruptionNotes?.change { $0.add(inner: wait) }
        do {
            var response = try await next(request)
            response.context.add(outer: wait)
            return response
        } catch var error as any HTTPError {
            error.context.add(outer: wait)
            throw error
        }
    }

    /// The longest time that a request waits; zero or less if it has nothing to wait for.
    private func longestWait(of request: borrowing HTTPRequest) -> Duration {
        if monitor.allows(request.context.network) { return .zero }
        // Nothing is sent, or nothing leaves the machine.
        if request.context.sendingForbidden != nil { return .zero }
        if LoopbackHost.isHost(of: request.url) { return .zero }
        guard let remaining = request.context.deadline?.remaining else { return limit }
        // The path may be wrong, so half of the time is left for the attempt.
        return min(limit, remaining / 2)
    }

    private func wait(for requirements: NetworkRequirements, upTo limit: Duration) async throws -> NetworkWait {
        let elapsed = time.startMeasuring()
        if monitor.isStarting {
            let start = Deadline(after: min(limit, Self.longestStart), time: time)
            if await monitor.wait(for: requirements, until: start) != .cancelled { monitor.endStart() }
        }
        let end = await monitor.wait(for: requirements, until: Deadline(after: limit - elapsed(), time: time))
        if end == .cancelled { throw CancellationError() }
        try Task.checkCancellation()
        return NetworkWait(duration: elapsed(), isSatisfied: end == nil)
    }

    var placement: [ChainRole] {
        let roles: [ChainRole] = [
            .waits, .set("upTo: \(limit.code)"),
            .inside(.stores, because: "A stored response waits for a network that it doesn't need."),
            .inside(.retries, because: "Only the first attempt waits: if the network goes away, all fail at once."),
            .outside(.limits, because: "A request holds a permit, a token or a probe while it waits for a network."),
            .outside(.hedges, because: "A wait for a network looks like a late response: a request is sent twice."),
            .outside(.signs, because: "The signature gets old while its request waits for a network."),
        ]
        let idle = ChainRole.idle("never waits", remedy: ".waitForNetwork(upTo: .seconds(30))")
        return limit > .zero ? roles : roles + [idle]
    }
}

extension Interceptor where Self == AnyInterceptor {
    /// Lets a request wait while the system says that there is no network, and then sends it in any case.
    ///
    /// ```swift
    /// interceptors: [
    ///     .timeout(.seconds(60), of: "the whole call"),
    ///     .retryOnUnauthorized(tokens), .bearerAuth(tokens),
    ///     .cache(.memory()),                                  // serves stored responses without a network
    ///     .retry(maxAttempts: 3),
    ///     .waitForNetwork(upTo: .seconds(30)),                // before each attempt
    /// ]
    /// ```
    /// The system's report is a hint, never a reason to fail. When the time is up, the request is sent, because the report can be
    /// wrong. The transport's error is certain.
    ///
    /// ## Order
    /// - Inside a cache, because a stored response needs no network.
    /// - Inside `retry`, so that an attempt after a lost connection waits for the network too. Each attempt waits up to the limit;
    ///   a `timeout` of the whole call limits all waits together.
    /// - Outside `hedge`, limits and `sign`, so that a waiting request holds no permit, and its signature is fresh.
    /// - Outside `bearerAuth` if there is no cache, so that an expired token is refreshed when there is a network. Inside, a
    ///   refresh through the same client waits too. A refresh through another client needs the interceptor in that client's chain.
    ///
    /// ## Behaviour
    /// - With a network, or if the path is unknown, nothing waits, and nothing is allocated. The first requests of an app wait up to
    ///   a second for the system's first report.
    /// - All waiting requests that a new path allows continue at once. A path that exists only for a moment is enough, so a
    ///   network that comes and goes costs at most a failed attempt.
    /// - A request that excludes kinds of network (`HTTPContext.network`) waits on such a path too. When the time is
    ///   up, the transport decides: `URLSessionTransport` on Apple's platforms then fails with `HTTPErrorCode.offline`.
    /// - A wait takes at most half of the time that remains before the call's deadline (``InterceptorsTransport/HTTPContext/deadline``). The
    ///   other half is for the attempt.
    /// - A cancelled request stops waiting at once with `CancellationError`.
    /// - A request to `localhost`, `127.0.0.0/8`, `[::1]` or `0.0.0.0` never waits. Neither does a request that no transport may
    ///   send, such as one with the cache mode `.offline`.
    /// - ``InterceptorsTransport/HTTPContext/networkWait`` of the response or the error is the time that the request waited. The journal has a
    ///   note.
    /// - Each reconnection of a stream and each attempt of a download passes the chain, so it waits too.
    ///
    /// ``NetworkPathMonitor/system`` describes the path on each platform. On Linux, a machine that reaches its servers only
    /// through a proxy on loopback has no path: leave this interceptor out there.
    ///
    /// - Parameters:
    ///   - limit: the maximum wait of one request. Zero or less never waits.
    ///   - monitor: knows the path; by default the system's.
    ///   - time: measures the wait.
    public static func waitForNetwork(
        upTo limit: Duration,
        monitor: NetworkPathMonitor = .system,
        time: TimeSource = .system
    ) -> Self {
        Self(WaitForNetworkInterceptor(limit: limit, monitor: monitor, time: time))
    }
}
