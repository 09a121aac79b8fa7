/// The error of a request that could not be signed and was not sent.
public struct SigningError: HTTPError {
    /// The kind of failure. An open set: handle the codes you know, and keep a default.
    public struct Code: OpenSet {
        /// The name of the code, such as `unknownOrigin`.
        public let rawValue: String
        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The origins that may receive signatures are unknown: the interceptor has none, and the client has no base URL.
        public static let unknownOrigin = Self(rawValue: "unknownOrigin")
        /// The signature must cover the body, but the body is a one-shot stream, which hashing would use up.
        public static let bodyNotRestartable = Self(rawValue: "bodyNotRestartable")
        /// The signature must cover a component that the request lacks or that can't be signed.
        public static let invalidRequest = Self(rawValue: "invalidRequest")
        /// The system's cryptography is missing or fails.
        public static let unsupported = Self(rawValue: "unsupported")
    }

    /// The kind of failure.
    public let code: Code
    /// A message for people: the cause and the remedy.
    public let message: String
    /// The method and the redacted URL of the request, if known.
    public let request: HTTPRequest.Summary?
    /// Further facts about the failed call, such as its attempts.
    public var context = HTTPContext()

    /// Creates an error about a request.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - message: a sentence for people, without secrets.
    ///   - request: the request; the error keeps its method and its redacted URL.
    public init(_ code: Code, _ message: String, request: HTTPRequest? = nil) {
        self.code = code
        self.message = message
        self.request = request?.summary
    }
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

    static var bodyNotRestartable: Self {
        Self(
            .bodyNotRestartable,
            "The signature covers the body, but the body is a one-shot stream, which can be read only once. Use"
                + " HTTPBody.restartable, bytes or a file, or leave the body unsigned."
        )
    }
}

extension SigningError {
    /// The name of the code, such as `SigningError.unknownOrigin`.
    public var codeName: String { "SigningError.\(code)" }

    /// `true`: the request is signed before it is sent.
    public var sentNothing: Bool { true }
}
