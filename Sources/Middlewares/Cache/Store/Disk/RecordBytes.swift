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
}

extension ByteWriter {
    mutating func append(_ response: CachedResponse) {
        append(UInt64(response.status.code))
        append(response.status.reasonPhrase)
        append(UInt64(bitPattern: response.initialAge))
        append(UInt64(bitPattern: response.responseTime))
        append(UInt64(response.needsValidation ? 1 : 0))
        append(response.selectingFields)
        append(response.headerFields)
    }
}

struct ByteReader {
    private let bytes: ArraySlice<UInt8>
    private(set) var offset: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        offset = bytes.startIndex
    }

    var isAtEnd: Bool { offset == bytes.endIndex }

    private mutating func take(_ count: Int) throws(DiskRecord.Damage) -> Range<Int> {
        guard count >= 0, count <= bytes.endIndex - offset else { throw DiskRecord.Damage() }
        defer { offset += count }
        return (offset - bytes.startIndex)..<(offset - bytes.startIndex + count)
    }

    mutating func number() throws(DiskRecord.Damage) -> UInt64 {
        let start = try take(8).lowerBound
        return bytes.withUnsafeBytes {
            UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: start, as: UInt64.self))
        }
    }

    /// Reads the count of a list whose elements take at least a byte each.
    mutating func count() throws(DiskRecord.Damage) -> Int {
        let count = try number()
        guard count <= UInt64(bytes.endIndex - offset) else { throw DiskRecord.Damage() }
        return Int(count)
    }

    mutating func text() throws(DiskRecord.Damage) -> String {
        let head = try take(4).lowerBound
        let length = bytes.withUnsafeBytes {
            UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: head, as: UInt32.self))
        }
        let range = try take(Int(length))
        return bytes.withUnsafeBytes { String(decoding: UnsafeRawBufferPointer(rebasing: $0[range]), as: UTF8.self) }
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
            headerFields: try fields(),
            selectingFields: selectingFields,
            initialAge: initialAge,
            responseTime: responseTime,
            needsValidation: needsValidation
        ).parse()
    }
}
