internal import Foundation

/// A user's name and password. Its descriptions and its mirror don't show the password.
public struct PasswordCredential: Sendable, Hashable {
    /// The user's name.
    public var username: String
    /// The password.
    public var password: String

    /// Creates a credential.
    public init(username: String, password: String) {
        self.username = username
        self.password = password
    }
}

extension PasswordCredential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name, with a placeholder for the password.
    public var description: String { "PasswordCredential(\(username), \(Redaction.standard.placeholder))" }

    /// Equal to ``description``.
    public var debugDescription: String { description }

    /// A mirror with the description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description], displayStyle: .struct) }
}

extension PasswordCredential {
    /// The value of `Authorization` for the basic scheme (RFC 7617 §2), in UTF-8; `nil` if the name contains a colon, or
    /// either part a control character.
    var basicAuthorization: String? {
        let text = "\(username):\(password)"
        guard !username.utf8.contains(UInt8(ascii: ":")), !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            return nil
        }
        return "Basic " + Data(text.utf8).base64EncodedString()
    }
}
