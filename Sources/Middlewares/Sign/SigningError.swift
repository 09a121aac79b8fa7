public import Foundation

/// Why a request could not be signed. It was not sent.
public struct SigningError: ContextualError, RefusedRequestError, Sendable {
    /// What went wrong. An open set: handle the ones you know, and keep a default.
    public struct Code: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// The name of the code, such as `unknownOrigin`.
        public let rawValue: String
        /// A code by its name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The name of the code.
        public var description: String { rawValue }

        /// It is not known which origin is to get signatures.
        public static let unknownOrigin = Self(rawValue: "unknownOrigin")
        /// The signature must cover the body, which is a one-shot stream: reading it would use it up.
        public static let bodyNotRestartable = Self(rawValue: "bodyNotRestartable")
        /// The signature must cover something that the request hasn't got, or that can't be signed.
        public static let invalidRequest = Self(rawValue: "invalidRequest")
        /// The system's cryptography is missing, or refuses.
        public static let unsupported = Self(rawValue: "unsupported")
    }

    /// What went wrong.
    public let code: Code
    /// What went wrong and what to do about it, for a person.
    public let message: String
    /// The method of the request.
    public let method: HTTPRequest.Method?
    /// The URL of the request, with secrets redacted.
    public let url: String?
    /// What is to be known about the failed call beyond the failure itself, such as the attempts that were made.
    public var context = HTTPContext()

    var refusedMethod: HTTPRequest.Method? { method }

    /// An error about a request.
    ///
    /// - Parameters:
    ///   - code: what went wrong.
    ///   - message: a sentence for a person, without secrets.
    ///   - request: the request, of which the method and the redacted URL are kept.
    public init(_ code: Code, _ message: String, request: HTTPRequest? = nil) {
        self.code = code
        self.message = message
        self.method = request?.method
        self.url = request.map { Redaction.standard.string(for: $0.url) }
    }
}

extension SigningError {
    /// Runs what needs the system's cryptography, and says in this error's words what is missing.
    static func digesting<Value>(_ work: () throws -> Value) throws -> Value {
        do {
            return try work()
        } catch let missing as DigestUnavailable {
            throw SigningError(.unsupported, "Nothing can be signed: \(missing).")
        }
    }

    static var bodyNotRestartable: Self {
        Self(
            .bodyNotRestartable,
            "The signature covers the body, which is a one-shot stream that can be read only once. Use"
                + " HTTPBody.restartable, bytes or a file, or have the body left unsigned."
        )
    }
}

extension SigningError: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
    /// Code, message and request, without secrets.
    public var description: String {
        let text = "SigningError.\(code): \(message)"
        guard let method, let url else { return text }
        return "\(text) (\(method) \(url))"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
