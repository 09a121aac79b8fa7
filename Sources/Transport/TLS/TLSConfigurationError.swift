public import Foundation

/// Why TLS settings can't be used: thrown when they are made, before any request. For an invalid literal, which can't throw,
/// it is the ``TransportError/underlying`` error of each call.
public struct TLSConfigurationError: Error, Sendable, Hashable {
    /// What is wrong. An open set: handle the ones you know, and keep a default.
    public struct Code: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// The name of the code, such as `notACertificate`.
        public let rawValue: String
        /// A code by its name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The name of the code.
        public var description: String { rawValue }

        /// There is no such file, or it can't be read.
        public static let unreadableFile = Self(rawValue: "unreadableFile")
        /// The content is no X.509 certificate, neither PEM nor DER.
        public static let notACertificate = Self(rawValue: "notACertificate")
        /// The content is no private key, or its password is wrong.
        public static let notAPrivateKey = Self(rawValue: "notAPrivateKey")
        /// The private key is not that of the certificate.
        public static let keyMismatch = Self(rawValue: "keyMismatch")
        /// The content is no PKCS#12 archive with a certificate and its key.
        public static let notAnIdentity = Self(rawValue: "notAnIdentity")
        /// The password does not open the archive.
        public static let wrongPassword = Self(rawValue: "wrongPassword")
        /// A pin is not `sha256/` and the base64 of 32 bytes.
        public static let invalidPin = Self(rawValue: "invalidPin")
        /// A host pattern is none.
        public static let invalidHost = Self(rawValue: "invalidHost")
        /// A public key for signed pins is none, or of an unknown kind.
        public static let invalidPublicKey = Self(rawValue: "invalidPublicKey")
        /// The platform can't do it.
        public static let unsupported = Self(rawValue: "unsupported")
    }

    /// What is wrong.
    public let code: Code
    /// What is wrong and what to do about it, for a person.
    public let message: String

    /// An error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension TLSConfigurationError: CustomStringConvertible, LocalizedError {
    /// Code and message.
    public var description: String { "TLSConfigurationError.\(code): \(message)" }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
