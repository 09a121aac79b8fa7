internal import Foundation

/// Thrown when a ``MockServer`` can't be started.
struct MockServerError: Error, Sendable, CustomStringConvertible {
    /// The action that the system refused, and the reason.
    let message: String
    /// The system's error number.
    let code: Int32

    init(_ action: String, code: Int32) {
        self.message = "The mock server could not \(action): \(String(cString: strerror(code)))."
        self.code = code
    }

    /// The message.
    var description: String { message }
}
