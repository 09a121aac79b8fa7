public import Interceptors
public import Metrics

extension Interceptor where Self == AnyInterceptor {
    /// Reports each exchange to swift-metrics:
    ///
    /// | metric | kind | holds |
    /// | --- | --- | --- |
    /// | `http.client.request.duration` | timer | the time from the request to the end of the response's content |
    /// | `http.client.response.body.bytes` | counter | the content that was read, decoded |
    /// | `http.client.decoding.failures` | counter | responses that a typed call couldn't decode |
    ///
    /// The first two have the labels of ``standardMetricLabels(_:)``; the third has `method`, `origin` and `endpoint`.
    ///
    /// As `.metrics { … }`: innermost, the metrics are those of the wire; outermost, those that the caller sees.
    ///
    /// - Parameters:
    ///   - factory: makes the metrics: `MetricsSystem.factory` is the one that the program was set up with.
    ///   - labels: the labels of an exchange. A metrics system keeps each combination of values, so there must be few: a program
    ///     that asks hosts of others' choice should leave out `origin`.
    ///   - time: measures the durations.
    public static func metrics(
        to factory: any MetricsFactory,
        labels: @escaping @Sendable (MeasuredExchange) -> [(String, String)] = standardMetricLabels,
        time: TimeSource = .system
    ) -> Self {
        .metrics(time: time) { event in
            switch event {
            case .began: break
            case .ended(let exchange):
                let labels = labels(exchange)
                Timer(label: "http.client.request.duration", dimensions: labels, factory: factory).record(
                    duration: exchange.duration
                )
                Counter(label: "http.client.response.body.bytes", dimensions: labels, factory: factory)
                    .increment(by: exchange.responseBytes)
            case .decodingFailed(let exchange, _):
                Counter(label: "http.client.decoding.failures", dimensions: exchange.metricLabels, factory: factory)
                    .increment()
            }
        }
    }

    /// The labels of an exchange: `method`; `origin`, such as `https://example.com:443`; `endpoint`, the type of the endpoint, or an
    /// empty value; `status`, the class such as `2xx`, or an empty value without a response; and `error`, such as
    /// `timedOut`, `cancelled`, or an empty value.
    @Sendable public static func standardMetricLabels(_ exchange: MeasuredExchange) -> [(String, String)] {
        let status = exchange.status ?? (exchange.error as? any HTTPError)?.response?.status
        let failure =
            switch exchange.error {
            case nil: ""
            case is CancellationError: "cancelled"
            case let error?: error.typeName
            }
        return exchange.metricLabels + [("status", status.map { "\($0.code / 100)xx" } ?? ""), ("error", failure)]
    }
}

extension MeasuredExchange {
    fileprivate var metricLabels: [(String, String)] {
        // A method of others' choice could have any number of values.
        let method = HTTPRequest.Method.known.contains(method) ? method.rawValue : HTTPRequest.Method.otherName
        return [
            ("method", method), ("origin", origin?.description ?? ""),
            ("endpoint", endpoint.map { "\(type(of: $0))" } ?? ""),
        ]
    }
}

extension HTTPRequest.Method {
    /// The methods that OpenTelemetry knows: RFC 9110 and RFC 5789.
    static let known: Set<HTTPRequest.Method> = [
        .get, .head, .post, .put, .delete, .connect, .options, .trace, .patch,
    ]
    /// OpenTelemetry's name of all other methods.
    static let otherName = "_OTHER"
}

extension Error {
    /// The error in one word, of which there are few: its code's name, or its type.
    var typeName: String { (self as? any HTTPError)?.code.rawValue ?? "\(type(of: self))" }
}
