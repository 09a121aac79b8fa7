internal import InterceptorsCore
internal import Synchronization

/// The implementation of `.cancelPrevious(…)`, documented there.
struct CancelPreviousInterceptor: PlacedInterceptor {
    final class Calls: Sendable {
        /// The latest call with a key. A download that resumes sends several requests, and may send them at once.
        private struct Latest {
            let number: CallNumber
            var requests: [LatestCall] = []
        }

        private let latest = Mutex<[LatestKey: Latest]>([:])

        var count: Int { latest.withLock(\.count) }

        /// Begins a request. Returns the requests of an earlier call, or `nil` if a later call is running.
        ///
        /// - Parameter number: the number of the request's call; `nil` if the request is a call that begins now.
        func begin(_ request: LatestCall, _ key: any Hashable & Sendable, _ number: CallNumber?) -> [LatestCall]? {
            let key = LatestKey(value: key)
            return latest.withLock { latest in
                // Under the lock, so that of two calls at once the later one is the one that gets here later.
                let number = number ?? .next()
                guard let present = latest[key], present.number != number else {
                    latest[key, default: Latest(number: number)].requests.append(request)
                    return []
                }
                guard present.number < number else { return nil }
                latest[key] = Latest(number: number, requests: [request])
                return present.requests
            }
        }

        func end(_ request: LatestCall, _ key: any Hashable & Sendable) {
            let key = LatestKey(value: key)
            latest.withLock { latest in
                latest[key]?.requests.removeAll { $0 === request }
                if latest[key]?.requests.isEmpty == true { latest[key] = nil }
            }
        }
    }

    /// Notices that the keys were forgotten: a chain with `cancelPrevious` looks right and does nothing without them.
    final class KeyWatch: Sendable {
        /// After this many requests without a key, and none with one.
        static let limit = 20
        static let finding =
            "\(ChainFinding.Severity.doubtful): cancelPrevious has passed on \(limit) requests, and none had a latestKey, so it ends"
            + " no call. Write context: .with(\\.latestKey, \"search\"). (\(ChainRule.noEffect))"
        private let keyless = Atomic(0)

        /// Returns `true` once, when the limit is reached.
        func isLastStraw(hasKey: Bool) -> Bool {
            if !hasKey { return keyless.wrappingAdd(1, ordering: .relaxed).newValue == Self.limit }
            keyless.store(.min, ordering: .relaxed)
            return false
        }
    }

    let calls = Calls()
    private let debounce: LatestCall.Wait?
    private let report: @Sendable (String) -> Void
    private let watch = KeyWatch()

    init(
        debounce: Duration = .zero,
        time: TimeSource = .system,
        report: @escaping @Sendable (String) -> Void = { text in FindingReport.write { [text] } }
    ) {
        self.report = report
        let wait = LatestCall.Wait(duration: min(debounce, Stopwatch.farthest), clock: time.clock)
        self.debounce = debounce > .zero ? wait : nil
    }

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        if DebugReport.isOn, watch.isLastStraw(hasKey: request.context.latestKey != nil) { report(KeyWatch.finding) }
        guard let key = request.context.latestKey else { return try await next(request) }
        let step = request.context.observedStep
        let call = LatestCall()
        guard let earlier = calls.begin(call, key, request.context.callShape.call) else {
            step?.add(.superseded)
            throw CancellationError()
        }
        for call in earlier { call.supersede() }
        var response: HTTPResponse
        do {
            response = try await call.run(request, after: debounce, next: next)
        } catch {
            calls.end(call, key)
            if call.isSuperseded { step?.add(.superseded) }
            throw error
        }
        guard !response.body.isRestartable else {
            calls.end(call, key)
            return response
        }
        response.body = response.body.unfolded(length: response.body.length) { chunks in
            do {
                let chunk = try await chunks.next()
                if !call.isSuperseded { return chunk }
            } catch {
                if !call.isSuperseded { throw error }
            }
            throw CancellationError()
        }.onEnd { [calls] _ in calls.end(call, key) }
        // A later call may already have discarded the body. From here on, reading the body throws if a later call arrives.
        if call.isSuperseded {
            response.body.discard()
            throw CancellationError()
        }
        return response
    }

    var placement: [ChainRole] { [.supersedes] }
}

/// A key of any type in the table of calls.
private struct LatestKey: Sendable, Hashable {
    let value: any Hashable & Sendable

    static func == (left: Self, right: Self) -> Bool { AnyHashable(left.value) == AnyHashable(right.value) }

    func hash(into hasher: inout Hasher) { AnyHashable(value).hash(into: &hasher) }
}

extension HTTPContext {
    private enum LatestKeyKey: HTTPContextKey { static var defaultValue: (any Hashable & Sendable)? { nil } }

    /// On a request: its key for `cancelPrevious`, any hashable value; `nil` if the request neither cancels others nor is cancelled
    /// by them.
    public var latestKey: (any Hashable & Sendable)? {
        get { self[LatestKeyKey.self] }
        set {
            self[LatestKeyKey.self] = newValue
            let harm = "Nothing ends an older call with the same key."
            noteWish("latestKey", if: newValue != nil, grantedBy: .supersedes, ".cancelPrevious()", harm: harm)
        }
    }
}

extension Interceptor where Self == AnyInterceptor {
    /// Cancels a call when a later one with the same key arrives.
    ///
    /// ```swift
    /// // A cell of a list that is used again for another picture; the text of a search that goes on being typed.
    /// var context = HTTPContext()
    /// context.latestKey = cell.id
    /// let picture: Data = try await api.get("/pictures/7", context: context)
    /// ```
    /// With `.cancelPrevious(debounce: .milliseconds(300))`, a request with a key is sent once no other request with that key has
    /// arrived for 300 ms. For example, a search waits until the user pauses.
    ///
    /// The earlier call throws `CancellationError`, as if its task had been cancelled, but the task itself isn't. A request
    /// without a key is passed on, and cancels nothing. Debug builds write a finding to standard error if the first 20 requests
    /// have no key.
    ///
    /// ## Order
    /// - Outermost, so that a superseded call also ends its retries and its wait for a refresh or a permit.
    /// - Outside `coalesce`, which continues the exchange for the other callers that share it.
    ///
    /// ## Behaviour
    /// - At most one call per key runs, the latest, whatever its URL. Each interceptor has a separate set of keys, which its
    ///   copies share.
    /// - The earlier call ends as soon as the inner interceptors and the transport honour its cancellation. A late response is
    ///   discarded.
    /// - A streamed response can be superseded until it is read to the end. A later call discards its body, and further reads
    ///   throw `CancellationError`.
    /// - A key is forgotten when its last call ends.
    /// - A download, an upload or a stream of events that sends several requests is one call. Its later requests cancel none of its
    ///   own, and it ends if a later call has begun in the meantime.
    /// - The debounce counts towards a `timeout` and a deadline further outside. A request without a key doesn't wait.
    ///
    /// The call runs in a separate task, with the priority and the task-local values of the caller's.
    ///
    /// - Parameters:
    ///   - debounce: how long each request with a key waits for a later one before it is sent; by default not at all.
    ///   - time: measures the wait.
    public static func cancelPrevious(debounce: Duration = .zero, time: TimeSource = .system) -> Self {
        Self(CancelPreviousInterceptor(debounce: debounce, time: time))
    }
}
