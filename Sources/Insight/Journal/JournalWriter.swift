internal import Foundation
internal import Interceptors

/// Writes messages, errors and notes without their secrets. A message is written as its difference from another one.
struct JournalWriter: Sendable {
    /// The parts of a message that follow.
    struct Parts: OptionSet {
        let rawValue: UInt8

        static let start = Self(rawValue: 1)
        static let url = Self(rawValue: 2)
        static let fields = Self(rawValue: 4)
        static let body = Self(rawValue: 8)
        /// The URL of a response is that of the step's request.
        static let requestURL = Self(rawValue: 16)
        /// Nothing but the status of a response is known.
        static let isCut = Self(rawValue: 32)
    }

    struct BodyParts: OptionSet {
        let rawValue: UInt8

        static let stream = Self(rawValue: 1)
        static let size = Self(rawValue: 2)
        static let text = Self(rawValue: 4)
        static let isCut = Self(rawValue: 8)
        /// The content differs from the previous one.
        static let isChanged = Self(rawValue: 16)
    }

    private static let maxTextLength = 8 << 10
    private static let maxNameLength = 256
    private static let maxFieldCount = 256
    private static let maxMessageLength = 1 << 10

    let names = JournalNames()
    /// Values that many calls have. The table outlives the calls, so it holds no field that may be about a person.
    let values = JournalNames()
    /// The ready-made interceptors' decisions whose texts are always the same.
    private static let commonDecisions: Set<String> = ["cacheMiss", "envelopeOpened", "refreshBegun", "sentAgain"]
    private static let commonFields: Set<HTTPField.Name> = [
        .accept, .acceptEncoding, .cacheControl, .cacheStatus, .connection, .contentEncoding, .contentType, .vary,
    ]
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

    // MARK: Messages

    /// Writes a request as its difference from the request of the step outside, and returns the number of omitted fields.
    func write(
        _ body: HTTPBody,
        _ head: JournalHead,
        after previous: JournalHead?,
        to bytes: inout JournalBytes
    ) -> Int {
        var parts: Parts = []
        guard head !== previous else {
            bytes.append(parts.rawValue)
            return 0
        }
        if previous?.method != head.method { parts.insert(.start) }
        if !head.hasSameURL(as: previous?.url) { parts.insert(.url) }
        if !Self.isSame(head.fields, previous) { parts.insert(.fields) }
        if previous?.hasSameBody(as: head) != true { parts.insert(.body) }
        bytes.append(parts.rawValue)
        if parts.contains(.start) { write(name: head.method?.rawValue ?? "", to: &bytes) }
        if parts.contains(.url) { write(head.url, to: &bytes) }
        var omitted = 0
        if parts.contains(.fields) {
            omitted = write(head.fields, after: previous?.fields, areForeign: false, to: &bytes)
        }
        if parts.contains(.body) { write(body, isChanged: previous != nil, to: &bytes) }
        return omitted
    }

    /// Writes a response as its difference from the response of an inner step, and returns the number of omitted fields.
    func write(
        _ response: borrowing HTTPResponse,
        _ head: JournalHead,
        after previous: JournalHead?,
        to requestURL: URL?,
        to bytes: inout JournalBytes
    ) -> Int {
        var parts: Parts = []
        if previous?.status != head.status { parts.insert(.start) }
        if previous == nil || !head.hasSameURL(as: previous?.url) {
            parts.insert(head.hasSameURL(as: requestURL) ? .requestURL : .url)
        }
        if !Self.isSame(head.fields, previous) { parts.insert(.fields) }
        if previous?.hasSameBody(as: head) != true { parts.insert(.body) }
        bytes.append(parts.rawValue)
        if parts.contains(.start) { bytes.append(number: head.status) }
        if parts.contains(.url) { write(head.url, to: &bytes) }
        var omitted = 0
        if parts.contains(.fields) {
            omitted = write(head.fields, after: previous?.fields, areForeign: true, to: &bytes)
        }
        if parts.contains(.body) { write(response.body, isChanged: previous != nil, to: &bytes) }
        return omitted
    }

    /// Writes only the status, for a call that has used up its room, and returns the number of omitted fields.
    func write(statusOf response: borrowing HTTPResponse, to bytes: inout JournalBytes) -> Int {
        bytes.append(Parts([.start, .isCut]).rawValue)
        bytes.append(number: response.status.code)
        return response.headerFields.count
    }

    private static func isSame(_ fields: HTTPFields, _ previous: JournalHead?) -> Bool {
        // Without the previous message, the reader of the bytes may start from one that has fields.
        guard let previous else { return false }
        return fields.isIdentical(to: previous.fields) || fields.elementsEqual(previous.fields, by: isSame)
    }

