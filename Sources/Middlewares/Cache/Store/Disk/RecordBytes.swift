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

struct ByteReader {
    private let bytes: ArraySlice<UInt8>
    private(set) var offset: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        offset = bytes.startIndex
    }

    var isAtEnd: Bool { offset == bytes.endIndex }

    func taken(since start: Int) -> ArraySlice<UInt8> { bytes[start..<offset] }

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

    private mutating func takeText() throws(DiskRecord.Damage) -> Range<Int> {
        let head = try take(4).lowerBound
        let length = bytes.withUnsafeBytes {
            UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: head, as: UInt32.self))
        }
        return try take(Int(length))
    }

    mutating func skipText() throws(DiskRecord.Damage) { _ = try takeText() }

    mutating func text() throws(DiskRecord.Damage) -> String {
        let range = try takeText()
        return bytes.withUnsafeBytes { String(decoding: UnsafeRawBufferPointer(rebasing: $0[range]), as: UTF8.self) }
    }

    mutating func skipFields() throws(DiskRecord.Damage) {
        for _ in 0..<(try count()) {
            try skipText()
            try skipText()
        }
    }

    mutating func fields() throws(DiskRecord.Damage) -> HTTPFields {
        var fields = HTTPFields()
        for _ in 0..<(try count()) {
            let name = try text()
            fields.append(HTTPField.Name(stringLiteral: name), try text())
        }
        return fields
    }

    mutating func slice(_ count: Int) throws(DiskRecord.Damage) -> ArraySlice<UInt8> {
        _ = try take(count)
        return taken(since: offset - count)
    }
}
