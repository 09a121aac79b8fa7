extension HTTPErrorCode {
    /// `TransportError`: the signature must cover a component that the request lacks or that can't be signed.
    public static let unsignableRequest = Self(rawValue: "unsignableRequest")
}

extension TransportError {
    /// The error of a request that could not be signed, and was not sent.
    static func unsigned(_ code: HTTPErrorCode, _ message: String, request: HTTPRequest? = nil) -> Self {
        var error = Self(code, message, request: request)
        error.precedesSending = true
        return error
    }

    /// Runs code that needs the system's cryptography, and throws a `TransportError` if that is missing.
    static func signing<Value>(_ work: () throws -> Value) throws -> Value {
        do {
            return try work()
        } catch let missing as DigestUnavailable {
            throw unsigned(
                .unsupported,
                "The request could not be signed: \(missing). Install OpenSSL, or sign with a closure."
            )
        }
    }

    static var signedBodyNotReplayable: Self {
        unsigned(
            .bodyNotReplayable,
            "The signature covers the body, but the body is a one-shot stream, which can be read only once. Use"
                + " HTTPBody.restartable, bytes or a file, or leave the body unsigned."
        )
    }
}
