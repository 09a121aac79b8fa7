internal import Foundation
internal import Synchronization

/// The implementation of `.faults(…)`, documented there.
struct FaultsInterceptor: Interceptor {
    let plan: FaultPlan
    let isOn: @Sendable () -> Bool
    let time: TimeSource

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        // No transport would send a malformed, forbidden or used-up request, so no network could fail.
        guard isOn(), (try? request.validate()) != nil, request.body.isReadable,
            let faults = plan.next(for: request, random: time.random)
        else { return try await next(request) }
        var exchange = FaultyExchange(request, next, time)
        try await exchange.wait(faults.latency)
        try Task.checkCancellation()
        return try await exchange.response(with: faults.fault)
    }
}

extension FaultsInterceptor: PlacedInterceptor {
    var placement: [ChainRole] {
        let inner: [ChainRole] = [
            .resends, .shares, .limits, .validates, .readsStatus, .setsDeadline, .changesResponse, .logs, .measures,
            .keepsCookies,
        ]
        let reason = "An inner element of this kind never sees an injected fault, and keeps or fails the real response."
        let recorder = ChainRole.outside(
            .records,
            because: "An outer recording keeps injected faults as the server's responses."
        )
        return [.spelled("faults"), .answers, .waits, recorder] + inner.map { .inside($0, because: reason) }
    }
}

extension Interceptor where Self == AnyInterceptor {
    /// Injects failures of the network and the server, for tests.
    ///
    /// ```swift
    /// interceptors: chain + [.faults(.latency(.seconds(1)).percent(50), .status(503).percent(5), .reset.percent(5))]
    /// ```
    /// ``Fault`` lists the failures, and how to limit them to some requests. Without faults, requests and responses pass
    /// unchanged.
    ///
    /// ## Order
    /// Innermost, so that each interceptor meets the faults as it would meet those of the network. Only a recorder belongs
    /// further inside, to keep what the server sent.
    ///
    /// ## Behaviour
    /// - Errors have the codes that a transport's errors have, and a message that says that the fault is injected. A `Journal`
    ///   has a note for each fault.
    /// - A request that no transport would send meets no fault, such as a malformed one, or one whose one-shot body was used up.
    /// - At a fault that answers instead of the server, a one-shot body of the request is discarded. A response that is lost is
    ///   discarded too.
    /// - A cancelled call throws `CancellationError`, never an injected error. Cancelling the task ends a wait at once.
    ///
    /// Use `#if DEBUG` to keep faults out of an app that you ship.
    ///
    /// - Parameters:
    ///   - faults: the faults. For one request, all waits come first. Then the first other fault that is chosen happens.
    ///   - time: measures the waits, and makes the random choices. With a seed, requests that come in the same order meet the
    ///     same faults.
    ///   - isOn: returns whether any fault happens to a request, such as the state of a switch in a debug menu.
    public static func faults(
        _ faults: Fault...,
        time: TimeSource = .system,
        isOn: @escaping @Sendable () -> Bool = { true }
    ) -> Self {
        Self(FaultsInterceptor(plan: FaultPlan(faults), isOn: isOn, time: time))
    }
}

/// Chooses and counts the faults of each request.
final class FaultPlan: Sendable {
    private let faults: [Fault]
    /// How often each fault happened.
    private let counts: Mutex<[Int]>

    init(_ faults: [Fault]) {
        self.faults = faults
        counts = Mutex(faults.map { _ in 0 })
    }

    /// The sum of a request's waits, and its first other fault; `nil` for none.
    func next(for request: borrowing HTTPRequest, random: RandomSource) -> (latency: Duration, fault: Fault.Kind?)? {
        let (method, url) = (request.method, request.url.absoluteString)
        let matching = faults.indices.filter { faults[$0].scope?.matches(method, url) ?? true }
        return counts.withLock { counts in
            var (latency, kind) = (Duration?.none, Fault.Kind?.none)
            for index in matching {
                let fault = faults[index]
                guard random.unit() * 100 < fault.percent, counts[index] < fault.limit else { continue }
                if case .latency(let range) = fault.kind {
                    let wait = range.lowerBound + (range.upperBound - range.lowerBound) * random.unit()
                    latency = (latency ?? .zero) + wait
                } else if kind == nil {
                    kind = fault.kind
                } else {
                    continue
                }
                counts[index] += 1
            }
            return latency == nil && kind == nil ? nil : (latency ?? .zero, kind)
        }
    }
}

/// One request, with the faults that happen to it.
struct FaultyExchange {
    private static let remark = " The fault is injected."

    private var request: HTTPRequest
    private let next: Next
    private let time: TimeSource
    private var pace: StubPace

