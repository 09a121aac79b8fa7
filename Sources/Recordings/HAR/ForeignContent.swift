internal import Foundation
internal import InterceptorsTransport

/// Makes a response's fields agree with the content in an archive. Other programs write content without codings, and text as
/// Unicode; a person may have edited the content of any archive.
struct ForeignContent {
    /// Whether the archive is this package's, in which a person may have pasted an entry of another program.
    let isOwn: Bool
    /// Whether the content is still under its content coding.
    let isEncoded: Bool
    /// Whether the content was read from text.
    let isText: Bool
    /// Whether such a response has content, and all of it arrived and was kept.
    let isWhole: Bool

    func apply(to fields: inout HTTPFields, _ content: inout Data?) {
        if !isEncoded, !isOwn || content != nil && fields.contains(.contentEncoding) {
            if !isWhole, fields.contains(.contentEncoding) { fields.remove(.contentLength) }
            fields.remove(.contentEncoding)
            // They describe the connection to the recorded server.
            for name in [HTTPField.Name.transferEncoding, .connection, .keepAlive] { fields.remove(name) }
            if isText, let bytes = content { content = Self.encoded(bytes, fields.first(.contentType)) }
        }
        guard isWhole, fields.contains(.contentLength) else { return }
        fields[.contentLength] = String(content?.count ?? 0)
    }

    /// The text in the charset of its type. Text that the charset can't express, or of an unknown charset, stays UTF-8.
    private static func encoded(_ utf8: Data, _ type: String?) -> Data {
        guard let encoding = type.flatMap(HTTPResponse.encoding), encoding != .utf8 else { return utf8 }
        return String(decoding: utf8, as: UTF8.self).data(using: encoding) ?? utf8
    }
}
