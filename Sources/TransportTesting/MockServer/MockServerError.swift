internal import Foundation

/// Why a ``MockServer`` could not be started.
public struct MockServerError: Error, Sendable, CustomStringConvertible {
    /// What the system refused, and why.
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