    private func write(_ url: URL?, to bytes: inout JournalBytes) {
        let limit = min(Self.maxTextLength, fieldLimit)
        bytes.append(text: url.map { Self.limited(redaction?.string(for: $0) ?? $0.absoluteString, to: limit) } ?? "")
    }

    /// Writes fields: the number of those at the beginning and at the end that stay, the fields between, and the indices of those
    /// whose values differ from the previous ones although their texts don't.
    private func write(
        _ fields: HTTPFields,
        after previous: HTTPFields?,
        areForeign: Bool,
        to bytes: inout JournalBytes
    ) -> Int {
        let previous = previous ?? HTTPFields()
        let (count, oldCount) = (min(fields.count, Self.maxFieldCount), min(previous.count, Self.maxFieldCount))
        var (first, last) = (0, 0)
        while first < min(count, oldCount), Self.isSame(fields[first], previous[first]) { first += 1 }
        while last < min(count, oldCount) - first,
            Self.isSame(fields[count - 1 - last], previous[oldCount - 1 - last])
        {
            last += 1
        }
        bytes.append(number: first)
        bytes.append(number: last)
        bytes.append(number: count - first - last)
        let replaced = previous[first..<(oldCount - last)]
        var revised: [Int] = []
        var room = fieldLimit
        for (index, field) in fields[first..<(count - last)].enumerated() {
            let start = bytes.count
            // Each field is written, because the next message counts them.
            write(name: field.name.rawName, isForeign: areForeign, to: &bytes)
            let limit = max(0, min(Self.maxTextLength, room))
            let text = shown(field, upTo: limit)
            let isCommon = Self.commonFields.contains(field.name)
            write(value: text, isCommon: isCommon, isForeign: areForeign, to: &bytes)
            room -= bytes.count - start
            if text != field.value, !replaced.contains(where: { Self.isSame($0, field) }),
                replaced.contains(where: { $0.name == field.name && shown($0, upTo: limit) == text })
            {
                revised.append(index)
            }
        }
        bytes.append(number: revised.count)
        for index in revised { bytes.append(number: index) }
        return fields.count - count
    }

    private func shown(_ field: HTTPField, upTo limit: Int) -> String {
        Self.limited(redaction?.value(of: field) ?? field.value, to: limit)
    }

    // Names are equal without regard to case, but are shown as they are spelled.
    private static func isSame(_ field: HTTPField, _ other: HTTPField) -> Bool {
        field == other && field.name.rawName == other.name.rawName
    }

    private func write(_ body: HTTPBody, isChanged: Bool, to bytes: inout JournalBytes) {
        var parts: BodyParts = isChanged ? .isChanged : []
        let size = body.length
        if body.bytes == nil { parts.insert(.stream) }
        if size != nil { parts.insert(.size) }
        var text: String?
        if let content = body.bytes, !content.isEmpty, bodyLimit > 0,
            let beginning = Redaction.beginning(of: content, type: nil, upTo: bodyLimit, redactedBy: redaction)
        {
            text = beginning.text
            parts.insert(.text)
            if beginning.isCut { parts.insert(.isCut) }
        }
        bytes.append(parts.rawValue)
        if let size { bytes.append(number: UInt64(size)) }
        if let text { bytes.append(text: text) }
    }

    // MARK: Errors and notes

    func write(_ fault: JournalFault, to bytes: inout JournalBytes) {
        bytes.append(fault.isCancellation ? 1 : 0)
        write(name: fault.type, to: &bytes)
        bytes.append(text: fault.code.map(shortened) ?? "")
        bytes.append(text: redacted(fault.text))
    }

    func write(_ note: CallNote, to bytes: inout JournalBytes) {
        let decision = shortened(note.decision)
        if decision == note.decision {
            write(name: decision, to: &bytes)
        } else {
            // The table of names outlives the call.
            bytes.append(number: 0)
            bytes.append(text: decision)
        }
        bytes.append(number: note.callID ?? 0)
        write(value: redacted(note.text), isCommon: Self.commonDecisions.contains(note.decision), to: &bytes)
    }

    /// Writes a value, or its number in the table of values if many calls have it.
    private func write(value: String, isCommon: Bool, isForeign: Bool = false, to bytes: inout JournalBytes) {
        if isCommon { return bytes.append(name: value, in: values, isForeign: isForeign) }
        bytes.append(number: 0)
        bytes.append(text: value)
    }

    private func write(name: String, isForeign: Bool = false, to bytes: inout JournalBytes) {
        bytes.append(name: Self.limited(name, to: Self.maxNameLength), in: names, isForeign: isForeign)
    }

    /// Writes a code with secrets replaced, because an author may put any text there.
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
