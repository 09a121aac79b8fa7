public import Foundation

/// A value that names the target of a call: a `URL`, or text such as a link from a response.
///
/// ```swift
/// let more: [Film] = try await api.get(nextURL)        // a URL or a String
/// ```
/// A literal is a ``RequestTarget`` itself, whose interpolated values are data. A `String` is a whole path or URL: text that
/// others wrote can choose the host.
public protocol RequestTargetConvertible: Sendable {
    /// The target that the value names.
    var requestTarget: RequestTarget { get }
}

extension URL: RequestTargetConvertible {
    /// The URL, or a path below the client's base URL if it is relative.
    public var requestTarget: RequestTarget { RequestTarget(self) }
}

extension String: RequestTargetConvertible {
    /// The text as a whole path or URL.
    public var requestTarget: RequestTarget { RequestTarget(text: self) }
}
