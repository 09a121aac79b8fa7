internal import InterceptorsCore
internal import Synchronization

/// A response as its record holds it. The selecting fields are parsed at once, the rest when it is needed: a request
/// needs only one of many variants.
final class PackedResponse: Sendable {
    let bytes: ArraySlice<UInt8>
    /// The request fields that select the response: see ``ResponseFacts/selectors``.
    let selectors: [HTTPField.Name]?
    let selectingFields: HTTPFields
    private let names: ArraySlice<UInt8>
    private let rest: ArraySlice<UInt8>
    private let unpacked: Mutex<CachedResponse?>

    init(_ response: CachedResponse) {
        let response = response.parse()
        var writer = ByteWriter()
        selectors = response.facts.selectors
        selectingFields = response.selectingFields
        writer.append(selectors.map { UInt64($0.count) } ?? .max)
        for name in selectors ?? [] { writer.append(name.rawName) }
        names = writer.bytes[...]
        writer.append(response.selectingFields)
        let start = writer.bytes.count
        writer.append(UInt64(response.status.code))
        writer.append(response.status.reasonPhrase)
        writer.append(UInt64(bitPattern: response.initialAge))
        writer.append(UInt64(bitPattern: response.responseTime))
        writer.append(UInt64(response.needsValidation ? 1 : 0))
        writer.append(response.headerFields)
        bytes = writer.bytes[...]
        rest = bytes[start...]
        unpacked = Mutex(response)
    }

    /// Checks everything, including the parts that are parsed later, and throws if they are malformed.
    ///
    /// - Parameter other: another variant of the record, which most likely varies by the same names and shares its list.
    init(_ bytes: ArraySlice<UInt8>, like other: PackedResponse?) throws(DiskRecord.Damage) {
        var reader = ByteReader(bytes)
        let count = try reader.number()
        if count != .max {
            guard count <= UInt64(bytes.count) else { throw DiskRecord.Damage() }
            for _ in 0..<count { try reader.skipText() }
        }
        names = reader.taken(since: bytes.startIndex)
        if let other, other.names.elementsEqual(names) {
            selectors = other.selectors
        } else {
            selectors = try Self.selectors(names)
        }
        selectingFields = try reader.fields()
        let start = reader.offset
        guard HTTPResponse.Status(code: Int(truncatingIfNeeded: try reader.number())) != nil else {
            throw DiskRecord.Damage()
        }
        try reader.skipText()
        for _ in 0..<3 { _ = try reader.number() }
        try reader.skipFields()
        guard reader.isAtEnd else { throw DiskRecord.Damage() }
        self.bytes = bytes
        rest = bytes[start...]
        unpacked = Mutex(nil)
    }

    private static func selectors(_ names: ArraySlice<UInt8>) throws(DiskRecord.Damage) -> [HTTPField.Name]? {
        var reader = ByteReader(names)
        guard case let count = try reader.number(), count != .max else { return nil }
        var selectors: [HTTPField.Name] = []
        for _ in 0..<count {
            guard let name = HTTPField.Name(try reader.text()) else { throw DiskRecord.Damage() }
            selectors.append(name)
        }
        return selectors
    }

    /// Whether the whole response has been parsed.
    var isRead: Bool { unpacked.withLock { $0 != nil } }

    /// The whole response, parsed at the first use.
    var response: CachedResponse {
        unpacked.withLock { unpacked in
            if let unpacked { return unpacked }
            // The initializer has checked the bytes. If parsing failed all the same, this response would never be served.
            let read =
                (try? unpack())
                ?? CachedResponse(status: 500, headerFields: [:], responseTime: 0, needsValidation: true)
            unpacked = read
            return read
        }
    }

    private func unpack() throws(DiskRecord.Damage) -> CachedResponse {
        var reader = ByteReader(rest)
        let code = Int(truncatingIfNeeded: try reader.number())
        guard let status = HTTPResponse.Status(code: code, reasonPhrase: try reader.text()) else {
            throw DiskRecord.Damage()
        }
        let initialAge = Int64(bitPattern: try reader.number())
        let responseTime = Int64(bitPattern: try reader.number())
        let needsValidation = try reader.number() != 0
        return CachedResponse(
            status: status,
            headerFields: try reader.fields(),
            selectingFields: selectingFields,
            initialAge: initialAge,
            responseTime: responseTime,
            needsValidation: needsValidation
        ).parse()
    }
}
