internal import Foundation
internal import InterceptorsSyntax

/// A value of `Content-Type` (RFC 9110 §8.3.1).
package struct MediaType {
    /// Type and subtype in lower case, such as `text/html`.
    package let essence: String
    private let parameters: [(name: String, value: String)]

    package init(_ text: String) {
        let parts = Self.split(Array(text.utf8))
        essence = parts.first.map(Self.trimmed)?.lowercased() ?? ""
        parameters = parts.dropFirst().compactMap { part in
            guard let sign = part.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            return (Self.trimmed(part[..<sign]).lowercased(), Self.unquoted(part[(sign + 1)...]))
        }
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
        guard MediaType(text).boundary != nil else { return text }
        let parts = split(Array(text.utf8)).filter { part in
            let name = part.prefix { $0 != UInt8(ascii: "=") }
            return name.count == part.count || trimmed(name).lowercased() != "boundary"
        }
        return parts.map(trimmed).joined(separator: "; ")
    }

    package func parameter(_ name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// The parts between semicolons that aren't in a quoted string.
    private static func split(_ text: [UInt8]) -> [ArraySlice<UInt8>] {
        var parts: [ArraySlice<UInt8>] = []
        var (start, index, isQuoted) = (0, 0, false)
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: "\\") where isQuoted: index += 1
            case UInt8(ascii: ";") where !isQuoted:
                parts.append(text[start..<index])
                start = index + 1
            default: break
            }
            index += 1
        }
        return parts + [text[start...]]
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> String {
        String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespaces)
    }

    private static func unquoted(_ text: ArraySlice<UInt8>) -> String {
        let text = trimmed(text)
        guard text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
        var result = ""
        var isEscaped = false
        for character in text.dropFirst().dropLast() {
            if character == "\\", !isEscaped {
                isEscaped = true
            } else {
                result.append(character)
                isEscaped = false
            }
        }
        return result
    }
}
