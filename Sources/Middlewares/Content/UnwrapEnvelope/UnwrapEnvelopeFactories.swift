extension Interceptor where Self == UnwrapEnvelopeInterceptor {
    /// Unwraps payloads from envelopes in JSON bodies. See ``UnwrapEnvelopeInterceptor``.
    ///
    /// - Parameters:
    ///   - payload: the path of the payload; `[]` to keep the whole body and only check the code.
    ///   - code: the path of the code, by default `code`.
    ///   - message: the path of the message, by default `message`.
    ///   - success: the rule for success, by default a code from 200 to 299.
    ///   - otherwise: the treatment of 2xx responses that aren't envelopes; by default they fail.
    ///   - limit: the maximum size of a streamed JSON body, in bytes, 64 MiB by default; a longer body fails with
    ///     ``TransportError/Code/bodyTooLarge``.
    ///   - keepsEnvelope: whether the response's context has the opened envelope (``HTTPContext/envelope``), which keeps all its
    ///     bytes in memory; `false` by default.
    ///   - judges: which statuses to check, by default all except 3xx, 401 and 407.
    public static func unwrapEnvelope(
        payload: JSONKeyPath,
        code: JSONKeyPath = "code",
        message: JSONKeyPath = "message",
        success: Envelope.Success = .codes(200...299),
        otherwise: Envelope.NonEnvelopePolicy = .fail,
        limit: Int = 64 << 20,
        keepsEnvelope: Bool = false,
        judges: @escaping @Sendable (HTTPResponse.Status) -> Bool = Self.isJudgedByDefault
    ) -> Self {
        let paths = EnvelopePaths(payload: payload, code: code, message: message, flag: success.flagPath)
        return Self(
            form: .body(paths),
            success: success,
            otherwise: otherwise,
            limit: limit,
            keepsEnvelope: keepsEnvelope,
            judges: judges
        )
    }

    /// Checks the header fields of responses for failure, and leaves the bodies of successful ones unread, even streams.
    ///
    /// HEAD and 204 responses are checked too if they have these fields, and pass if they don't.
    ///
    /// - Parameters:
    ///   - headers: the names of the fields that hold code and message, by default `status` and `message`.
    ///   - success: the rule for success, by default the field `success`.
    ///   - otherwise: the treatment of 2xx responses without these fields; by default they fail.
    ///   - limit: the maximum number of bytes of a failure's body to keep in the ``EnvelopeError``, 1 MiB by default.
    ///   - keepsEnvelope: whether the response's context has the envelope (``HTTPContext/envelope``); `false` by default.
    ///   - judges: which statuses to check, by default all except 3xx, 401 and 407.
    public static func unwrapEnvelope(
        headers: EnvelopeFields,
        success: Envelope.Success = .flag("success"),
        otherwise: Envelope.NonEnvelopePolicy = .fail,
        limit: Int = 1 << 20,
        keepsEnvelope: Bool = false,
        judges: @escaping @Sendable (HTTPResponse.Status) -> Bool = Self.isJudgedByDefault
    ) -> Self {
        let flag = success.flagPath.flatMap { HTTPField.Name($0.description) }
        return Self(
            form: .fields(headers, flag: flag),
            success: success,
            otherwise: otherwise,
            limit: limit,
            keepsEnvelope: keepsEnvelope,
            judges: judges
        )
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

extension UnwrapEnvelopeInterceptor {
    /// Whether the status is anything but 3xx, 401 or 407, which redirects and authentication handle.
    @Sendable
    public static func isJudgedByDefault(_ status: HTTPResponse.Status) -> Bool {
        status.kind != .redirection && status.code != 401 && status.code != 407
    }
}
