package import Foundation
internal import InterceptorsSyntax

extension HTTPResponse {
    /// The content as text, decoded by its byte order mark, or else by the `charset` of its `Content-Type`, or else as UTF-8.
    ///
    /// Bytes that are invalid in the charset become U+FFFD. Text in an unknown charset is read as UTF-8.
    ///
    /// - Parameter limit: the maximum number of bytes to read. By default 64 MiB.
    /// - Throws: ``TransportError`` with ``HTTPErrorCode/bodyTooLarge`` beyond the limit. Rethrows errors of the body's
    ///   source.
    public func text(upTo limit: Int = 64 << 20) async throws -> String {
        Self.text(try await body.collect(upTo: limit), contentType: headers[.contentType])
    }

    /// Decodes content as ``text(upTo:)`` does.
    package static func text(_ content: Data, contentType: String?) -> String {
        if let mark = ByteOrderMark.beginning(content) {
            return text(content.dropFirst(mark.bytes.count), in: mark.encoding)
        }
        return text(content, in: contentType.flatMap(encoding(of:)) ?? .utf8)
    }

    /// Decodes content without looking for a byte order mark. Content that is invalid in the encoding is read as UTF-8.
    package static func text(_ content: Data, in encoding: String.Encoding) -> String {
        guard encoding != .utf8, let text = String(data: content, encoding: encoding) else {
            return String(decoding: content, as: UTF8.self)
        }
        return text
    }

    /// The encoding named by the `charset` parameter (RFC 9110 §8.3.2).
    package static func encoding(of contentType: String) -> String.Encoding? {
        // Some servers write single quotes.
        let name = MediaType(contentType).parameter("charset")?.filter { $0 != "'" }
        return name.flatMap { encodings[$0.lowercased()] }
    }

    // IANA's names, and the aliases that servers send. Without a mark, big endian is the default (RFC 2781 §4.3).
    private static let encodings: [String: String.Encoding] = [
        "utf-8": .utf8, "utf8": .utf8, "us-ascii": .windowsCP1252, "ascii": .windowsCP1252,
        "iso-8859-1": .isoLatin1, "latin1": .isoLatin1, "iso_8859-1": .isoLatin1, "iso-8859-2": .isoLatin2,
        "windows-1250": .windowsCP1250, "windows-1251": .windowsCP1251, "windows-1252": .windowsCP1252,
        "windows-1253": .windowsCP1253, "windows-1254": .windowsCP1254, "cp1252": .windowsCP1252,
        "utf-16": .utf16BigEndian, "utf-16be": .utf16BigEndian, "utf-16le": .utf16LittleEndian,
        "utf-32": .utf32BigEndian, "utf-32be": .utf32BigEndian, "utf-32le": .utf32LittleEndian,
        "shift_jis": .shiftJIS, "euc-jp": .japaneseEUC, "iso-2022-jp": .iso2022JP,
    ]
}

extension HTTPFields {
    /// The media type in `Content-Type`, in lower case and without its parameters (RFC 9110 §8.3.1).
    package var mediaType: String? {
        self[.contentType].map { $0.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased() }
    }
}
