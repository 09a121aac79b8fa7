internal import Foundation
internal import Synchronization

/// The implementation of `.metrics(…)`, documented there.
struct MetricsInterceptor: PlacedInterceptor {
    private final class Shared: Sendable {
        let count = Atomic<UInt64>(0)
    }

    let report: @Sendable (ExchangeEvent) -> Void
    /// Returns the time since the interceptor's creation.
    let elapsed: @Sendable () -> Duration
    private let shared = Shared()

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        let number = shared.count.wrappingAdd(1, ordering: .relaxed).newValue
        let begin = elapsed()
        var exchange = MeasuredExchange(number: number, request: request)
        report(.began(exchange))
        var response: HTTPResponse
        do {
            response = try await next(request)
        } catch {
            exchange.error = error
            exchange.duration = elapsed() - begin
            report(.ended(exchange))
            throw error
        }
        exchange.timeToResponse = elapsed() - begin
        exchange.status = response.status
        exchange.context = response.context
        response.context.observeDecodingErrors { [report, exchange] in report(.decodingFailed(exchange, $0)) }
        let length = response.body.isUnreadStream ? nil : response.body.length
        response.body = response.body.onEnd(counting: { [report, elapsed, exchange] count, error in
            var ended = exchange
            ended.error = error
            ended.responseBytes = length ?? count
            ended.duration = elapsed() - begin
            report(.ended(ended))
        })
        return response
    }

    var placement: [ChainRole] { [.measures] }
}

extension Interceptor where Self == AnyInterceptor {
    /// Reports each exchange to a closure: its start, and exactly once its end, with status, sizes and times.
    ///
    /// ```swift
    /// .metrics { event in
    ///     guard case .ended(let exchange) = event else { return }
    ///     latency.record(exchange.duration, labels: [exchange.method.rawValue, "\(exchange.status?.code ?? 0)"])
    /// }
    /// ```
    /// ## Order
    /// - Innermost, the metrics are those of the wire: each attempt, redirect and refresh is a separate exchange.
    /// - Outermost, the metrics show the caller's wait.
    /// - With an interceptor at each end, the difference is the cost of retries, refreshes and queues.
    ///
    /// ## When an exchange ends
    /// An exchange ends with the response, if its content is in memory, in a file or can be read again. With a one-shot stream, the
    /// exchange ends with the last byte, with an error or cancellation of reading, or when the body is discarded or deallocated.
    /// Each start has exactly one end.
    ///
    /// If a typed call of a ``Client`` can't decode its response, ``ExchangeEvent/decodingFailed(_:_:)`` is reported after the
    /// end.
    ///
    /// - Parameters:
    ///   - time: measures the durations.
    ///   - report: called on any thread for each event. The exchange waits for the closure, so it must return quickly.
    public static func metrics(
        time: TimeSource = .system,
        report: @escaping @Sendable (ExchangeEvent) -> Void
    ) -> Self {
        Self(MetricsInterceptor(report: report, elapsed: time.stopwatch().elapsed))
    }
}
