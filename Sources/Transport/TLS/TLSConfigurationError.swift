/// Thrown when TLS settings can't be used. The error is thrown when they are created, before any request. For an invalid
/// literal, which can't throw, the error is each call's ``TransportError/underlying`` error.
public struct TLSConfigurationError: HTTPError, Hashable {
    /// The kind of mistake. An open set: handle the codes you know, and keep a default.
    public struct Code: OpenSet {
        /// The name of the code, such as `notACertificate`.
        public let rawValue: String
        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// There is no such file, or it can't be read.
        public static let unreadableFile = Self(rawValue: "unreadableFile")
        /// The content isn't an X.509 certificate in PEM or DER.
        public static let notACertificate = Self(rawValue: "notACertificate")
        /// The content isn't a usable private key.
        public static let notAPrivateKey = Self(rawValue: "notAPrivateKey")
        /// The private key doesn't belong to the certificate.
        public static let keyMismatch = Self(rawValue: "keyMismatch")
        /// The content isn't a PKCS#12 archive with a certificate and its key.
        public static let notAnIdentity = Self(rawValue: "notAnIdentity")
        /// The password for the archive or for an encrypted private key is wrong or missing.
        public static let wrongPassword = Self(rawValue: "wrongPassword")
        /// A pin's text isn't `sha256/` or `certificate-sha256/` and the base64 of 32 bytes.
        public static let invalidPin = Self(rawValue: "invalidPin")
        /// A host pattern's text isn't a valid pattern.
        public static let invalidHost = Self(rawValue: "invalidHost")
        /// A public key for signed pins is malformed or of an unsupported kind.
        public static let invalidPublicKey = Self(rawValue: "invalidPublicKey")
        /// The platform doesn't support the setting.
        public static let unsupported = Self(rawValue: "unsupported")
    }

    /// The kind of mistake.
    public let code: Code
    /// A message for a person: the mistake, and a remedy.
    public let message: String

    /// Creates an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension TLSConfigurationError {
    /// The name of the code, such as `TLSConfigurationError.keyMismatch`.
    public var codeName: String { "TLSConfigurationError.\(code)" }

    /// A short English sentence for people.
    public var errorDescription: String? { ErrorSentence.insecure }

    /// Always empty: a ``TransportError`` around this error has the context of the call.
    public var context: HTTPContext {
        get { HTTPContext() }
        set {}
    }
}
