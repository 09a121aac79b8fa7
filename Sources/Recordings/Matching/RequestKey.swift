internal import Foundation
internal import InterceptorsSyntax
internal import InterceptorsTransport

/// The compared parts of a request as bytes: equal for requests that match, and different for others.
typealias RequestKey = [UInt8]

extension RequestMatching {
    /// The key of a request, whether it is redacted or not.
    ///
    /// - Parameters:
    ///   - request: the request with its content in memory.
    ///   - redaction: the redaction of the recording.
    func key(of request: RecordedExchange.Request, _ redaction: ExchangeRedaction) -> RequestKey {
        var key = CanonicalBytes()
        // The redaction also corrects fields that describe the content, such as its length.
        lazy var redacted = redaction.redacted(request)
        lazy var url = RecordedURL(redaction.url(request.url))
        for part in parts {
            key.section { key in
                switch part.kind {
                case .method: key.append(request.method.rawValue.utf8)
                case .origin:
                    key.append(url.scheme)
                    key.append(section: url.origin.host)
                    key.append(url.origin.port)
                case .path: key.append(url.path)
                case .query: key.append(sorted: url.items.filter(part.compares).map(\.canonical))
                case .fields(let names): key.append(fields: names, of: redacted.headerFields)
                case .body: BodyContent(request, redaction).append(to: &key)
                }
            }
        }
        return key.bytes
    }
}

extension RecordedExchange.Request {
    /// A request whose content is in memory. Any other content counts as unknown.
    init(_ request: HTTPRequest) {
        self.init(
            method: request.method,
            url: request.url.absoluteString,
            headerFields: request.headerFields,
            body: request.body.bytes,
            credentialFields: request.context.credentialFields
        )
    }
}

extension RequestMatching.Part {
    /// Whether this part compares an item of a query.
    func compares(_ item: RecordedURL.Item) -> Bool {
        guard case .query(let names, let isOnly) = kind else { return false }
        return names.contains(String(decoding: item.name, as: UTF8.self)) == isOnly
    }
}

/// Collects bytes in sections whose lengths are part of the result, so that no section can imitate the next.
struct CanonicalBytes {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(128) }

    mutating func append(_ more: some Sequence<UInt8>) { bytes += more }
    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    mutating func section(_ body: (inout Self) -> Void) {
        bytes += [0, 0, 0, 0]
        let start = bytes.count
        body(&self)
        let length = UInt32(truncatingIfNeeded: bytes.count - start)
        for index in 0..<4 { bytes[start - 4 + index] = UInt8(truncatingIfNeeded: length >> (8 * UInt32(index))) }
    }

    mutating func append(section: some Sequence<UInt8>) { self.section { $0.append(section) } }

    /// Appends sections in an order that depends on nothing but them.
    mutating func append(sorted sections: [[UInt8]]) {
        if sections.count < 2 { return sections.forEach { append(section: $0) } }
        for section in sections.sorted(by: { $0.lexicographicallyPrecedes($1) }) { append(section: section) }
    }

    mutating func append(fields names: [HTTPField.Name], of fields: HTTPFields) {
        for name in names {
            section { key in fields.filter { $0.name == name }.forEach { key.append(section: $0.comparedValue.utf8) } }
        }
    }
}

extension RecordedURL.Item {
    /// Name and value with the name's length, because a decoded name may contain any byte.
    var canonical: [UInt8] {
        var bytes = CanonicalBytes()
        bytes.append(section: name)
        bytes.append(value)
        return bytes.bytes
    }
}

extension HTTPField {
    /// The value without a boundary.
    var comparedValue: String { name == .contentType ? MediaType.withoutBoundary(value) : value }
}
