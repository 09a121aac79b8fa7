internal import Foundation
internal import Transport

extension ExchangeRedaction {
    enum Content {
        case unchanged
        /// Other bytes, under no content coding.
        case changed(Data)
        /// What the content holds can't be known.
        case unreadable(String)
    }

    /// More is not decoded: a small content can be the coded form of any size.
    private static let decodedLimit = 256 << 20

    /// Content without its secrets.
    ///
    /// Content under a coding is decoded, so that a person can read and edit it.
    func content(_ content: Data, _ fields: HTTPFields) -> Content {
        guard !isOff, !content.isEmpty else { return .unchanged }
        let contentType = fields.first(.contentType)
        guard ContentDecoding.isCoded(fields) else {
            return redacted(content, contentType).map { .changed($0) } ?? .unchanged
        }
        guard let decoded = ContentDecoding.decoded(content, fields, upTo: Self.decodedLimit) else {
            return .unreadable(
                "The content is under a content coding that can't be undone here, so it may hold secrets."
            )
        }
        return .changed(redacted(decoded, contentType) ?? decoded)
    }

    /// The bytes without their secrets; `nil` if there are none.
    private func redacted(_ bytes: Data, _ contentType: String?) -> Data? {
        let type = MediaType(contentType ?? "")
        if !type.isBinary, var wide = WideText(bytes, contentType: contentType) {
            let text = text(wide.text)
            guard text != wide.text else { return nil }
            wide.text = text
            return wide.bytes
        }
        if let text = String(validating: bytes, as: UTF8.self) {
            let redacted = self.text(text)
            return redacted == text ? nil : Data(redacted.utf8)
        }
        if let boundary = type.boundary, let parts = MultipartContent(Array(bytes), boundary: boundary) {
            return redacted(parts, boundary: boundary)
        }
        if type.isBinary { return nil }
        let isText = !bytes.contains { $0 < 0x20 && !(0x09...0x0D).contains($0) && $0 != 0x1B }
        return isText ? redactedLatin(bytes) : redactedRuns(in: bytes)
    }

    // MARK: Bytes that aren't Unicode

    /// Reads each byte as a character. All charsets of the web contain ASCII, in which names and most secrets are written.
    private func redactedLatin(_ bytes: Data) -> Data? {
        let text = bytes.reduce(into: "") { $0.unicodeScalars.append(Unicode.Scalar($1)) }
        let redacted = self.text(text)
        guard redacted != text else { return nil }
        return redacted.unicodeScalars.reduce(into: Data()) { result, scalar in
            if let byte = UInt8(exactly: scalar.value) { result.append(byte) } else { result += String(scalar).utf8 }
        }
    }

    /// Shorter text within binary content is chance more often than text.
    private static let shortestRun = 8

    /// Searches the text within binary content.
    private func redactedRuns(in bytes: Data) -> Data? {
        let bytes = Array(bytes)
        var (result, copied, start) = (Data(), 0, 0)
        while start < bytes.count {
            let end = bytes[start...].firstIndex { $0 < 0x20 || $0 > 0x7E } ?? bytes.count
            if end - start >= Self.shortestRun {
                let text = String(decoding: bytes[start..<end], as: UTF8.self)
                let redacted = self.text(text)
                if redacted != text {
                    result += bytes[copied..<start]
                    result += redacted.utf8
                    copied = end
                }
            }
            start = end + 1
        }
        return copied == 0 ? nil : result + bytes[copied...]
    }

    // MARK: Parts

    /// Redacts the parts that are text together, because the name of a secret may be in another part, and each other part alone.
    private func redacted(_ content: MultipartContent, boundary: String) -> Data? {
        var binary: [Int: [UInt8]] = [:]
        for (index, part) in content.parts.enumerated() where !Self.isText(content.bytes[part.body]) {
            let body = Data(content.bytes[part.body])
            binary[index] = Array(redacted(body, content.contentType(of: part)) ?? body)
        }
        let emptied = content.replacing(binary.mapValues { _ in [] })
        let skeleton = String(decoding: emptied, as: UTF8.self)
        guard let redacted = MultipartContent(Array(text(skeleton).utf8), boundary: boundary),
            redacted.parts.count == content.parts.count
        else { return Data(placeholder.utf8) }
        for index in binary.keys {
            let part = redacted.parts[index]
            let isSecret = content.name(of: content.parts[index]).map { redaction?.isSensitive($0) == true } ?? false
            if isSecret { binary[index] = Array(placeholder.utf8) }
            // The redaction has put something into the emptied part, so it found the part's content to be a secret.
            if !part.body.isEmpty { binary[index] = Array(redacted.bytes[part.body]) }
        }
        let result = redacted.replacing(binary)
        return result == content.bytes ? nil : Data(result)
    }

    private var placeholder: String { redaction?.placeholder ?? Redaction.standard.placeholder }

    private static func isText(_ bytes: ArraySlice<UInt8>) -> Bool {
        !bytes.contains(0) && String(validating: bytes, as: UTF8.self) != nil
    }
}
