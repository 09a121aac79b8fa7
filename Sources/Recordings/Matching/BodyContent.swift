internal import Foundation
internal import InterceptorsArchives
internal import InterceptorsTransport

/// A request's content without its secrets, in the form in which it is compared.
enum BodyContent {
    /// Left out, or unreadable; equal to any other such content.
    case unknown
    case json(OrderedJSON)
    case form([RecordedURL.Item])
    case parts([Part])
    case bytes(Data)

    struct Part {
        /// The lines of the head in lower case, sorted.
        let head: [UInt8]
        let name: String
        let content: BodyContent
    }

    // Deeper nesting is compared byte for byte.
    private static let maxDepth = 4

    init(_ request: RecordedExchange.Request, _ redaction: ExchangeRedaction) {
        guard let body = request.body else {
            self = .unknown
            return
        }
        let contentType = request.headerFields.first(.contentType)
        switch redaction.content(body, request.headerFields) {
        case .unchanged: self.init(body, contentType, depth: 0)
        case .changed(let bytes): self.init(bytes, contentType, depth: 0)
        case .unreadable: self = .unknown
        }
    }

    private init(_ bytes: Data, _ contentType: String?, depth: Int) {
        self = .bytes(bytes)
        guard !bytes.isEmpty, depth < Self.maxDepth else { return }
        let type = MediaType(contentType ?? "")
        if type.isForm {
            self = .form(RecordedURL.items(Array(bytes)[...]))
        } else if let boundary = type.boundary, let content = MultipartContent(Array(bytes), boundary: boundary) {
            self = .parts(Self.parts(content, depth: depth))
        } else if type.isJSON || type.essence.isEmpty && Self.looksLikeJSON(bytes) {
            if let json = try? OrderedJSON(parsing: bytes) { self = .json(json) }
        }
    }

    private static func looksLikeJSON(_ bytes: Data) -> Bool {
        let first = bytes.first { $0 > 0x20 }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }

    private static func parts(_ content: MultipartContent, depth: Int) -> [Part] {
        content.parts.map { part in
            let lines = String(decoding: content.bytes[part.head], as: UTF8.self).split(whereSeparator: \.isNewline)
            let head = lines.map { line in
                let name = line.prefix { $0 != ":" }
                let value = line.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
                return name.trimmingCharacters(in: .whitespaces).lowercased() + ":" + value
            }
            return Part(
                head: Array(head.sorted().joined(separator: "\n").utf8),
                name: content.name(of: part) ?? "",
                content: BodyContent(Data(content.bytes[part.body]), content.contentType(of: part), depth: depth + 1)
            )
        }
    }

    /// Appends bytes that are equal for equal contents.
    func append(to key: inout CanonicalBytes) {
        switch self {
        case .unknown: key.append(UInt8(ascii: "u"))
        case .json(let value):
            key.append(UInt8(ascii: "j"))
            value.append(to: &key)
        case .form(let items):
            key.append(UInt8(ascii: "f"))
            key.append(sorted: items.map(\.canonical))
        case .parts(let parts):
            key.append(UInt8(ascii: "m"))
            for part in Self.ordered(parts) {
                key.append(section: part.head)
                key.section { part.content.append(to: &$0) }
            }
        case .bytes(let bytes):
            guard !bytes.isEmpty else { return }
            key.append(UInt8(ascii: "b"))
            key.append(bytes)
        }
    }

    /// The parts in the order of their heads. Parts with one head keep their order, because it has a meaning.
    static func ordered(_ parts: [Part]) -> [Part] {
        parts.enumerated().sorted { left, right in
            if left.element.head == right.element.head { return left.offset < right.offset }
            return left.element.head.lexicographicallyPrecedes(right.element.head)
        }
        .map(\.element)
    }
}
