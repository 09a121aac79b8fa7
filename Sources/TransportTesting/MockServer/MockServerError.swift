internal import Foundation

/// Thrown when a ``MockServer`` can't be started.
public struct MockServerError: Error, Sendable, CustomStringConvertible {
    /// The action that the system refused, and the reason.
    public let message: String
    /// The system's error number.
    public let code: Int32

    init(_ action: String, code: Int32) {
        self.message = "The mock server could not \(action): \(String(cString: strerror(code)))."
        self.code = code
    }

    /// The message.
    public var description: String { message }
}
