package import Foundation

/// Encodes values and names media types for a stub's answers and a mock server's responses.
package enum StubContent {
    /// A value as JSON, with an encoder that by default sorts keys.
    package static func json(_ value: some Encodable, _ encoder: JSONEncoder?) throws -> Data {
        let chosen = encoder ?? JSONEncoder()
        if encoder == nil { chosen.outputFormatting = .sortedKeys }
        return try chosen.encode(value)
    }

    /// The fields, with a content type unless they have one.
    package static func fields(_ fields: HTTPFields, _ contentType: String?) -> HTTPFields {
        guard let contentType else { return fields }
        var fields = fields
        fields.addMissing([.contentType: contentType])
        return fields
    }

    /// The media type of a common file extension.
    package static func type(of file: URL) -> String? {
        switch file.pathExtension.lowercased() {
        case "json": "application/json"
        case "txt": "text/plain; charset=utf-8"
        case "html": "text/html; charset=utf-8"
        case "xml": "application/xml"
        case "csv": "text/csv"
        case "png": "image/png"
        case "jpg", "jpeg": "image/jpeg"
        case "gif": "image/gif"
        case "svg": "image/svg+xml"
        case "pdf": "application/pdf"
        default: nil
        }
    }
}
