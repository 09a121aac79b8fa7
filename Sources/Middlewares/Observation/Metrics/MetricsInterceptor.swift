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
        let exchange = Exchange(
            ExchangeStart(number: number, request: request),
            elapsed: { [elapsed] in elapsed() - begin },
            report: report
        )
        do {
            var response = try await next(request)
            exchange.receive(response)
            let start = exchange.start
            response.context.observeDecodingFailures { [report] in report(.decodingFailed(start, $0)) }
            Self.follow(&response, exchange)
            return response
        } catch {
            exchange.end(isComplete: false, error: error)
            throw error
        }
    }

    private static func follow(_ response: inout HTTPResponse, _ exchange: Exchange) {
        let body = response.body
        guard body.bytes == nil, body.file == nil else { return exchange.end(isComplete: true, bytes: body.length) }
        let chunks = UnfoldingSequence(from: { body.makeAsyncIterator() }) { chunks -> Data? in
            do {
                guard let chunk = try await chunks.next() else {
                    exchange.end(isComplete: true)
                    return nil
                }
                exchange.count(chunk.count)
                return chunk
            } catch {
                exchange.end(isComplete: false, error: error)
                throw error
            }
        }
        guard !body.isRestartable else {
            response.body = .restartable(length: body.length) { chunks }
            return
        }
        response.body = .oneShot(chunks, length: body.length) {
            body.discard()
            exchange.end(isComplete: false)
        }
    }

    var placement: Placement { [.measures] }
}

extension Interceptor where Self == AnyInterceptor {
    /// Reports each exchange to a closure: its start, and exactly once its end, with status, sizes and times.
    ///
    /// ```swift
    /// .metrics { event in
    ///     guard case .ended(let end) = event else { return }
    ///     latency.record(end.duration, labels: [end.start.method.rawValue, "\(end.status?.code ?? 0)"])
    /// }
    /// ```
    /// ## Order
    /// - Innermost, the metrics are those of the wire: each attempt, redirect and refresh is a separate exchange.
    /// - Outermost, the metrics show the caller's wait.
    /// - With an interceptor at each end, the difference is the cost of retries, refreshes and queues.
    ///
    /// ## When an exchange ends
    /// An exchange ends with the response, if its content is in memory or in a file. With a streamed response, the exchange
    /// ends with the last byte, with an error or cancellation of reading, or when the body is discarded or deallocated. Each
    /// start has exactly one end.
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
