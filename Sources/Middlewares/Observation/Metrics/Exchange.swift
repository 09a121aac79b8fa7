internal import Foundation
internal import Synchronization

/// An exchange that reports its end exactly once: at the first call of `end`, or on deinitialisation as abandoned.
final class Exchange: Sendable {
    private struct State {
        var hasEnded = false
        var bytes: Int64 = 0
        var response: HTTPResponse?
        var timeToResponse: Duration?
    }

    let start: ExchangeStart
    private let elapsed: @Sendable () -> Duration
    private let report: @Sendable (ExchangeEvent) -> Void
    private let state = Mutex(State())

    init(
        _ start: ExchangeStart,
        elapsed: @escaping @Sendable () -> Duration,
        report: @escaping @Sendable (ExchangeEvent) -> Void
    ) {
        self.start = start
        self.elapsed = elapsed
        self.report = report
        report(.began(start))
    }

    deinit { end(isComplete: false) }

    /// Records the arrival of the response's head.
    func receive(_ response: HTTPResponse) {
        // Without the body, which would retain this exchange.
        let head = HTTPResponse(status: response.status, url: response.url, context: response.context)
        let time = elapsed()
        state.withLock { state in
            state.response = head
            state.timeToResponse = time
        }
    }

    func count(_ bytes: Int) { state.withLock { $0.bytes += Int64(bytes) } }

    func end(isComplete: Bool, error: (any Error)? = nil, bytes: Int64? = nil) {
        let ended: State? = state.withLock { state in
            guard !state.hasEnded else { return nil }
            state.hasEnded = true
            return state
        }
        guard let ended else { return }
        let end = ExchangeEnd(
            start: start,
            error: error,
            isComplete: isComplete,
            status: ended.response?.status,
            responseBytes: bytes ?? ended.bytes,
            timeToResponse: ended.timeToResponse,
            duration: elapsed(),
            timings: ended.response?.context.timings,
            context: ended.response?.context ?? HTTPContext()
        )
        report(.ended(end))
    }
}
