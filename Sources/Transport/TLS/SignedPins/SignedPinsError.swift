/// Thrown when a signed list of pins isn't accepted.
public struct SignedPinsError: HTTPError, Hashable {
    /// The kind of failure. An open set: handle the codes you know, and keep a default.
    public struct Code: OpenSet {
        /// The name of the code, such as `expired`.
        public let rawValue: String
        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The list or its signature couldn't be fetched.
        public static let unavailable = Self(rawValue: "unavailable")
        /// None of the trusted keys has made the signature.
        public static let wrongSignature = Self(rawValue: "wrongSignature")
        /// The list isn't in the expected format, or has a later version of the format.
        public static let malformed = Self(rawValue: "malformed")
        /// The list has expired.
        public static let expired = Self(rawValue: "expired")
        /// A newer list was accepted before.
        public static let outdated = Self(rawValue: "outdated")
        /// The list has no pins for the called host.
        public static let hostMissing = Self(rawValue: "hostMissing")
        /// The list is in use, but couldn't be written to its file.
        public static let notKept = Self(rawValue: "notKept")
    }

    /// The kind of failure.
    public let code: Code
    /// A message for a person.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension SignedPinsError {
    /// The name of the code, such as `SignedPinsError.expired`.
    public var codeName: String { "SignedPinsError.\(code)" }

    /// A short English sentence for people.
    public var errorDescription: String? { ErrorSentence.insecure }

    /// Always empty: a ``TransportError`` around this error has the context of the call.
    public var context: HTTPContext {
        get { HTTPContext() }
        set {}
    }
}
