/// The text of errors that may not be ours.
package enum ErrorText {
    /// The text of an error, to be redacted. For an enum without a description, only the case's name: redaction finds secrets by
    /// their names, and an associated value may have none.
    package static func description(of error: any Error) -> String {
        // Checks the type, because the value of any error can be cast to these protocols where it is bridged to `NSError`.
        let type = type(of: error)
        if type is any CustomStringConvertible.Type || type is any CustomDebugStringConvertible.Type {
            return String(describing: error)
        }
        let mirror = Mirror(reflecting: error)
        guard mirror.displayStyle == .enum else { return String(describing: error) }
        let name = mirror.children.first?.label.map { $0 + "(…)" } ?? String(describing: error)
        return "\(type).\(name)"
    }
}
