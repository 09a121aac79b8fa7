internal import Foundation
internal import InterceptorsTransport

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

    /// Content that nests deeper is replaced as a whole.
    private static let maxDepth = 4

    /// The bytes without their secrets; `nil` if there are none.
    private func redacted(_ bytes: Data, _ contentType: String?, depth: Int = 0) -> Data? {
        let type = MediaType(contentType ?? "")
        if let boundary = type.boundary {
            guard depth < Self.maxDepth else { return Data(Self.placeholder.utf8) }
            // Before any search in text, which takes each part's head and content for one text.
            if let parts = MultipartContent(Array(bytes), boundary: boundary, mayBeCut: true) {
                return redacted(parts, boundary: boundary, depth: depth)
            }
        }
        if !type.isBinary, let wide = WideText(bytes, contentType: contentType) { return redacted(wide, of: bytes) }
        return redactedBytes(bytes, isBinary: type.isBinary)
    }

    /// Text with units of one byte, or binary content.
    private func redactedBytes(_ bytes: Data, isBinary: Bool) -> Data? {
        if let text = String(validating: bytes, as: UTF8.self) {
            let redacted = self.text(text)
            return redacted == text ? nil : Data(redacted.utf8)
        }
        if isBinary { return nil }
        let isText = !bytes.contains { $0 < 0x20 && !(0x09...0x0D).contains($0) && $0 != 0x1B }
        return isText ? redactedLatin(bytes) : redactedRuns(in: bytes)
    }

    // MARK: Wide text

    /// Bytes with zeros may only look like wide text, so the text between the zeros is searched too. In wide text, zeros surround
    /// each letter of ASCII.
    private func redacted(_ wide: WideText, of original: Data) -> Data? {
        var wide = wide
        let text = text(wide.text)
        let isChanged = text != wide.text
        wide.text = text
        let bytes = Array(isChanged ? wide.bytes : original)
        var (result, copied) = (Data(), 0)
        for piece in bytes.split(separator: 0) where piece.count >= Self.shortestRun {
            guard let redacted = redactedBytes(Data(piece), isBinary: false) else { continue }
            result += bytes[copied..<piece.startIndex]
            result += redacted
            copied = piece.endIndex
        }
        return isChanged || copied > 0 ? result + bytes[copied...] : nil
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

    // A private key has several lines.
    private static func isText(_ byte: UInt8) -> Bool {
        0x20...0x7E ~= byte || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }

    /// Searches the text within binary content.
    private func redactedRuns(in bytes: Data) -> Data? {
        let bytes = Array(bytes)
        var (result, copied, start) = (Data(), 0, 0)
        while start < bytes.count {
            let end = bytes[start...].firstIndex { !Self.isText($0) } ?? bytes.count
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

    /// Hides the parts whose names are sensitive. Redacts the others that are text together, because the name of a secret may be in
    /// another part, and each binary or nested part alone.
    private func redacted(_ content: MultipartContent, boundary: String, depth: Int) -> Data? {
        var alone: [Int: [UInt8]] = [:]
        for (index, part) in content.parts.enumerated() where !part.body.isEmpty {
            let type = content.contentType(of: part)
            if content.name(of: part).map({ redaction?.isSensitive($0) == true }) ?? false {
                alone[index] = Array(Self.placeholder.utf8)
            } else if !Self.isText(content.bytes[part.body]) || MediaType(type ?? "").boundary != nil {
                let body = Data(content.bytes[part.body])
                alone[index] = Array(redacted(body, type, depth: depth + 1) ?? body)
            }
        }
        let emptied = content.replacing(alone.mapValues { _ in [] })
        let skeleton = text(String(decoding: emptied, as: UTF8.self))
        guard let redacted = MultipartContent(Array(skeleton.utf8), boundary: boundary, mayBeCut: true),
            redacted.parts.count == content.parts.count
        else { return Data((alone.isEmpty ? skeleton : Self.placeholder).utf8) }
        for index in alone.keys where !redacted.parts[index].body.isEmpty {
            // The redaction has put something into the emptied part, so it found the part's content to be a secret.
            alone[index] = Array(redacted.bytes[redacted.parts[index].body])
        }
        let result = redacted.replacing(alone)
        return result == content.bytes ? nil : Data(result)
    }

    private static func isText(_ bytes: ArraySlice<UInt8>) -> Bool {
        !bytes.contains(0) && String(validating: bytes, as: UTF8.self) != nil
    }
}
