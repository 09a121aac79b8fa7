public import Foundation
internal import InterceptorsSyntax

extension Redaction {
    /// Content without its secrets, if its structure is known: JSON, events whose data is JSON, a form, or multipart. `nil` for any
    /// other content.
    ///
    /// - Parameters:
    ///   - type: the content's media type. Without a known structure, text that is JSON counts as JSON.
    ///   - isCut: whether the content may end anywhere.
    package func redacted(content bytes: [UInt8], type: MediaType, isCut: Bool, depth: Int = 0) -> [UInt8]? {
        // Content that nests deeper is replaced as a whole.
        guard depth <= 4 else { return Array(placeholder.utf8) }
        let redaction = knowingShape(of: bytes)
        if let boundary = type.boundary {
            guard let parts = MultipartContent(bytes, boundary: boundary, mayBeCut: true) else { return nil }
            return redaction.redacted(parts, boundary: boundary, isCut: isCut, depth: depth)
        }
        let first = bytes[ByteOrderMark.lengthOfUTF8(bytes)...].first { $0 > 0x20 }
        if type.isJSON || first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
            var redactor = JSONRedactor(bytes, by: redaction, isCut: isCut)
            let (text, isJSON) = redactor.run()
            if isJSON { return text }
            if type.isJSON { return isForPrograms ? redaction.redacted(text, isCut: isCut) ?? text : nil }
        }
        if type.isForm {
            var output: [UInt8] = []
            redaction.appendPairs(bytes[...], isCut: isCut, to: &output)
            return output
        }
        return type.essence == "text/event-stream" ? redaction.redacted(events: bytes, isCut: isCut) : nil
    }

    /// Names that are secret beside others only: `code` is an OAuth code beside `grant_type`, and a currency elsewhere.
    private static let shapes = [("grant_type", ["code"]), ("password", ["confirm", "pass", "pin"])]

    private func knowingShape(of content: [UInt8]) -> Redaction {
        guard isForPrograms else { return self }
        let shapes = Self.shapes.filter { Self.holds(content, "\"\($0.0)\"") || Self.holds(content, "\($0.0)=") }
        return shapes.isEmpty ? self : adding(names: shapes.flatMap(\.1))
    }

    /// Takes 1 ns a byte; `firstRange(of:)` takes 50.
    private static func holds(_ content: [UInt8], _ text: String) -> Bool {
        let (text, first) = (Array(text.utf8), text.utf8.first)
        return content.withUnsafeBufferPointer { bytes in
            bytes.indices.dropLast(text.count - 1).contains { bytes[$0] == first && bytes[$0...].starts(with: text) }
        }
    }

    private func redacted(events bytes: [UInt8], isCut: Bool) -> [UInt8] {
        let field = Array("data:".utf8)
        var output: [UInt8] = []
        var lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)[...]
        while let line = lines.first {
            if line.startIndex > 0 { output.append(0x0A) }
            // The lines of one event's data are one text.
            let data = lines.prefix { $0.starts(with: field) }
            let own = data.isEmpty ? [line] : data.map { $0.dropFirst(field.count) }
            lines = lines.dropFirst(own.count)
            let text = Array(own.joined(separator: [0x0A]))
            let shown = redacted(text, isCut: isCut && lines.isEmpty) ?? text
            let parts = data.isEmpty ? [shown[...]] : shown.split(separator: 0x0A, omittingEmptySubsequences: false)
            output += parts.map { (data.isEmpty ? [] : field) + $0 }.joined(separator: [0x0A])
        }
        return output
    }

    // MARK: Multipart

    private func redacted(_ content: MultipartContent, boundary: String, isCut: Bool, depth: Int) -> [UInt8] {
        var bodies: [Int: [UInt8]] = [:]
        for (index, part) in content.parts.enumerated() where !part.body.isEmpty {
            let isCut = isCut && index == content.parts.count - 1
            bodies[index] = body(of: part, in: content, isCut: isCut, depth: depth)
        }
        // A server ignores what is before and after the parts, so a log leaves it out.
        if isForPrograms {
            let result = content.replacing(bodies)
            // The heads and what is between the parts.
            return String(validating: result, as: UTF8.self) == nil ? result : redacted(result, isCut: isCut) ?? result
        }
        return content.onlyParts(bodies, boundary: boundary) { redacted($0, isCut: isCut) ?? $0 }
    }

    private func body(of part: MultipartContent.Part, in content: MultipartContent, isCut: Bool, depth: Int) -> [UInt8]
    {
        let body = Array(content.bytes[part.body])
        if let name = content.name(of: part), isSensitive(name) {
            note(name)
            return Array(placeholder.utf8)
        }
        let type = content.contentType(of: part).map { MediaType($0) }
        if let type, let known = redacted(content: body, type: type, isCut: isCut, depth: depth + 1) { return known }
        // The value of a form's field has no type.
        if isForPrograms || type == nil && String(validating: body, as: UTF8.self) != nil {
            return type?.isBinary == true ? body : redacted(body, isCut: isCut) ?? body
        }
        return Array(Self.summary(of: "\(body.count)", type: type).utf8)
    }

    // MARK: Beginnings

    /// The beginning of content for an error or a log, without secrets.
    ///
    /// JSON, forms, multipart and event streams are shown with the values of sensitive names replaced. Any other content is described by
    /// its type and size, as `<532 bytes of text/html>`, because nobody can tell a secret in prose, scripts and markup;
    /// ``showingOtherText`` shows it nevertheless.
    ///
    /// - Parameters:
    ///   - body: the bytes, of which at most `limit` are read.
    ///   - type: the value of `Content-Type`. Without one, text that is JSON counts as JSON.
    ///   - limit: the maximum number of bytes to show. By default 1024.
    public func excerpt(of body: Data, type: String? = nil, limit: Int = 1024) -> String {
        excerpt(of: body, type: type, limit: limit, isComplete: true)
    }

    /// The beginning of content as text. Pass `false` for `isComplete` if the body itself was cut: the end of a secret may then be
    /// missing, so unfinished values are hidden too.
    package func excerpt(of body: Data, type: String?, limit: Int = 1024, isComplete: Bool) -> String {
        guard !body.isEmpty else { return "" }
        let shown = Array(body.prefix(max(0, limit)))
        let isShortened = shown.count < body.count
        let type = type.map { MediaType($0) }
        guard let text = text(of: shown, type: type, isCut: isShortened || !isComplete) else {
            let isText = Self.text(Array(body), isCut: !isComplete) != nil
            return Self.summary(of: (isComplete ? "" : "at least ") + "\(body.count)", type: type, isText: isText)
        }
        return isShortened ? "\(text)… (\(body.count) bytes)" : text
    }

    /// The beginning of content as text, with secrets replaced unless `redaction` is `nil`. Returns `nil` for anything but UTF-8
    /// text, and for content that the redaction doesn't show.
    ///
    /// - Parameter limit: the maximum number of bytes to return of a body that is longer.
    package static func beginning(
        of body: Data,
        type: String?,
        upTo limit: Int,
        redactedBy redaction: Redaction?
    ) -> (text: String, isCut: Bool)? {
        let shown = Array(body.prefix(max(0, limit)))
        let isCut = shown.count < body.count
        guard let redaction else {
            return Self.text(shown, isCut: isCut).map { (String(decoding: $0, as: UTF8.self), isCut) }
        }
        guard let text = redaction.text(of: shown, type: type.map { MediaType($0) }, isCut: isCut) else { return nil }
        // A placeholder may be longer than the secret.
        guard isCut, text.utf8.count > limit else { return (text, isCut) }
        let beginning = Self.text(Array(text.utf8.prefix(limit)), isCut: true)
        return beginning.map { (String(decoding: $0, as: UTF8.self), true) }
    }

    private func text(of bytes: [UInt8], type: MediaType?, isCut: Bool) -> String? {
        guard let text = Self.text(bytes, isCut: isCut) ?? (type?.boundary == nil ? nil : bytes) else { return nil }
        if let known = redacted(content: text, type: type ?? MediaType(""), isCut: isCut) {
            return String(decoding: known, as: UTF8.self)
        }
        guard showsOtherText else { return nil }
        return String(decoding: redacted(text, isCut: isCut) ?? text, as: UTF8.self)
    }

    private static func summary(of count: String, type: MediaType?, isText: Bool = false) -> String {
        let kind = type.map(\.essence).flatMap { $0.isEmpty ? nil : PrintableText.line($0) }
        return "<\(count) bytes of \(kind ?? (isText ? "text" : "binary data"))>"
    }

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
