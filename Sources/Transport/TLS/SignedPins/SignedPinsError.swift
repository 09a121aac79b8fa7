public import Foundation

/// Why a signed list of pins was not accepted.
public struct SignedPinsError: Error, Sendable, Hashable {
    /// What is wrong. An open set: handle the ones you know, and keep a default.
    public struct Code: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// The name of the code, such as `expired`.
        public let rawValue: String
        /// A code by its name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The name of the code.
        public var description: String { rawValue }

        /// The list or its signature could not be fetched.
        public static let unavailable = Self(rawValue: "unavailable")
        /// No key that is trusted has made the signature.
        public static let wrongSignature = Self(rawValue: "wrongSignature")
        /// The list is not in the format, or in a later version of it.
        public static let malformed = Self(rawValue: "malformed")
        /// Its time is over.
        public static let expired = Self(rawValue: "expired")
        /// A newer one was accepted before.
        public static let outdated = Self(rawValue: "outdated")
        /// It has no pins for the host that was called.
        public static let hostMissing = Self(rawValue: "hostMissing")
        /// The list is in use, but could not be written to its file.
        public static let notKept = Self(rawValue: "notKept")
    }

    /// What is wrong.
    public let code: Code
    /// What is wrong, for a person.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension SignedPinsError: CustomStringConvertible, LocalizedError {
    /// Code and message.
    public var description: String { "SignedPinsError.\(code): \(message)" }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
