internal import Foundation

/// Makes the redacted form of messages, errors and notes. What a message has in common with another one is shared.
struct JournalWriter: Sendable {
    /// About the memory that a message takes beside its fields and texts.
    static let messageSize = 160

    private static let maxTextLength = 8 << 10
    private static let maxNameLength = 256
    private static let maxFieldCount = 256
    private static let maxMessageLength = 1 << 10

    let redaction: Redaction?
    let bodyLimit: Int
    /// The number of bytes to keep of all fields of a message.
    private let fieldLimit: Int

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - bodyLimit: the number of bytes to keep of a body.
    ///   - callLimit: the size of a call, of which a message's fields or body take a sixteenth at most.
    init(redaction: Redaction?, bodyLimit: Int, callLimit: Int) {
        self.redaction = redaction
        self.bodyLimit = min(bodyLimit, callLimit / 16)
        fieldLimit = callLimit / 16
    }

    /// About the memory that a text takes.
    static func size(of text: String?) -> Int { text.map { $0.utf8.count + 32 } ?? 0 }

    // MARK: Messages

    /// The redacted form of a message.
    ///
    /// - Parameters:
    ///   - previous: the head of the message that this one was made from, if any.
    ///   - request: on a response, the head of its request.
    func message(of parts: JournalParts, after previous: JournalHead?, to request: JournalHead?) -> JournalMessage {
        var size = Self.messageSize
        var message = JournalCall.Message(
            method: parts.method.map { Self.limited($0.rawValue, to: Self.maxNameLength) },
            status: parts.status
        )
        if let head = [previous, request].compactMap(\.self).first(where: { $0.parts.hasSameURL(as: parts) }) {
            message.url = head.message.value.url
        } else {
            message.url = parts.url.map(shown)
            size += Self.size(of: message.url)
        }
        if let previous, previous.parts.hasSameBody(as: parts) {
            message.body = previous.message.value.body
        } else {
            message.body = body(of: parts)
            size += Self.size(of: message.body.text)
        }
        let omittedCount = addFields(of: parts, to: &message, after: previous, size: &size)
        return JournalMessage(message, size: size, omittedCount: omittedCount)
    }

    private func shown(_ url: URL) -> String {
        Self.limited(redaction?.string(for: url) ?? url.absoluteString, to: min(Self.maxTextLength, fieldLimit))
    }

    /// Adds fields and their size, and returns the number of omitted ones. The fields at the beginning that the previous
    /// message has too are not redacted again.
    private func addFields(
        of parts: JournalParts,
        to message: inout JournalCall.Message,
        after previous: JournalHead?,
        size: inout Int
    ) -> Int {
        let fields = parts.fields
        let (old, shownOld) = (previous?.parts.fields ?? [:], previous?.message.value.fields ?? [:])
        let count = min(fields.count, Self.maxFieldCount)
        let first = zip(fields.prefix(count), zip(old, shownOld)).prefix { Self.isSame($0, $1.0) }.count
        if first == count, count == shownOld.count {
            message.fields = shownOld
            return 0
        }
        var room = fieldLimit
        let changed = fields[first..<count].map { field in
            let name = Self.limited(field.name.rawName, to: Self.maxNameLength)
            let value = redaction?.value(of: field, declared: parts.credentialFields) ?? field.value
            let shown = Self.limited(value, to: max(0, min(Self.maxTextLength, room)))
            room -= name.utf8.count + shown.utf8.count
            size += Self.size(of: name) + Self.size(of: shown)
            return HTTPField(unchecked: .init(unchecked: name), shown)
        }
        message.fields = HTTPFields(Array(shownOld.prefix(first)) + changed)
        size += count * MemoryLayout<HTTPField>.stride
        return fields.count - count
    }

    // Names are equal without regard to case, but are shown as they are spelled.
    private static func isSame(_ field: HTTPField, _ other: HTTPField) -> Bool {
        field == other && field.name.rawName == other.name.rawName
    }

    private func body(of parts: JournalParts) -> JournalCall.Body {
        var shown = JournalCall.Body(isStream: parts.bytes == nil, size: parts.length)
        if let content = parts.bytes, !content.isEmpty, bodyLimit > 0,
            let beginning = Redaction.beginning(
                of: content,
                type: parts.fields[.contentType],
                upTo: bodyLimit,
                redactedBy: redaction
            )
        {
            (shown.text, shown.isCut) = (beginning.text, beginning.isCut)
        }
        return shown
    }

    // MARK: Errors and notes

    /// The redacted form of an error: its type, its code and its message.
    func text(of error: any Error) -> String {
        if error.isCancelled { return JournalCall.cancelled }
        let type = Self.limited("\(Swift.type(of: error))", to: Self.maxNameLength)
        let name = (error as? any HTTPError).map { "\(type).\(shortened("\($0.code)"))" } ?? type
        let message = redacted(Self.message(of: error))
        return message.isEmpty ? name : "\(name): \(message)"
    }

    /// The type, the code and the message of an error, not redacted.
    static func rawText(of error: any Error) -> String {
        "\(Swift.type(of: error)).\((error as? any HTTPError)?.code.rawValue ?? ""): \(message(of: error))"
    }

    /// An error's message, not yet redacted.
    static func message(of error: any Error) -> String {
        (error as? any HTTPError)?.message ?? ErrorText.description(of: error)
    }

    func redacted(_ note: CallNote) -> CallNote {
        CallNote(shortened(note.decision), redacted(note.text), callID: note.callID)
    }

    /// A code with secrets replaced, because an author may put any text there.
    private func shortened(_ text: String) -> String {
        Self.limited(redaction?.text(text) ?? text, to: Self.maxNameLength)
    }

    /// A text for a person, with secrets replaced.
    private func redacted(_ text: String) -> String {
        redaction?.text(text, limit: Self.maxMessageLength) ?? Self.limited(text, to: Self.maxMessageLength)
    }

    /// The beginning of a redacted text.
    private static func limited(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        return String(decoding: text.utf8.prefix(limit), as: UTF8.self) + "…"
    }
}
