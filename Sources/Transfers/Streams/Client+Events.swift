public import Interceptors

extension Client {
    /// The events of a stream of the type `text/event-stream`, such as `EventSource` in a browser receives (HTML Living Standard
    /// §9.2).
    ///
    /// ```swift
    /// for try await event in api.events("/stream", after: lastID) {
    ///     print(event.type, event.id, event.data)
    /// }
    /// ```
    /// The first request is sent when the loop asks for the first event. Events are read as the loop asks for them, so a slow
    /// loop slows the server down, and nothing is buffered. Leaving the loop closes the connection. Cancelling the task does,
    /// too, and throws `CancellationError`.
    ///
    /// ## Reconnection
    /// When the server ends the stream, the connection breaks, or no byte arrives for `idleLimit`, the client waits and sends
    /// another request. The request carries the last event's ID in `Last-Event-ID`. It runs the whole chain, so it gets a new
    /// access token if necessary. ``Reconnection`` has the waits. A request whose method isn't safe (RFC 9110 §9.2.1), such as
    /// POST, isn't sent again. Its stream ends with the response or the error.
    ///
    /// A request that an interceptor refuses for now, as an open circuit does, is sent after the refusal's wait.
    ///
    /// A server ends the stream for good with the status 204.
    ///
    /// ## In a chain
    /// The cache passes the request on, and `limitConcurrency` holds a permit only until the response's head arrives
    /// (`CallShape.liveStream`). `coalesce` shares no streamed response. Other caches on the way see
    /// `Cache-Control: no-cache, no-store`.
    ///
    /// - Parameters:
    ///   - path: a path below the base URL, or an absolute URL.
    ///   - lastEventID: the ID of the event after which to start. With `nil` or an empty ID, the server chooses the start. An ID that no
    ///     field can hold, because it has control characters or more than 4 KiB, isn't sent, also when the server set it.
    ///   - limit: the maximum length in bytes of a line, and of an event's data; 1 MiB by default.
    ///   - idleLimit: the longest silence. A comment of the server counts as a sign of life; the standard recommends one every 15
    ///     seconds. 60 seconds by default; `nil` for no limit. It replaces the idle limit of the context's timeouts; the
    ///     transport's own limits don't apply.
    ///   - reconnection: the waits, and the number of failures after which the stream gives up. `nil` to end the stream with
    ///     the first connection.
    ///   - query: appended to any query in the path.
    ///   - headers: take precedence over the chain's defaults.
    ///   - context: values that accompany each request. Its `HTTPContext.responseBody` is replaced, and the total limit of its
    ///     timeouts is ignored, because a stream has no expected end.
    ///   - time: measures the waits, and makes them random.
    /// - Returns: the sequence, which throws:
    ///   - the error of the last attempt, after too many consecutive failures to connect;
    ///   - `ResponseDecodingError` with `HTTPErrorCode.unacceptedStatus` for any other status than a success, and with
    ///     `HTTPErrorCode.unexpectedMediaType` for another type;
    ///   - `TransportError` with `HTTPErrorCode.bodyTooLarge` beyond the limit;
    ///   - the errors of the chain's interceptors.
    public func events(
        _ path: RequestTarget,
        after lastEventID: String? = nil,
        upTo limit: Int = 1 << 20,
        idleLimit: Duration? = .seconds(60),
        reconnection: Reconnection? = Reconnection(),
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext(),
        time: TimeSource = .system
    ) -> ServerSentEvents {
        events(
            from: EndpointRequest<NoContent>.get(path, query: query, headers: headers, context: context),
            after: lastEventID,
            upTo: limit,
            idleLimit: idleLimit,
            reconnection: reconnection,
            time: time
        )
    }

    /// The events of the stream that an endpoint's request opens, such as a POST whose answer arrives piece by piece.
    ///
    /// ```swift
    /// let answer: EndpointRequest<NoContent> = .post("/answers", body: .json(["question": title]))
    /// for try await event in api.events(from: answer) { print(event.data) }
    /// ```
    /// Everything else is as in ``events(_:after:upTo:idleLimit:reconnection:query:headers:context:time:)``.
    ///
    /// - Parameters:
    ///   - endpoint: makes the request. If its method isn't safe (RFC 9110 §9.2.1), the stream ends with the first connection:
    ///     a second request would act again.
    ///   - lastEventID: the ID of the event after which to start. With `nil` or an empty ID, the server chooses the start.
    ///   - limit: the maximum length in bytes of a line, and of an event's data; 1 MiB by default.
    ///   - idleLimit: the longest silence, 60 seconds by default; `nil` for no limit.
    ///   - reconnection: the waits, and the number of failures after which the stream gives up.
    ///   - time: measures the waits, and makes them random.
    public func events(
        from endpoint: some Endpoint,
        after lastEventID: String? = nil,
        upTo limit: Int = 1 << 20,
        idleLimit: Duration? = .seconds(60),
        reconnection: Reconnection? = Reconnection(),
        time: TimeSource = .system
    ) -> ServerSentEvents {
        ServerSentEvents(
            client: self,
            request: { try await request(for: endpoint) },
            lastEventID: lastEventID ?? "",
            limit: limit,
            idleLimit: idleLimit,
            // An error of the endpoint is thrown when the stream connects.
            reconnection: (try? endpoint.request.method.isSafe) == true ? reconnection : nil,
            time: time
        )
    }
}
