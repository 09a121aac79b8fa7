internal import Foundation
public import Interceptors

/// The implementation of `.faults(…)`, documented there.
struct FaultsInterceptor: Interceptor {
    let faults: FaultSwitch
    let time: TimeSource

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        // A transport refuses a request that must not be sent, so no network could fail.
        guard request.context.sendingForbidden == nil, let plan = faults.plan(for: request) else {
            return try await next(request)
        }
        let request = request
        let elapsed = time.startMeasuring()
        if plan.latency > .zero {
            request.note(.fault("waits \(plan.latency.logged) before sending"))
            try await wait(plan.latency, request, elapsed)
        }
        try Task.checkCancellation()
        switch plan.fault?.kind {
        case nil, .latency: return try await next(request)
        case .status(let status): return try await respond(status, to: request)
        case .captivePortal: return try await respond(200, to: request, with: Self.portalPage)
        case .failure(let code): throw failure(code, request)
        case .reset:
            let notes = request.notes
            try await next(request).body.discard()
            notes.add(.fault("reset: the response is lost"))
            throw TransportError(
                .connectionLost,
                "The connection ended before the response began (an injected fault).",
                request: request
            )
        case .timeout: try await loseResponse(to: request, next, elapsed)
        case .truncation: return try await truncate(request, next, plan.part)
        }
    }
}

extension FaultsInterceptor {
    private func respond(
        _ status: HTTPResponse.Status,
        to request: HTTPRequest,
        with page: String = ""
    ) async throws -> HTTPResponse {
        request.note(.fault("\(page.isEmpty ? "status \(status.code)" : "captive portal") instead of sending"))
        request.body.discard()
        var fields: HTTPFields = [.contentLength: "\(page.utf8.count)"]
        if !page.isEmpty { fields[.contentType] = "text/html; charset=utf-8" }
        if status == 401 { fields[.wwwAuthenticate] = #"Bearer error="invalid_token""# }
        var body = HTTPBody(request.method == .head ? "" : page)
        if let limit = request.context.responseBody.bufferLimit {
            _ = try await body.collect(upTo: limit)
        } else {
            let content = body
            body = .oneShot(content, length: content.length)
        }
        return HTTPResponse(status: status, headerFields: fields, body: body, url: request.url)
    }

    private static let portalPage = """
        <!DOCTYPE html>
        <html><head><title>Welcome to Guest Wi-Fi</title></head>
        <body><form action="https://portal.example/login" method="post">
        <h1>Sign in to use this network</h1><input name="room"><button>Connect</button>
        </form></body></html>

        """

    private func failure(_ code: HTTPErrorCode, _ request: HTTPRequest) -> TransportError {
        request.note(.fault("\(code) instead of sending"))
        let error = TransportError(code, "The request wasn't sent (an injected fault).", request: request)
        // A failure that may follow the sending uses up a one-shot body.
        if !error.sentNothing { request.body.discard() }
        return error
    }

    private func truncate(_ request: HTTPRequest, _ next: Next, _ part: Double) async throws -> HTTPResponse {
        let notes = request.notes
        var response = try await next(request)
        guard !response.body.isEmpty else { return response }
        let error = TransportError(
            .truncated,
            "The response ended before its content was complete (an injected fault).",
            request: request
        )
        guard response.body.isUnreadStream else {
            notes.add(.fault("truncation: a part of the content is lost"))
            throw error
        }
        // The part of a stream of unknown length is a part of the first 64 KiB.
        let count = Int64(Double(response.body.length ?? 64 << 10) * part)
        notes.add(.fault("truncation: the content ends after \(count) bytes"))
        response.body = response.body.wrapped(length: response.body.length) {
            TruncatedChunks(body: $0, count: count, error: error)
        }
        return response
    }

    private func loseResponse(
        to request: HTTPRequest,
        _ next: Next,
        _ elapsed: @Sendable () -> Duration
    ) async throws -> Never {
        let notes = request.notes
        try await next(request).body.discard()
        notes.add(.fault("timeout: the response is lost"))
        try await time.clock.sleep(for: limit(of: request, elapsed))
        throw timedOut(request)
    }

    /// Waits, as a slow network would, no longer than the request's time limits permit.
    private func wait(_ duration: Duration, _ request: HTTPRequest, _ elapsed: @Sendable () -> Duration) async throws {
        let limit = limit(of: request, elapsed)
        try await time.clock.sleep(for: min(duration, limit))
        if duration > limit { throw timedOut(request) }
    }

    /// The time without a response after which a transport ends the call.
    private func limit(of request: HTTPRequest, _ elapsed: @Sendable () -> Duration) -> Duration {
        let timeouts = request.context.timeouts ?? Timeouts()
        let limits = [timeouts.idle, timeouts.total.map { $0 - elapsed() }].compactMap(\.self)
        return max(.zero, limits.min() ?? Stopwatch.farthest)
    }

    private func timedOut(_ request: HTTPRequest) -> TransportError {
        TransportError(.timedOut, "There was no response within the time limit (an injected fault).", request: request)
    }
}

extension FaultsInterceptor: PlacedInterceptor {
    var placement: Placement {
        let reason = "It wouldn't see the injected faults, and so handle none of them."
        let outer: [ChainRole] = [.resends, .shares, .limits, .judges, .readsStatus, .setsDeadline, .changesResponse]
        return Placement([.spelled("faults"), .answers, .waits] + outer.map { .inside($0, because: reason) })
    }
}

extension Interceptor where Self == AnyInterceptor {
    /// Injects failures of the network and the server, for tests.
    ///
    /// ```swift
    /// interceptors: chain + [.faults(.latency(.seconds(1)).percent(50), .captivePortal.percent(5), .reset.percent(5), seed: 7)]
    /// ```
    /// ``Fault`` lists the failures, and how to limit them to some requests. ``FaultSwitch`` turns them on and off while the
    /// program runs. Without faults, requests and responses pass unchanged.
    ///
    /// ## Order
    /// Innermost, so that each interceptor meets the faults as it would meet those of the network.
    ///
    /// ## Behaviour
    /// - Errors have the codes that a transport's errors have, and a message that says that the fault is injected. A `Journal`
    ///   has a note for each fault.
    /// - At a fault that answers instead of the server, a one-shot body of the request is discarded. A response that is lost is
    ///   discarded too.
    /// - Cancelling the task ends a wait at once with `CancellationError`.
    ///
    /// Use `#if DEBUG` to keep faults out of an app that you ship.
    ///
    /// - Parameters:
    ///   - faults: the faults. For one request, all waits come first. Then the first other fault that is chosen happens.
    ///   - seed: makes the random choices the same each time, as long as requests arrive in the same order; by default they
    ///     differ.
    ///   - time: measures the waits.
    public static func faults(_ faults: Fault..., seed: UInt64? = nil, time: TimeSource = .system) -> Self {
        Self(FaultsInterceptor(faults: FaultSwitch(faults, seed: seed), time: time))
    }

    /// Injects the failures that are switched on. See ``faults(_:seed:time:)``.
    ///
    /// - Parameters:
    ///   - faults: the faults and their switches.
    ///   - time: measures the waits.
    public static func faults(_ faults: FaultSwitch, time: TimeSource = .system) -> Self {
        Self(FaultsInterceptor(faults: faults, time: time))
    }
}
