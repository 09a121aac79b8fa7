/// Thrown when a signed list of pins isn't accepted.
public struct SignedPinsError: HTTPError, Hashable {
    /// The kind of failure.
    public let code: HTTPErrorCode
    /// A message for a person.
    public let message: String

    init(_ code: HTTPErrorCode, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension HTTPErrorCode {
    /// `SignedPinsError`: the list or its signature couldn't be fetched.
    public static let pinsUnavailable = Self(rawValue: "pinsUnavailable")
    /// `SignedPinsError`: none of the trusted keys has made the list's signature.
    public static let pinsNotSigned = Self(rawValue: "pinsNotSigned")
    /// `SignedPinsError`, `EnvelopeError`: the content isn't in the expected format, or has a later version of the format.
    public static let malformed = Self(rawValue: "malformed")
    /// `SignedPinsError`: the list has expired.
    public static let pinsExpired = Self(rawValue: "pinsExpired")
    /// `SignedPinsError`: a newer list was accepted before.
    public static let pinsOutdated = Self(rawValue: "pinsOutdated")
    /// `SignedPinsError`: the list has no pins for the called host.
    public static let pinsLackHost = Self(rawValue: "pinsLackHost")
    /// `SignedPinsError`: the list is in use, but couldn't be written to its file.
    public static let pinsNotSaved = Self(rawValue: "pinsNotSaved")
}

extension SignedPinsError {
    /// A short English sentence for people.
    public var errorDescription: String? { ErrorSentence.insecure }

    /// `nil`: the error is about a list of pins.
    public var request: HTTPRequest.Summary? { nil }
    /// `nil`: no response caused the error.
    public var response: HTTPResponse? { nil }
    /// `nil`: no other error caused this one.
    public var underlying: (any Error)? { nil }

    /// Always empty: a ``TransportError`` around this error has the context of the call.
    public var context: HTTPContext {
        get { HTTPContext() }
        set {}
    }
}
