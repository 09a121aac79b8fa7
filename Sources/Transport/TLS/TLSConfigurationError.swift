/// Thrown when TLS settings can't be used, or a signed list of pins isn't accepted.
///
/// An error about settings is thrown when they are created, before any request. An invalid literal can't throw: its error is each
/// call's ``TransportError/underlying`` error. An error about a list is thrown by ``SignedPins/refresh()``, and is the
/// underlying error of a call that the list would have allowed.
public struct TLSConfigurationError: HTTPError, Hashable {
    /// The kind of failure.
    public let code: HTTPErrorCode
    /// A message for a person: the mistake, and a remedy.
    public let message: String

    /// Creates an error.
    public init(_ code: HTTPErrorCode, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension HTTPErrorCode {
    /// `TLSConfigurationError`: the content isn't an X.509 certificate in PEM or DER.
    public static let notACertificate = Self(rawValue: "notACertificate")
    /// `TLSConfigurationError`: the content isn't a usable private key.
    public static let notAPrivateKey = Self(rawValue: "notAPrivateKey")
    /// `TLSConfigurationError`: the private key doesn't belong to the certificate.
    public static let keyMismatch = Self(rawValue: "keyMismatch")
    /// `TLSConfigurationError`: the content isn't a PKCS#12 archive with a certificate and its key.
    public static let notAnIdentity = Self(rawValue: "notAnIdentity")
    /// `TLSConfigurationError`: the password for the archive or for an encrypted private key is wrong or missing.
    public static let wrongPassword = Self(rawValue: "wrongPassword")
    /// `TLSConfigurationError`: a pin's text isn't `sha256/` or `certificate-sha256/` and the base64 of 32 bytes.
    public static let invalidPin = Self(rawValue: "invalidPin")
    /// `TLSConfigurationError`: a host pattern's text isn't a valid pattern.
    public static let invalidHostPattern = Self(rawValue: "invalidHostPattern")
    /// `TLSConfigurationError`: a public key for signed pins is malformed or of an unsupported kind.
    public static let invalidPublicKey = Self(rawValue: "invalidPublicKey")
    /// `TLSConfigurationError`: the signed list of pins or its signature couldn't be fetched.
    public static let pinsUnavailable = Self(rawValue: "pinsUnavailable")
    /// `TLSConfigurationError`: none of the trusted keys has made the signature of the list of pins.
    public static let pinsNotSigned = Self(rawValue: "pinsNotSigned")
    /// `TLSConfigurationError`, `EnvelopeError`: the content isn't in the expected format, or has a later version of the format.
    public static let malformed = Self(rawValue: "malformed")
    /// `TLSConfigurationError`: the list of pins has expired.
    public static let pinsExpired = Self(rawValue: "pinsExpired")
    /// `TLSConfigurationError`: a newer list of pins was accepted before.
    public static let pinsOutdated = Self(rawValue: "pinsOutdated")
    /// `TLSConfigurationError`: the list of pins has none for the called host.
    public static let pinsLackHost = Self(rawValue: "pinsLackHost")
    /// `TLSConfigurationError`: the list of pins is in use, but couldn't be written to its file.
    public static let pinsNotSaved = Self(rawValue: "pinsNotSaved")
}

extension TLSConfigurationError {
    /// A short English sentence for people.
    public var errorDescription: String? { ErrorSentence.insecure }

    /// `nil`: the error is about a configuration.
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
