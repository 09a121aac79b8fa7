extension Interceptor where Self == UnwrapEnvelopeInterceptor {
    /// Takes payloads out of envelopes that are JSON bodies. See ``UnwrapEnvelopeInterceptor``.
    ///
    /// - Parameters:
    ///   - payload: where the payload stands; `[]` if the whole body is to stay and is only judged.
    ///   - code: where the code stands.
    ///   - message: where the message stands.
    ///   - success: what tells success from failure, by default a code from 200 to 299.
    ///   - otherwise: what becomes of 2xx responses that are no envelopes; by default they fail.
    ///   - limit: the most bytes to collect of a streamed JSON body; a longer one fails with
    ///     ``TransportError/Code/bodyTooLarge``. By default 64 MiB.
    ///   - judges: which statuses to look at, by default all but 3xx, 401 and 407.
    public static func unwrapEnvelope(
        payload: JSONKeyPath,
        code: JSONKeyPath = "code",
        message: JSONKeyPath = "message",
        success: Envelope.Success = .codes(200...299),
        otherwise: Envelope.Otherwise = .fail,
        limit: Int = 64 << 20,
        judges: @escaping @Sendable (HTTPResponse.Status) -> Bool = Self.isJudgedByDefault
    ) -> Self {
        let paths = EnvelopePaths(payload: payload, code: code, message: message, flag: success.flagPath)
        return Self(form: .body(paths), success: success, otherwise: otherwise, limit: limit, judges: judges)
    }

    /// Judges responses by header fields, and leaves their bodies alone, streams too.
    ///
    /// HEAD and 204 responses are judged as well if they have such fields, and pass if they haven't.
    ///
    /// - Parameters:
    ///   - headers: the fields that hold code and message, by default `status` and `message`.
    ///   - success: what tells success from failure, by default the field `success`.
    ///   - otherwise: what becomes of 2xx responses without these fields; by default they fail.
    ///   - limit: the most bytes of a failure's body to keep in its ``EnvelopeError``, by default 1 MiB.
    ///   - judges: which statuses to look at, by default all but 3xx, 401 and 407.
    public static func unwrapEnvelope(
        headers: EnvelopeFields,
        success: Envelope.Success = .flag("success"),
        otherwise: Envelope.Otherwise = .fail,
        limit: Int = 1 << 20,
        judges: @escaping @Sendable (HTTPResponse.Status) -> Bool = Self.isJudgedByDefault
    ) -> Self {
        let flag = success.flagPath.flatMap { HTTPField.Name($0.description) }
        return Self(
            form: .fields(headers, flag: flag),
            success: success,
            otherwise: otherwise,
            limit: limit,
            judges: judges
        )
    }
}

extension UnwrapEnvelopeInterceptor {
    /// All statuses but 3xx, 401 and 407, which belong to those who redirect and authenticate.
    @Sendable
    public static func isJudgedByDefault(_ status: HTTPResponse.Status) -> Bool {
        status.kind != .redirection && status.code != 401 && status.code != 407
    }
}
