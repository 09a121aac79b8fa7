internal import Foundation
internal import InterceptorsArchives
internal import InterceptorsTransport

/// A value of a request that is compared: its method, an item of its query, or a value in its JSON.
struct RequestFact {
    struct Place: Hashable {
        /// The part of the request, such as `query`.
        let part: String
        // Bytes: Swift takes strings with combined and with separate accents for equal.
        let path: [UInt8]
    }

    static let body = "body"

    let place: Place
    /// Equal for equal values.
    let value: [UInt8]
    /// The value in a few words.
    let text: String

    init(_ part: String, at path: some Sequence<UInt8> = [], _ value: some Sequence<UInt8>, text: String? = nil) {
        place = Place(part: part, path: Array(path))
        self.value = Array(value)
        self.text = Self.excerpt(text ?? "\"\(String(decoding: self.value, as: UTF8.self))\"")
    }

    /// The beginning of a text that holds no secrets, on one line.
    static func excerpt(_ text: String, limit: Int = 60) -> String {
        PrintableText.line(text.count > limit ? text.prefix(limit) + "…" : text)
    }

    /// The path of a member. Limited, because each value within has it: otherwise paths would take the square of a content's size.
    static func path(_ name: String, in path: String) -> String {
        String(decoding: (path.isEmpty ? name : "\(path).\(name)").utf8.prefix(300), as: UTF8.self)
    }

    /// The values of a redacted request, for each compared part.
    static func all(in request: RecordedExchange.Request, _ parts: [RequestMatching.Part]) -> [[RequestFact]] {
        let url = RecordedURL(request.url)
        return parts.map { part in
            switch part.kind {
            case .method: [RequestFact("method", request.method.rawValue.utf8)]
            case .origin:
                [RequestFact("origin", url.scheme + "://".utf8 + url.origin.host + ":".utf8 + url.origin.port)]
            case .path: [RequestFact("path", url.path)]
            case .query: url.items.filter(part.compares).map { RequestFact("query", at: $0.name, $0.value) }
            case .fields(let names):
                names.flatMap { name in
                    request.headerFields.filter { $0.name == name }
                        .map { RequestFact("field \(name)", $0.comparedValue.utf8) }
                }
            case .body: BodyContent(request, ExchangeRedaction(nil)).facts(at: "")
            }
        }
    }
}

extension BodyContent {
    fileprivate func facts(at path: String) -> [RequestFact] {
        switch self {
        case .unknown: [RequestFact(RequestFact.body, at: path.utf8, [], text: "unknown content")]
        case .json(let value): value.facts(at: path)
        case .form(let items): items.map { RequestFact(RequestFact.body, at: Array(path.utf8) + $0.name, $0.value) }
        case .parts(let parts):
            Self.ordered(parts).flatMap { $0.content.facts(at: RequestFact.path($0.name, in: path)) }
        case .bytes(let bytes) where bytes.isEmpty: []
        case .bytes(let bytes):
            [
                RequestFact(
                    RequestFact.body,
                    at: path.utf8,
                    bytes,
                    text: String(validating: bytes, as: UTF8.self) == nil ? "\(bytes.count) bytes" : nil
                )
            ]
        }
    }
}

extension OrderedJSON {
    /// The values that hold no others, each with its path, such as `items[2].name`.
    fileprivate func facts(at path: String) -> [RequestFact] {
        switch self {
        case .object(let members) where !members.isEmpty:
            return members.flatMap { $0.value.facts(at: RequestFact.path($0.name, in: path)) }
        case .array(let elements) where !elements.isEmpty:
            return elements.enumerated().flatMap { $1.facts(at: "\(path)[\($0)]") }
        default:
            var canonical = CanonicalBytes()
            append(to: &canonical)
            let text = String(decoding: data(), as: UTF8.self)
            return [RequestFact(RequestFact.body, at: path.utf8, canonical.bytes, text: text)]
        }
    }
}
