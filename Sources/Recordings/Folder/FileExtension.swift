internal import Foundation
internal import InterceptorsSyntax

/// The extension of a file with content of a media type, and the media type of a file without a `Content-Type` in its head.
enum FileExtension {
    private static let types: [(type: String, fileExtension: String)] = [
        ("application/json", "json"), ("text/plain", "txt"), ("text/html", "html"), ("application/xml", "xml"),
        ("text/xml", "xml"), ("text/csv", "csv"), ("text/css", "css"), ("text/javascript", "js"),
        ("application/javascript", "js"), ("text/event-stream", "sse"), ("text/markdown", "md"), ("image/png", "png"),
        ("image/jpeg", "jpg"), ("image/gif", "gif"), ("image/svg+xml", "svg"), ("image/webp", "webp"),
        ("image/avif", "avif"), ("image/heic", "heic"), ("image/x-icon", "ico"), ("application/pdf", "pdf"),
        ("application/zip", "zip"), ("application/gzip", "gz"), ("application/wasm", "wasm"), ("audio/mpeg", "mp3"),
        ("audio/mp4", "m4a"), ("video/mp4", "mp4"), ("font/woff2", "woff2"), ("font/woff", "woff"),
        ("application/protobuf", "pb"), ("application/x-protobuf", "pb"), ("application/yaml", "yaml"),
        ("application/x-ndjson", "ndjson"), ("application/x-www-form-urlencoded", "form"),
    ]

    /// The extension for a `Content-Type`: `json` for every type whose name ends with `+json`, `bin` for an unknown type.
    static func of(_ contentType: String?) -> String {
        // Some servers send several types in one field.
        let type = MediaType(String(contentType?.prefix { $0 != "," } ?? "")).essence
        if let known = types.first(where: { $0.type == type }) { return known.fileExtension }
        if type.hasSuffix("+json") { return "json" }
        if type.hasSuffix("+xml") { return "xml" }
        return type.hasPrefix("text/") ? "txt" : "bin"
    }

    /// The `Content-Type` of a file with this extension; `nil` if it tells none.
    static func contentType(of fileExtension: String) -> String? {
        let file = URL(filePath: "/file." + fileExtension)
        return StubContent.type(of: file) ?? types.first { $0.fileExtension == fileExtension.lowercased() }?.type
    }

    /// A file's name without its extension, and the extension: a letter, and then at most nine letters and digits.
    static func split(_ name: String) -> (base: String, fileExtension: String?) {
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return (name, nil) }
        let ending = name[name.index(after: dot)...].utf8
        guard let first = ending.first, ending.count <= 10, !ASCII.isDigit(first),
            ending.allSatisfy(ASCII.isAlphanumeric)
        else { return (name, nil) }
        return (String(name[..<dot]), String(name[dot...].dropFirst()))
    }
}
