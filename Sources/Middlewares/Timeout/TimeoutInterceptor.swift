/// Ends what stands further inside when it takes too long.
///
/// ```swift
/// interceptors: [
///     .timeout(.seconds(30), of: "the whole call"),       // with every attempt, and the waits between them
///     .retry(.exponential(maxAttempts: 3)),
///     .timeout(.seconds(10), of: "one attempt"),
/// ]
/// ```
/// What it limits is told by its place: outside of a retry, a refresh or redirects the whole of them, inside of them each run.
///
/// - It passes on when the time is up (``HTTPContext/deadline``), so that a retry further inside does not begin what can't end
///   in time. A deadline that the caller set on the request is kept too: `.timeout()` without a limit does only that.
/// - When the time is up the rest of the chain is cancelled, and waited for, so that nothing of it runs on; then the call
///   fails with ``TransportError/Code/timedOut`` and a message that says which limit it was. An answer that comes in spite
///   of it is discarded. What doesn't honour cancellation delays the failure. Its context has what those inside noted, such
///   as the attempts of a retry (``HTTPContext/attempts``).
/// - Cancelling the caller's task stays `CancellationError`.
/// - The time runs on while an app is suspended, since somebody waits; with a `SuspendingClock`, not while the machine sleeps.
/// - The time runs until the response is here: with its content if that is buffered, otherwise with its head. For the
///   content of a streamed response there is ``Timeouts/whole`` and ``Timeouts/idle``: ``HTTPContext/timeouts``.
public struct TimeoutInterceptor: Interceptor {
    private let limit: Duration?
    private let name: String?
    private let clock: any Clock<Duration>

    /// An interceptor that limits the time of what stands further inside.
    ///
    /// - Parameters:
    ///   - limit: the most time from a request's arrival here to its response; zero or less fails every request unsent.
    ///     `nil`, or more than thirty years, for the request's own deadline alone.
    ///   - name: what is limited, for the message of the error.
    ///   - clock: what the time is measured by.
    public init(_ limit: Duration? = nil, of name: String? = nil, clock: any Clock<Duration> = ContinuousClock()) {
        self.limit = limit.flatMap { $0 < Deadline.farthest ? $0 : nil }
        self.name = name
        self.clock = clock
    }

    /// Passes the request on with its deadline, and waits until then.
    ///
    /// - Throws: ``TransportError`` with ``TransportError/Code/timedOut``; `CancellationError`; what the rest throws.
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        let own = limit.map { Deadline(after: $0, clock: clock) }
        let given = request.context.deadline
        // One that a timeout further outside set is that one's to enforce.
        let callers = given.flatMap { $0.isEnforced ? nil : $0 }
        guard let deadline = Self.earlier(own, callers) else { return try await next(request) }
        let isOwn = callers.map { callers in own.map { $0.remaining <= callers.remaining } ?? false } ?? true

        var request = request
        request.context.deadline = Self.earlier(own, given)
        request.context.deadline?.isEnforced = true
        let notes = request.context.interruptionNotes ?? InterruptionNotes()
        request.context.interruptionNotes = notes
        if !deadline.hasPassed, let answer = await Self.answer(of: next, to: request, before: deadline) {
            return try answer.get()
        }
        try Task.checkCancellation()
        var failure = failure(of: request, isOwn: isOwn)
        failure.context = notes.context
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

    /// The answer of the rest of the chain, `nil` if there was none in time.
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

    private func failure(of request: HTTPRequest, isOwn: Bool) -> TransportError {
        let message =
            if isOwn, let limit {
                "There was no response within \(limit), the limit of \(name ?? "timeout(_:)")."
            } else {
                "There was no response before the deadline that the request was given."
            }
        return TransportError(.timedOut, message, request: request)
    }
}

extension Interceptor where Self == TimeoutInterceptor {
    /// Ends what stands further inside when it takes too long: see ``TimeoutInterceptor``.
    ///
    /// - Parameters:
    ///   - limit: the most time from a request's arrival here to its response; `nil` for the request's own deadline alone.
    ///   - name: what is limited, for the message of the error.
    ///   - clock: what the time is measured by.
    public static func timeout(
        _ limit: Duration? = nil,
        of name: String? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) -> Self {
        Self(limit, of: name, clock: clock)
    }
}
