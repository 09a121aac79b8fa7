extension Interceptor where Self == AnyInterceptor {
    /// Replaces envelopes with their payloads, and throws an error for an envelope that reports a failure.
    ///
    /// For `{"code":200,"object":{"id":42},"message":"OK"}` the caller receives `{"id":42}`; for `{"code":1005,"message":"No
    /// such user"}` an ``EnvelopeError`` with that code and message.
    ///
    /// ```swift
    /// .unwrapEnvelope(payload: "object")
    /// .unwrapEnvelope(payload: "data.result", code: "errcode", message: "errmsg", success: .codes(0))
    /// .unwrapEnvelope(payload: "data", success: .flag("success"), passesOthers: true)
    /// .unwrapEnvelope(payload: "data.user", success: .payload)    // {"data":{"user":…}}, without a code
    /// .unwrapEnvelope(payload: "data", success: .custom { $0.text(at: "status") == "done" })
    /// ```
    ///
    /// ## Order
    /// - Outermost, next to other interceptors that check the final response. Inner interceptors then see envelopes unchanged,
    ///   and handle redirects, retries and 401s before an error is thrown.
    /// - If an API hides a 401 in an envelope with status 200, *inside* `retryOnUnauthorized`, configured to treat the
    ///   ``EnvelopeError`` as a 401.
    ///
    /// An inner cache doesn't store a response that this interceptor turns into an error, whatever the response's `max-age`.
    /// Nor does it store streamed JSON, because the envelope is only known at its end.
    ///
    /// ## Which responses it checks
    /// - A body in memory, whatever its `Content-Type`, because some servers send JSON as `text/html`.
    /// - A streamed body only if its `Content-Type` is JSON; the interceptor collects it, up to a limit. Other streams pass
    ///   unread.
    /// - Never the response to a HEAD, a 204, 205, 206 or 304, an empty body, or a status that `isUnwrapped` excludes. By default
    ///   that excludes 3xx, 401 and 407, which redirects and authentication handle.
    ///
    /// ## Results
    /// - **Success**: the body becomes the payload, byte for byte as the server wrote it; `null` stays `null`, and a missing
    ///   payload becomes an empty body. `Content-Length`, if present, is updated, digests of the old content are removed, and
    ///   all other fields stay. With `keepsEnvelope`, the response's context has the envelope too (``InterceptorsTransport/HTTPContext/envelope``).
    /// - **Failure**: throws an ``EnvelopeError`` with ``InterceptorsTransport/HTTPErrorCode/envelopeFailure``.
    /// - **No envelope** (the body isn't a JSON object, or lacks the value that decides success) or malformed JSON: passes or
    ///   fails, as `passesOthers` says. Pass `true` if the chain also fetches other content, such as images. Inside a payload,
    ///   only unmatched brackets and unterminated strings are detected; the payload's decoder finds other errors.
    /// - **A status other than 2xx**: an envelope of failure throws an ``EnvelopeError`` too, with the status. Any other
    ///   response passes unchanged, whatever `passesOthers` says, so that an outer interceptor can check the status.
    ///
    /// A path is the names of the object members that lead to a value, outermost first, with dots between them. Names are compared
    /// byte by byte, after their escapes are decoded. A path can't enter an array, nor a member whose name has a dot.
    ///
    /// Bodies are UTF-8. A body is scanned in one pass without decoding, and a large body off the caller's actor.
    ///
    /// - Parameters:
    ///   - payload: the path of the payload; an empty text to keep the whole body and only check the code.
    ///   - code: the path of the code, by default `code`.
    ///   - message: the path of the message, by default `message`.
    ///   - success: the rule for success, by default a code from 200 to 299.
    ///   - passesOthers: whether 2xx responses that aren't envelopes reach the caller unchanged. By default they fail with
    ///     `HTTPErrorCode.notAnEnvelope` or `HTTPErrorCode.malformed`.
    ///   - limit: the maximum size of a streamed JSON body, in bytes, 64 MiB by default; a longer body fails with
    ///     `HTTPErrorCode.bodyTooLarge`.
    ///   - keepsEnvelope: whether the response's context has the opened envelope (``InterceptorsTransport/HTTPContext/envelope``), which keeps all its
    ///     bytes in memory; `false` by default.
    ///   - isUnwrapped: which statuses to check, by default all except 3xx, 401 and 407.
    public static func unwrapEnvelope(
        payload: String,
        code: String = "code",
        message: String = "message",
        success: Envelope.Success = .codes(200...299),
        passesOthers: Bool = false,
        limit: Int = 64 << 20,
        keepsEnvelope: Bool = false,
        where isUnwrapped: (@Sendable (HTTPResponse.Status) -> Bool)? = nil
    ) -> Self {
        var interceptor = UnwrapEnvelopeInterceptor(
            paths: EnvelopePaths(payload: payload, code: code, message: message, flag: success.flagPath),
            success: success,
            passesOthers: passesOthers,
            limit: limit,
            keepsEnvelope: keepsEnvelope,
            // Redirects and authentication handle the others.
            isUnwrapped: isUnwrapped ?? { $0.kind != .redirection && $0.code != 401 && $0.code != 407 }
        )
        interceptor.condition = StoringCondition { [interceptor] in !interceptor.refuses($0) }
        return Self(interceptor)
    }
}

extension HTTPContext {
    private enum EnvelopeKey: HTTPContextKey { static var defaultValue: Envelope? { nil } }

    /// On a response: the envelope that `unwrapEnvelope(…, keepsEnvelope: true)` has opened, for the values beside the payload.
    /// Its fields have no `Set-Cookie`. A response that a cache outside of `unwrapEnvelope` has stored has no envelope.
    ///
    /// ```swift
    /// let (films, response) = try await api.response("/films", as: [Film].self)
    /// let total = response.context.envelope?.text(at: "paging.total")
    /// ```
    public internal(set) var envelope: Envelope? {
        get { self[EnvelopeKey.self] }
        set { self[EnvelopeKey.self] = newValue }
    }
}
