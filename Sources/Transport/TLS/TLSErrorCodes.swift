// Codes of errors about TLS settings, which are thrown when the settings are created, and about signed lists of pins.
extension HTTPErrorCode {
    /// `TransportError`: the content isn't an X.509 certificate in PEM or DER.
    public static let notACertificate = Self(rawValue: "notACertificate")
    /// `TransportError`: the content isn't a usable private key.
    public static let notAPrivateKey = Self(rawValue: "notAPrivateKey")
    /// `TransportError`: the private key doesn't belong to the certificate.
    public static let keyMismatch = Self(rawValue: "keyMismatch")
    /// `TransportError`: the content isn't a PKCS#12 archive with a certificate and its key.
    public static let notAnIdentity = Self(rawValue: "notAnIdentity")
    /// `TransportError`: the password for the archive or for an encrypted private key is wrong or missing.
    public static let wrongPassword = Self(rawValue: "wrongPassword")
    /// `TransportError`: a pin's text isn't `sha256/` or `certificate-sha256/` and the base64 of 32 bytes.
    public static let invalidPin = Self(rawValue: "invalidPin")
    /// `TransportError`: a host pattern's text isn't a valid pattern.
    public static let invalidHostPattern = Self(rawValue: "invalidHostPattern")
    /// `TransportError`: a public key for signed pins is malformed or of an unsupported kind.
    public static let invalidPublicKey = Self(rawValue: "invalidPublicKey")
    /// `TransportError`: the signed list of pins or its signature couldn't be fetched.
    public static let pinsUnavailable = Self(rawValue: "pinsUnavailable")
    /// `TransportError`: none of the trusted keys has made the signature of the list of pins.
    public static let pinsNotSigned = Self(rawValue: "pinsNotSigned")
    /// `TransportError`, `EnvelopeError`: the content isn't in the expected format, or has a later version of the format.
    public static let malformed = Self(rawValue: "malformed")
    /// `TransportError`: the list of pins has expired.
    public static let pinsExpired = Self(rawValue: "pinsExpired")
    /// `TransportError`: a newer list of pins was accepted before.
    public static let pinsOutdated = Self(rawValue: "pinsOutdated")
    /// `TransportError`: the list of pins has none for the called host.
    public static let pinsLackHost = Self(rawValue: "pinsLackHost")
    /// `TransportError`: the list of pins is in use, but couldn't be written to its file.
    public static let pinsNotSaved = Self(rawValue: "pinsNotSaved")
}
