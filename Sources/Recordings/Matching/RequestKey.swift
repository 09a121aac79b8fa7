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
            let start = key.beginSection()
            switch part.kind {
            case .method: key.append(request.method.rawValue)
            case .origin: url.appendOrigin(to: &key)
            case .path: key.append(url.path)
            case .query, .queryOnly: key.append(sorted: url.items.filter(part.compares).map(\.canonical))
            case .fields(let names): key.append(fields: names, of: redacted.headerFields)
            case .body: BodyContent(request, redaction).append(to: &key)
            }
            key.endSection(start)
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
    var isBody: Bool {
        if case .body = kind { return true }
        return false
    }

    /// Whether this part compares an item of a query.
    func compares(_ item: RecordedURL.Item) -> Bool {
        switch kind {
        case .query(let except): except.isEmpty || !except.contains(String(decoding: item.name, as: UTF8.self))
        case .queryOnly(let names): names.contains(String(decoding: item.name, as: UTF8.self))
        case .method, .origin, .path, .fields, .body: false
        }
    }
}

/// Collects bytes in sections whose lengths are part of the result, so that no section can imitate the next.
struct CanonicalBytes {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(128) }

    mutating func append(_ text: String) { bytes += text.utf8 }
    mutating func append(_ more: some Sequence<UInt8>) { bytes += more }
    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    mutating func beginSection() -> Int {
        bytes += [0, 0, 0, 0]
        return bytes.count
    }

    mutating func endSection(_ start: Int) {
        let length = UInt32(truncatingIfNeeded: bytes.count - start)
        for index in 0..<4 { bytes[start - 4 + index] = UInt8(truncatingIfNeeded: length >> (8 * UInt32(index))) }
    }

    mutating func append(section: some Sequence<UInt8>) {
        let start = beginSection()
        bytes += section
        endSection(start)
    }

    /// Appends sections in an order that depends on nothing but them.
    mutating func append(sorted sections: [[UInt8]]) {
        if sections.count < 2 { return sections.forEach { append(section: $0) } }
        for section in sections.sorted(by: { $0.lexicographicallyPrecedes($1) }) { append(section: section) }
    }

    mutating func append(fields names: [HTTPField.Name], of fields: HTTPFields) {
        for name in names {
            let start = beginSection()
            for field in fields where field.name == name { append(section: field.comparedValue.utf8) }
            endSection(start)
        }
    }
}

extension HTTPField {
    /// The value without a boundary.
    var comparedValue: String { name == .contentType ? MediaType.withoutBoundary(value) : value }
}
