/// The error of a request that could not be signed and was not sent.
public struct SigningError: HTTPError {
    /// The kind of failure.
    public let code: HTTPErrorCode
    /// A message for people: the cause and the remedy.
    public let message: String
    /// The method and the redacted URL of the request, if known.
    public let request: HTTPRequest.Summary?
    /// Further facts about the failed call, such as its attempts.
    public var context = HTTPContext()
    /// `nil`: no response caused the error.
    public var response: HTTPResponse? { nil }
    /// `nil`: no other error caused this one.
    public var underlying: (any Error)? { nil }

    /// Creates an error about a request.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - message: a sentence for people, without secrets.
    ///   - request: the request; the error keeps its method and its redacted URL.
    public init(_ code: HTTPErrorCode, _ message: String, request: HTTPRequest? = nil) {
        self.code = code
        self.message = message
        self.request = request?.summary
    }
}

extension HTTPErrorCode {
    /// `SigningError`: the signature must cover a component that the request lacks or that can't be signed.
    public static let unsignableRequest = Self(rawValue: "unsignableRequest")
}

extension SigningError {
    /// Runs code that needs the system's cryptography, and throws a `SigningError` if that is missing.
    static func digesting<Value>(_ work: () throws -> Value) throws -> Value {
        do {
            return try work()
        } catch let missing as DigestUnavailable {
            throw SigningError(
                .unsupported,
                "The request could not be signed: \(missing). Install OpenSSL, or sign with a closure."
            )
        }
    }

    static var bodyNotReplayable: Self {
        Self(
            .bodyNotReplayable,
            "The signature covers the body, but the body is a one-shot stream, which can be read only once. Use"
                + " HTTPBody.restartable, bytes or a file, or leave the body unsigned."
        )
    }
}

extension SigningError {
    /// `true`: the request is signed before it is sent.
    public var sentNothing: Bool { true }
}
