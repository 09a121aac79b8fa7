internal import Synchronization

/// Tells a closure of each exchange: that it began, and once how it ended, with status, sizes and times.
///
/// ```swift
/// .metrics { event in
///     guard case .ended(let end) = event else { return }
///     latency.record(end.duration, labels: [end.start.method.rawValue, "\(end.status?.code ?? 0)"])
/// }
/// ```
/// ## Its place
/// Innermost it measures the wire: each attempt, hop and refresh is an exchange of its own. Outermost it measures what the
/// caller waits for. Used in both places it tells what retries, refreshes and queues cost.
///
/// ## When an exchange ends
/// With the response, if its content is in memory or in a file; with its last byte, if it is streamed: or when reading it
/// fails, is cancelled or given up, or when nobody holds the response any more. Each beginning has exactly one end.
///
/// A typed call of a ``Client`` that can't decode its response is told of after that, by
/// ``ExchangeEvent/decodingFailed(_:_:)``.
public struct MetricsInterceptor: Interceptor {
    private final class Shared: Sendable {
        let count = Atomic<UInt64>(0)
    }

    private let report: @Sendable (ExchangeEvent) -> Void
    /// The time since the interceptor was made.
    private let elapsed: @Sendable () -> Duration
    private let shared = Shared()

    /// A metrics interceptor.
    ///
    /// - Parameters:
    ///   - clock: measures how long an exchange takes.
    ///   - report: is called on any thread, and must return quickly: the exchange waits for it.
    public init(
        clock: any Clock<Duration> = ContinuousClock(),
        report: @escaping @Sendable (ExchangeEvent) -> Void
    ) {
        self.report = report
        elapsed = Self.elapsed(on: clock)
    }

    /// Tells of the beginning, passes the request on, and sees to it that the end is told of.
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
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
            exchange.end(with: error)
            throw error
        }
    }

    private static func follow(_ response: inout HTTPResponse, _ exchange: Exchange) {
        let body = response.body
        guard body.bytes == nil, body.file == nil else { return exchange.end(.completed, bytes: body.length) }
        let chunks = MeteredChunks(body: body, exchange: exchange)
        guard !body.isRestartable else {
            response.body = .restartable(length: body.length) { chunks }
            return
        }
        response.body = .oneShot(chunks, length: body.length) {
            body.discard()
            exchange.end(.abandoned)
        }
    }

    // The type of the clock's instants is known here alone: a closure keeps one without a box for each request.
    private static func elapsed(on clock: some Clock<Duration>) -> @Sendable () -> Duration {
        let origin = clock.now
        return { origin.duration(to: clock.now) }
    }
}

extension Interceptor where Self == MetricsInterceptor {
    /// Tells a closure of the beginning and the end of each exchange: see ``MetricsInterceptor``.
    ///
    /// - Parameters:
    ///   - clock: measures how long an exchange takes.
    ///   - report: is called on any thread, and must return quickly: the exchange waits for it.
    public static func metrics(
        clock: any Clock<Duration> = ContinuousClock(),
        report: @escaping @Sendable (ExchangeEvent) -> Void
    ) -> Self {
        Self(clock: clock, report: report)
    }
}