    init(_ request: HTTPRequest, _ next: Next, _ time: TimeSource) {
        self.request = request
        self.next = next
        self.time = time
        var limited = request
        limited.context.timeouts = request.context.timeouts ?? Timeouts()
        pace = StubPace(clock: time.clock, request: limited, remark: Self.remark)
    }

    /// Waits as a slow network would, and charges the wait to the request's limit.
    mutating func wait(_ latency: Duration) async throws {
        guard latency > .zero else { return }
        request.note(.fault("waits \(latency.logged) before sending"))
        guard let timeouts = request.context.timeouts else { return try await time.clock.sleep(for: latency) }
        try await pace.wait(latency)
        // `spent` is unknown to transports of other packages.
        request.context.timeouts?.total = timeouts.total.map { max(.zero, $0 - latency) }
    }

    /// - Throws: the fault's error, `CancellationError`, or an error of the rest of the chain.
    mutating func response(with fault: Fault.Kind?) async throws -> HTTPResponse {
        switch fault {
        case .latency, nil: return try await next(request)
        case .answer(let answer):
            request.note(.fault("\(answer.summary) instead of sending"))
            request.body.discard()
            return try await StubExchange.response(of: answer, to: request, clock: time.clock)
        case .failure(let code):
            request.note(.fault("\(code) instead of sending"))
            let error = error(code, "The exchange failed.")
            // A failure that may follow the sending uses up a one-shot body.
            if !error.sentNothing { request.body.discard() }
            throw error
        case .reset:
            try await loseResponse(note: "reset")
            throw error(.connectionLost, "The connection ended before the response began.")
        case .timeout:
            let elapsed = time.startMeasuring()
            try await loseResponse(note: "timeout")
            pace.elapsed += elapsed()
            return try await pace.waitForever()
        case .truncation: return try await truncate(try await next(request))
        }
    }

    private func error(_ code: HTTPErrorCode, _ message: String) -> TransportError {
        TransportError(code, message + Self.remark, request: request)
    }

    /// Sends the request, and drops the response at its head, before its content arrives.
    private func loseResponse(note: String) async throws {
        let step = request.context.observedStep
        var request = request
        request.context.responseBody = .streamed
        request.context.downloadProgress = nil
        request.context.interim = nil
        try await next(request).body.discard()
        try Task.checkCancellation()
        step?.add(.fault("\(note): the response is lost"))
    }

    private func truncate(_ response: HTTPResponse) async throws -> HTTPResponse {
        guard !response.body.isEmpty else { return response }
        var response = response
        let (step, message) = (request.context.observedStep, "The response ended before its content was complete.")
        let error = error(.truncated, message)
        if response.body.isUnreadStream {
            response.body = response.body.truncated(to: time.random.unit(), throwing: error) { count in
                step?.add(.fault("truncation: the content ends after \(count) bytes"))
            }
            return response
        }
        try Task.checkCancellation()
        step?.add(.fault("truncation: a part of the content is lost"))
        // As a transport treats broken content: an error, or a redirect to be followed whose content can't be read.
        let answer = StubAnswer(response.status, response.headers, .chunks([], thenFailing: error))
        response.body = try await StubExchange.response(of: answer, to: request, clock: time.clock).body
        response.context.trailers = .pending()
        return response
    }
}

extension HTTPBody {
    /// The first bytes of a stream, and then an error.
    ///
    /// - Parameters:
    ///   - part: the part of the content before the error, from 0 up to, but not including, 1. If the length of the content is
    ///     unknown, the part of the first chunk.
    ///   - onCut: gets the number of bytes when the content breaks off.
    fileprivate func truncated(
        to part: Double,
        throwing error: TransportError,
        onCut: @escaping @Sendable (_ count: Int) -> Void
    ) -> HTTPBody {
        wrapped(length: length) { body in
            let end = body.length.map { Int(Double($0) * part) }
            return UnfoldingSequence(from: { (chunks: body.makeAsyncIterator(), end: end, count: 0) }) { state in
                if state.count != state.end {
                    guard let chunk = try await state.chunks.next() else { return Data?.none }
                    let end = state.end ?? Int(Double(chunk.count) * part)
                    let kept = Data(chunk.prefix(end - state.count))
                    (state.end, state.count) = (end, state.count + kept.count)
                    if !kept.isEmpty { return kept }
                }
                body.discard()
                try Task.checkCancellation()
                onCut(state.count)
                throw error
            }
        }
    }
}

extension CallNote {
    fileprivate static func fault(_ text: String) -> Self { Self("fault", text) }
}
