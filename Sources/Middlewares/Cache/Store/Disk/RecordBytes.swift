internal import InterceptorsCore

struct ByteWriter {
    var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(1_024) }

    mutating func append(_ number: UInt64) { withUnsafeBytes(of: number.littleEndian) { bytes += $0 } }

    mutating func append(_ text: String) {
        withUnsafeBytes(of: UInt32(text.utf8.count).littleEndian) { bytes += $0 }
        bytes += text.utf8
    }

    mutating func append(_ fields: HTTPFields) {
        append(UInt64(fields.count))
        for field in fields {
            append(field.name.rawName)
            append(field.value)
        }
    }

    mutating func append(_ response: CachedResponse) {
        append(UInt64(response.status.code))
        append(response.status.reasonPhrase)
        append(UInt64(bitPattern: response.initialAge))
        append(UInt64(bitPattern: response.responseTime))
        append(UInt64(response.needsValidation ? 1 : 0))
        append(response.selectingFields)
        append(response.headers)
    }
}

struct ByteReader {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { bytes.isEmpty }

    private mutating func take(_ count: Int) throws(DiskRecord.Damage) -> ArraySlice<UInt8> {
        guard count <= bytes.count else { throw DiskRecord.Damage() }
        defer { bytes = bytes.dropFirst(count) }
        return bytes.prefix(count)
    }

    private mutating func integer<Number: FixedWidthInteger>(
        of type: Number.Type = Number.self
    ) throws(DiskRecord.Damage) -> Number {
        Number(littleEndian: try take(Number.bitWidth / 8).withUnsafeBytes { $0.loadUnaligned(as: type) })
    }

    mutating func number() throws(DiskRecord.Damage) -> UInt64 { try integer() }

    /// Reads the count of a list whose elements take at least a byte each.
    mutating func count() throws(DiskRecord.Damage) -> Int {
        let count = try number()
        guard count <= UInt64(bytes.count) else { throw DiskRecord.Damage() }
        return Int(count)
    }

    mutating func text() throws(DiskRecord.Damage) -> String {
        String(decoding: try take(Int(clamping: try integer(of: UInt32.self))), as: UTF8.self)
    }

    mutating func fields() throws(DiskRecord.Damage) -> HTTPFields {
        var fields = HTTPFields()
        for _ in 0..<(try count()) {
            let name = try text()
            fields.append(HTTPField.Name(stringLiteral: name), try text())
        }
        return fields
    }

    mutating func response() throws(DiskRecord.Damage) -> CachedResponse {
        let code = Int(truncatingIfNeeded: try number())
        guard let status = HTTPResponse.Status(code: code, reasonPhrase: try text()) else { throw DiskRecord.Damage() }
        let initialAge = Int64(bitPattern: try number())
        let responseTime = Int64(bitPattern: try number())
        let needsValidation = try number() != 0
        let selectingFields = try fields()
        return CachedResponse(
            status: status,
            headers: try fields(),
            selectingFields: selectingFields,
            initialAge: initialAge,
            responseTime: responseTime,
            needsValidation: needsValidation
        ).parse()
    }
}
