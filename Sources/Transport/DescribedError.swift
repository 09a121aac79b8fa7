public import Foundation

/// An error that describes itself on one line, without secrets, and shows this line wherever it is printed.
public protocol DescribedError: LocalizedError, CustomStringConvertible, CustomDebugStringConvertible, Sendable {}

extension DescribedError {
    /// Equal to `description`.
    public var debugDescription: String { description }

    /// Equal to `description`.
    public var errorDescription: String? { description }

    /// `nil`, because the description says all.
    public var failureReason: String? { nil }

    /// `nil`, because the description says all.
    public var recoverySuggestion: String? { nil }

    /// `nil`, because there is no help book.
    public var helpAnchor: String? { nil }
}

extension ContextualError where Self: DescribedError {
    /// The line of an error about a request: its name, the message, and the method and the redacted URL if they are known.
    package static func line(
        _ code: some CustomStringConvertible,
        _ message: String,
        _ method: HTTPRequest.Method?,
        _ url: String?
    ) -> String {
        let text = "\(Self.self).\(code): \(message)"
        guard let method, let url else { return text }
        return "\(text) (\(method) \(url))"
    }
}
