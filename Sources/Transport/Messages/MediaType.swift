internal import Foundation
internal import InterceptorsSyntax

/// A value of `Content-Type` (RFC 9110 §8.3.1).
package struct MediaType {
    /// Type and subtype in lower case, such as `text/html`.
    package let essence: String
    private let parameters: [(name: String, value: String)]

    package init(_ text: String) {
        var cursor = FieldCursor(text)
        let essence = String(decoding: cursor.takeWhile { $0 != UInt8(ascii: ";") }, as: UTF8.self)
        self.essence = essence.trimmingCharacters(in: .whitespaces).lowercased()
        parameters = cursor.takeParameters()
    }

    /// Whether content of this type may be JSON, such as `application/problem+json` and `application/x-amz-json-1.1`.
    package var isJSON: Bool { essence.contains("json") }
    package var isForm: Bool { essence == "application/x-www-form-urlencoded" }

    /// The boundary of a multipart type.
    package var boundary: String? { essence.hasPrefix("multipart/") ? parameter("boundary") : nil }

    /// Whether the type says that the content is no text.
    package var isBinary: Bool {
        let kinds = ["image/", "audio/", "video/", "font/"]
        if kinds.contains(where: essence.hasPrefix) { return essence != "image/svg+xml" }
        return ["application/zip", "application/gzip", "application/pdf", "application/wasm"].contains(essence)
    }

    /// A value of `Content-Type` without the boundary, which differs in each request.
    package static func withoutBoundary(_ text: String) -> String {
        let type = MediaType(text)
        guard type.boundary != nil else { return text }
        let kept = type.parameters.filter { $0.name != "boundary" }.map { "; \($0.name)=\($0.value)" }
        return type.essence + kept.joined()
    }

    package func parameter(_ name: String) -> String? { parameters.first { $0.name == name }?.value }
}
