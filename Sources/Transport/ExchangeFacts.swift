/// A transport's facts about an exchange. They share one entry of the response's context, because each entry costs an
/// allocation.
private struct ExchangeFacts: Sendable {
    var timings: TransferTimings?
    var connection: HTTPConnectionInfo?
    var trailers: HTTPTrailers?
}

extension HTTPContext {
    private enum FactsKey: HTTPContextKey { static var defaultValue: ExchangeFacts { ExchangeFacts() } }

    /// On a response: the durations of its exchange's steps, if the transport measures them.
    public var timings: TransferTimings? {
        get { self[FactsKey.self].timings }
        set { self[FactsKey.self].timings = newValue }
    }

    /// On a response: the connection that carried its exchange, if the transport knows it.
    public var connection: HTTPConnectionInfo? {
        get { self[FactsKey.self].connection }
        set { self[FactsKey.self].connection = newValue }
    }

    /// On a response: its trailer fields, if the source of the response reports them. Read ``HTTPResponse/trailers`` instead.
    public var trailers: HTTPTrailers? {
        get { self[FactsKey.self].trailers }
        set { self[FactsKey.self].trailers = newValue }
    }

    /// Sets all facts with one allocation.
    package mutating func setFacts(
        _ timings: TransferTimings?,
        _ connection: HTTPConnectionInfo?,
        _ trailers: HTTPTrailers? = nil
    ) {
        self[FactsKey.self] = ExchangeFacts(timings: timings, connection: connection, trailers: trailers)
    }
}
