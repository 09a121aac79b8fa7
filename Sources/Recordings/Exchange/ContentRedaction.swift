internal import Foundation
internal import InterceptorsSyntax

extension ExchangeRedaction {
    enum Content {
        case unchanged
        /// Other bytes, under no content coding.
        case changed(Data)
        /// The content can't be read, so it may hold secrets.
        case unreadable(String)
    }

    /// More is not decoded: a small content can be the coded form of any size.
    private static let decodedLimit = 256 << 20

    /// Content without its secrets.
    ///
    /// Content under a coding is decoded, so that a person can read and edit it.
    func content(_ content: Data, _ fields: HTTPFields) -> Content {
        guard !isOff, !content.isEmpty else { return .unchanged }
        let type = fields.first(.contentType) ?? ""
        guard ContentDecoding.isCoded(fields) else {
            return redacted(content, type).map { .changed($0) } ?? .unchanged
        }
        guard let decoded = ContentDecoding.decoded(content, fields, upTo: Self.decodedLimit) else {
            return .unreadable("The content's coding can't be undone here, so it may hold secrets.")
        }
        return .changed(redacted(decoded, type) ?? decoded)
    }

    /// The bytes without their secrets; `nil` if there are none. Content in UTF-16 or UTF-32 is read in its own encoding.
    private func redacted(_ bytes: Data, _ contentType: String) -> Data? {
        let type = MediaType(contentType)
        guard !type.isBinary || String(validating: bytes, as: UTF8.self) != nil else { return nil }
        if let encoding = Self.wideEncoding(of: bytes, contentType), let text = String(data: bytes, encoding: encoding)
        {
            return redacted(Array(text.utf8), type).flatMap {
                String(decoding: $0, as: UTF8.self).data(using: encoding)
            }
        }
        return redacted(Array(bytes), type).map { Data($0) }
    }

    private static func wideEncoding(of bytes: Data, _ contentType: String) -> String.Encoding? {
        let named = bytes.contains(0) ? HTTPResponse.encoding(of: contentType) : nil
        let encoding = ByteOrderMark.beginning(bytes)?.encoding ?? named
        return encoding.flatMap { $0 == .utf8 ? nil : $0 }
    }

    private func redacted(_ bytes: [UInt8], _ type: MediaType) -> [UInt8]? {
        var result = bytes
        if let redaction {
            let known = redaction.redacted(content: bytes, type: type, isCut: isCut)
            // In binary content, a text would be chance.
            let isText = known == nil && String(validating: bytes, as: UTF8.self) != nil
            result = known ?? (isText ? redaction.redacted(bytes, isCut: isCut) : nil) ?? bytes
        }
        if let hook, let text = String(validating: result, as: UTF8.self) { result = Array(hook(text).utf8) }
        return result == bytes ? nil : result
    }
}
