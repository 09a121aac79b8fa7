internal import Foundation
internal import InterceptorsArchives

/// A part of a request without its secrets, in the form in which it is compared. Messages name differences by paths in its JSON.
struct ComparedPart {
    static let body = "body"
    // Deeper nesting is compared byte for byte.
    private static let maxDepth = 4

    /// The part, such as `query`; in multipart content the name of an item.
    let name: String
    /// How the content was read, and in multipart content the head of the item. Contents of different kinds differ.
    let kind: String
    /// `nil` if there is nothing.
    let value: OrderedJSON?

    init(_ name: String, kind: String = "", _ value: OrderedJSON?) {
        (self.name, self.kind, self.value) = (name, kind, value)
    }

    /// A part with several values, some of them perhaps under one name.
    fileprivate init(_ name: String, _ members: [OrderedJSON.Member]) {
        self.init(name, members.isEmpty ? nil : .object(members))
    }

    /// The content of a redacted request. Content that was left out, or can't be read, is equal to any other such content.
    fileprivate init(bodyOf request: RecordedExchange.Request) {
        guard let body = request.body else {
            self.init(Self.body, kind: "unknown", .string("unknown content"))
            return
        }
        let (kind, value) = Self.read(body, request.headers.first(.contentType), depth: 0)
        self.init(Self.body, kind: kind, value)
    }

    var members: [OrderedJSON.Member] { [(name, value ?? .null), (name, .string(kind))] }

    private static func read(_ bytes: Data, _ contentType: String?, depth: Int) -> (kind: String, OrderedJSON?) {
        if bytes.isEmpty { return ("empty", nil) }
        let type = MediaType(contentType ?? "")
        if depth < maxDepth {
            if type.isForm { return ("form", .object(RecordedURL.items(Array(bytes)[...]).members)) }
            if let boundary = type.boundary, let content = MultipartContent(Array(bytes), boundary: boundary) {
                return ("parts", .object(items(of: content, depth: depth).flatMap(\.members)))
            }
            if type.isJSON || type.essence.isEmpty && looksLikeJSON(bytes), let json = try? OrderedJSON(parsing: bytes)
            {
                return ("json", json)
            }
        }
        if let text = String(validating: bytes, as: UTF8.self) { return ("text", .string(text)) }
        return ("binary", .string("\(bytes.count) bytes, \(bytes.base64EncodedString())"))
    }

    private static func looksLikeJSON(_ bytes: Data) -> Bool {
        let first = bytes.first { $0 > 0x20 }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }

    /// The items in the order of their heads. Items with one head keep their order, because it has a meaning.
    private static func items(of content: MultipartContent, depth: Int) -> [ComparedPart] {
        let items = content.parts.map { part in
            let lines = String(decoding: content.bytes[part.head], as: UTF8.self).split(whereSeparator: \.isNewline)
            let head = lines.map { line in
                let name = line.prefix { $0 != ":" }
                let value = line.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
                return name.trimmingCharacters(in: .whitespaces).lowercased() + ":" + value
            }
            let (kind, value) = read(Data(content.bytes[part.body]), content.contentType(of: part), depth: depth + 1)
            let order = head.sorted().joined(separator: "\n")
            return (order, ComparedPart(content.name(of: part) ?? "", kind: "\(order)\n\(kind)", value))
        }
        return items.ordered { $0.0 }.map(\.1)
    }
}

/// The compared parts of a request as bytes: equal for requests that match, and different for others.
typealias RequestKey = [UInt8]

extension RequestMatching {
    /// The key of a request, whether it is redacted or not.
    ///
    /// - Parameters:
    ///   - request: the request with its content in memory.
    ///   - redaction: the redaction of the recording.
    func key(of request: RecordedExchange.Request, _ redaction: ExchangeRedaction) -> RequestKey {
        var request = request
        // Fields such as Content-Length are those of the redacted content. Without either, content needn't be read.
        if !self.parts.contains(where: \.needsContent) { request.body = nil }
        let parts = compared(redaction.redacted(request)).map { OrderedJSON.object($0.members).canonical }
        return RequestKey(OrderedJSON.array(parts).data())
    }

    /// The compared parts of a redacted request.
    func compared(_ request: RecordedExchange.Request) -> [ComparedPart] {
        let url = RecordedURL(request.url)
        return parts.flatMap { part -> [ComparedPart] in
            switch part {
            case .method: return [ComparedPart("method", .string(request.method.rawValue))]
            case .origin:
                let origin = url.scheme + "://".utf8 + url.origin.host + ":".utf8 + url.origin.port
                return [ComparedPart("origin", .string(String(bytes: origin)))]
            case .path: return [ComparedPart("path", .string(String(bytes: url.path)))]
            case .query: return [ComparedPart("query", url.items.filter(part.compares).members)]
            case .fields(let names):
                return names.map { name in
                    let fields = request.headers.filter { $0.name == name }
                    return ComparedPart("field \(name)", fields.map { ("", .string($0.comparedValue)) })
                }
            case .body: return [ComparedPart(bodyOf: request)]
            }
        }
    }
}

extension RecordedExchange.Request {
    /// A request whose content is in memory. Any other content counts as unknown.
    init(_ request: HTTPRequest) {
        self.init(
            method: request.method,
            url: request.url.absoluteString,
            headers: request.headers,
            body: request.body.data,
            credentialFields: request.context.credentialFields
        )
    }
}

extension RequestMatching.Part {
    fileprivate var needsContent: Bool {
        switch self {
        case .body, .fields: true
        default: false
        }
    }

    /// Whether this part compares an item of a query.
    fileprivate func compares(_ item: RecordedURL.Item) -> Bool {
        guard case .query(let names, let isOnly) = self else { return false }
        return names.contains(String(decoding: item.name, as: UTF8.self)) == isOnly
    }
}

extension [RecordedURL.Item] {
    /// The items as members, whose order depends on nothing but them.
    fileprivate var members: [OrderedJSON.Member] {
        map { (String(bytes: $0.name), .string(String(bytes: $0.value))) }.ordered { $0.value.string ?? "" }
    }
}

extension String {
    /// Bytes as text. Bytes that aren't UTF-8 become base64, so that they stay different.
    fileprivate init(bytes: some Collection<UInt8>) {
        self = String(validating: bytes, as: UTF8.self) ?? "base64:" + Data(bytes).base64EncodedString()
    }
}

extension HTTPField {
    /// The value without a boundary.
    fileprivate var comparedValue: String { name == .contentType ? MediaType.withoutBoundary(value) : value }
}
