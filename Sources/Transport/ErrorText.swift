internal import Foundation

/// The text of errors that may come from outside this package.
package enum ErrorText {
    /// The text of an error on one line, redacted.
    package static func line(_ error: any Error) -> String {
        if let error = error as? any HTTPError { return error.description }
        return PrintableText.line(Redaction.standard.text(description(of: error), limit: 1024))
    }

    /// The text of an error, before redaction. For an error without a description, only the type's name and an enum's case.
    /// Redaction finds secrets by name, and stored or associated values may have no name.
    package static func description(of error: any Error) -> String {
        // Checks the type, because bridging to `NSError` lets any error be cast to these protocols.
        let type = type(of: error)
        if type is any CustomStringConvertible.Type || type is any CustomDebugStringConvertible.Type {
            return String(describing: error)
        }
        let mirror = Mirror(reflecting: error)
        guard mirror.displayStyle == .enum else {
            // The system's errors are bridged to `NSError`, which describes them without the values of their fields.
            return type is any CustomNSError.Type || type is NSError.Type ? String(describing: error) : "\(type)"
        }
        let name = mirror.children.first?.label.map { $0 + "(…)" } ?? String(describing: error)
        return "\(type).\(name)"
    }
}
