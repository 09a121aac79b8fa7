public import Foundation

extension Redaction {
    /// The beginning of a body as text for an error or a log, with secrets replaced as by ``text(_:)``. Anything but UTF-8 text
    /// is only described.
    ///
    /// - Parameters:
    ///   - body: the bytes, of which at most `limit` are read.
    ///   - limit: the maximum number of bytes to show. By default 1024.
    public func excerpt(of body: Data, limit: Int = 1024) -> String {
        excerpt(of: body, limit: limit, isComplete: true)
    }

    /// The beginning of a body as text, with secrets replaced. Pass `false` for `isComplete` if the body itself was cut: the
    /// end of a secret may then be missing, so unfinished values are hidden too.
    package func excerpt(of body: Data, limit: Int = 1024, isComplete: Bool) -> String {
        guard !body.isEmpty else { return "" }
        let shown = Array(body.prefix(max(0, limit)))
        let isShortened = shown.count < body.count
        let isCut = isShortened || !isComplete
        guard let text = Self.text(shown, isCut: isCut) else { return "<\(body.count) bytes of binary data>" }
        let redacted = String(decoding: redacting(text, isCut: isCut), as: UTF8.self)
        return isShortened ? "\(redacted)… (\(body.count) bytes)" : redacted
    }

    /// The beginning of a body as text, with secrets replaced unless `redaction` is `nil`. Returns `nil` for anything but UTF-8
    /// text.
    ///
    /// Searches more than it returns, because a value may be a secret by the text after it.
    ///
    /// - Parameter limit: the maximum number of bytes to return of a body that is longer.
    package static func beginning(
        of body: Data,
        upTo limit: Int,
        redactedBy redaction: Redaction?
    ) -> (text: String, isCut: Bool)? {
        let limit = max(0, limit)
        func beginning(_ count: Int) -> [UInt8]? {
            let isCut = body.count > count
            return text(Array(body.prefix(count)), isCut: isCut).map { redaction?.redacting($0, isCut: isCut) ?? $0 }
        }
        // Text may be followed by bytes that are none.
        guard let shown = beginning(min(limit, .max - lookahead) + lookahead) ?? beginning(limit) else {
            return nil
        }
        guard body.count > limit else { return (String(decoding: shown, as: UTF8.self), false) }
        return text(Array(shown.prefix(limit)), isCut: true).map { (String(decoding: $0, as: UTF8.self), true) }
    }

    /// The number of bytes to search after those that are returned.
    private static let lookahead = 4 << 10

    /// The bytes as UTF-8 text, or `nil` for anything else. A scalar cut in two at the end is dropped.
    private static func text(_ bytes: [UInt8], isCut: Bool) -> [UInt8]? {
        guard !bytes.contains(0) else { return nil }
        for dropped in 0...(isCut ? min(3, bytes.count) : 0) {
            let whole = bytes.dropLast(dropped)
            if String(validating: whole, as: UTF8.self) != nil { return Array(whole) }
        }
        return nil
    }
}
