/// The implementation of `.timeout(…)`, documented there.
struct TimeoutInterceptor: PlacedInterceptor {
    let limit: Duration?
    let name: String?
    let time: TimeSource

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        let own = limit.map { Deadline(after: $0, time: time) }
        let given = request.context.deadline
        // If an outer timeout set the deadline, it also enforces the deadline.
        let callers = given.flatMap { $0.isEnforced ? nil : $0 }
        guard let deadline = Self.earlier(own, callers) else { return try await next(request) }
        let isOwn = callers.map { callers in own.map { $0.remaining <= callers.remaining } ?? false } ?? true

        var request = request
        var enforced = Self.earlier(own, given)
        enforced?.isEnforced = true
        request.context.deadline = enforced
        request.note(.deadline(deadline.remaining))
        let notes = request.context.interruptionNotes ?? InterruptionNotes()
        request.context.interruptionNotes = notes
        if !deadline.hasPassed, let answer = await Self.answer(of: next, to: request, before: deadline) {
            return try answer.get()
        }
        try Task.checkCancellation()
        var failure = failure(of: request, isOwn: isOwn, isInLine: notes.isInLine)
        failure.context = notes.context
        request.note(.timedOut(failure.message))
        throw failure
    }

    private static func earlier(_ left: Deadline?, _ right: Deadline?) -> Deadline? {
        guard let left, let right else { return left ?? right }
        return .earlier(left, right)
    }

    private enum Event: Sendable {
        case answer(Result<HTTPResponse, any Error>)
        case timeIsUp
        case timerEnded
    }

    /// The outcome of the rest of the chain; `nil` if the deadline passed first.
    private static func answer(
        of next: Next,
        to request: HTTPRequest,
        before deadline: Deadline
    ) async -> Result<HTTPResponse, any Error>? {
        await withTaskGroup(of: Event.self) { group in
            group.addTask {
                do { return .answer(.success(try await next(request))) } catch { return .answer(.failure(error)) }
            }
            group.addTask {
                do { try await deadline.sleep() } catch { return .timerEnded }
                return .timeIsUp
            }
            var isTimeUp = false
            for await event in group {
                switch event {
                case .answer(let answer):
                    group.cancelAll()
                    guard isTimeUp else { return answer }
                    if case .success(let late) = answer { late.body.discard() }
                    return nil
                case .timeIsUp:
                    isTimeUp = true
                    group.cancelAll()
                case .timerEnded: break
                }
            }
            return nil
        }
    }

    private func failure(of request: HTTPRequest, isOwn: Bool, isInLine: Bool) -> TransportError {
        var message =
            if isOwn, let limit {
                "There was no response within \(limit), the limit of \(name ?? "timeout(_:)")."
            } else {
                "There was no response before the deadline that the request was given."
            }
        guard isInLine else { return TransportError(.timedOut, message, request: request) }
        message += " It waited for one of the transport's own connections."
        return TransportError(.timedOut, message, request: request, underlying: UnsentError(wait: .zero))
    }

    var placement: [ChainRole] { [.setsDeadline.with { $0.limit = limit }, .set(limit?.code ?? "")] }
}

extension Interceptor where Self == AnyInterceptor {
    /// Cancels the rest of the chain if it takes too long.
    ///
    /// ```swift
    /// interceptors: [
    ///     .timeout(.seconds(30), of: "the whole call"),       // with every attempt, and the waits between them
    ///     .retry(maxAttempts: 3),
    ///     .timeout(.seconds(10), of: "one attempt"),
    /// ]
    /// ```
    /// ## Order
    /// - Outside a retry, a refresh or redirects, the limit applies to all attempts together.
    /// - Inside them, the limit applies to each attempt.
    ///
    /// ## Behaviour
    /// - The interceptor passes its deadline on (``InterceptorsTransport/HTTPContext/deadline``), so that an inner retry doesn't start an attempt
    ///   that can't end in time. The interceptor also enforces a deadline that the caller set on the request; `.timeout()`
    ///   without a limit does only that.
    /// - At the deadline the rest of the chain is cancelled and awaited, so that no work continues after the call. The call
    ///   then fails with `HTTPErrorCode.timedOut` and a message that names the limit. A late response is discarded. An
    ///   inner interceptor or transport that ignores cancellation delays the failure.
    /// - If the call still waited for one of the transport's own connections (`connectionsPerHost` of a `CurlTransport`), the error says so and
    ///   is `sentNothing`. It doesn't open a circuit breaker, and a retry repeats even a POST.
    /// - The error's context holds facts noted by inner interceptors, such as a retry's attempts (``InterceptorsTransport/HTTPContext/attempts``).
    /// - Cancelling the caller's task still throws `CancellationError`.
    /// - The time keeps running while an app is suspended, because the caller keeps waiting. With a `SuspendingClock`, the time
    ///   stops while the machine sleeps.
    /// - The time runs until the response is returned: with its content if the response is buffered, otherwise with its head.
    ///   To limit the content of a streamed response, use `Timeouts.total` and `Timeouts.idle` in `HTTPContext.timeouts`.
    ///
    /// - Parameters:
    ///   - limit: the maximum time from a request's arrival here to its response. Zero or less fails every request unsent.
    ///     `nil`, the default, or more than about thirty years, enforces only the request's own deadline.
    ///   - name: the name of the limited part, for the error's message.
    ///   - time: measures the time.
    public static func timeout(_ limit: Duration? = nil, of name: String? = nil, time: TimeSource = .system) -> Self {
        let limit = limit.flatMap { $0 < Stopwatch.farthest ? $0 : nil }
        return Self(TimeoutInterceptor(limit: limit, name: name, time: time))
    }

    /// Unavailable: a number has no unit.
    @available(*, unavailable, message: "Write `.timeout(.seconds(5))`.")
    public static func timeout(_ limit: Double) -> Self { timeout(.seconds(limit)) }
}
