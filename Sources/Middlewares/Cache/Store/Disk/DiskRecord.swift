internal import Foundation
internal import Interceptors

/// What one file holds: a key, the responses stored for it, and those of their bodies that are short.
///
/// | bytes | content |
/// | --- | --- |
/// | 8 | a mark, and the version of the form |
/// | 8 | the checksum of all that follows |
/// | 8 | the length of the file |
/// | … | the key, the responses, the short bodies one after another |
///
/// Numbers are little-endian; texts and lists begin with their length.
struct DiskRecord {
    struct Variant {
        enum Content {
            /// In the record: where.
            case inline(ArraySlice<UInt8>)
            /// In a file of its own.
            case file
        }

        var id: UInt64
        var response: CachedResponse
        var length: Int64
        var content: Content

        var isInFile: Bool { if case .file = content { true } else { false } }
    }

    /// Not what was written.
    struct Damage: Error {}

    // "HTTPcch1"
    private static let mark: UInt64 = 0x3168_6363_5054_5448
    /// More than a record can have: the variants of a key are limited, their fields by what transports accept.
    static let limit = 8 << 20
    // Far beyond any disk, and such that no sum of them overflows.
    private static let lengthLimit: Int64 = 1 << 48
    private static let variantLimit = 1_024

    var key: CacheKey
    var variants: [Variant]

    init(key: CacheKey, variants: [Variant]) {
        self.key = key
        self.variants = variants
    }

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.append(Self.mark)
        writer.append(UInt64(0))
        writer.append(UInt64(0))
        writer.append(key.partition)
        writer.append(key.url)
        writer.append(UInt64(variants.count))
        for variant in variants { Self.append(variant, to: &writer) }
        for case .inline(let bytes) in variants.map(\.content) { writer.bytes += bytes }
        return writer.bytes.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: UInt64(bytes.count).littleEndian, toByteOffset: 16, as: UInt64.self)
            let sum = Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[16...]))
            bytes.storeBytes(of: sum.littleEndian, toByteOffset: 8, as: UInt64.self)
            return Array(bytes)
        }
    }

    private static func append(_ variant: Variant, to writer: inout ByteWriter) {
        let response = variant.response
        writer.append(variant.id)
        writer.append(UInt64(response.status.code))
        writer.append(response.status.reasonPhrase)
        writer.append(UInt64(bitPattern: response.initialAge))
        writer.append(UInt64(bitPattern: response.responseTime))
        writer.append(UInt64((response.needsValidation ? 1 : 0) | (variant.isInFile ? 2 : 0)))
        writer.append(UInt64(variant.length))
        writer.append(response.headerFields)
        writer.append(response.selectingFields)
    }

    init(_ bytes: [UInt8]) throws(Damage) {
        guard bytes.count >= 24 else { throw Damage() }
        let (mark, sum, length, actual) = bytes.withUnsafeBytes { bytes in
            (
                UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
                UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)),
                Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[16...]))
            )
        }
        guard mark == Self.mark, length == UInt64(bytes.count), sum == actual else { throw Damage() }
        var reader = ByteReader(bytes, at: 24)
        key = CacheKey(partition: try reader.text(), text: try reader.text())
        variants = []
        let count = try reader.count()
        guard count <= Self.variantLimit else { throw Damage() }
        for _ in 0..<count { variants.append(try Self.variant(&reader)) }
        for index in variants.indices where !variants[index].isInFile {
            variants[index].content = .inline(try reader.slice(variants[index].length))
        }
        guard reader.isAtEnd else { throw Damage() }
    }

    private static func variant(_ reader: inout ByteReader) throws(Damage) -> Variant {
        let id = try reader.number()
        let code = Int(truncatingIfNeeded: try reader.number())
        guard let status = HTTPResponse.Status(code: code, reasonPhrase: try reader.text()) else { throw Damage() }
        let initialAge = Int64(bitPattern: try reader.number())
        let responseTime = Int64(bitPattern: try reader.number())
        let flags = try reader.number()
        let length = Int64(bitPattern: try reader.number())
        guard 0...lengthLimit ~= length else { throw Damage() }
        let response = CachedResponse(
            status: status,
            headerFields: try reader.fields(),
            selectingFields: try reader.fields(),
            initialAge: initialAge,
            responseTime: responseTime,
            needsValidation: flags & 1 != 0
        )
        return Variant(id: id, response: response, length: length, content: flags & 2 != 0 ? .file : .inline([]))
    }
}

private struct ByteWriter {
    var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(4_096) }

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

private struct ByteReader {
    private let bytes: [UInt8]
    private var offset: Int

    init(_ bytes: [UInt8], at offset: Int) {
        self.bytes = bytes
        self.offset = offset
    }

    var isAtEnd: Bool { offset == bytes.count }

    private mutating func take(_ count: Int) throws(DiskRecord.Damage) -> Int {
        guard count >= 0, count <= bytes.count - offset else { throw DiskRecord.Damage() }
        defer { offset += count }
        return offset
    }

    mutating func number() throws(DiskRecord.Damage) -> UInt64 {
        let start = try take(8)
        return bytes.withUnsafeBytes {
            UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: start, as: UInt64.self))
        }
    }

    /// A count of things that take a byte at least.
    mutating func count() throws(DiskRecord.Damage) -> Int {
        let count = try number()
        guard count <= UInt64(bytes.count - offset) else { throw DiskRecord.Damage() }
        return Int(count)
    }

    mutating func text() throws(DiskRecord.Damage) -> String {
        let head = try take(4)
        let length = bytes.withUnsafeBytes {
            UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: head, as: UInt32.self))
        }
        let start = try take(Int(length))
        return bytes.withUnsafeBytes {
            String(decoding: UnsafeRawBufferPointer(rebasing: $0[start..<(start + Int(length))]), as: UTF8.self)
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

    mutating func slice(_ length: Int64) throws(DiskRecord.Damage) -> ArraySlice<UInt8> {
        guard length <= Int64(bytes.count) else { throw DiskRecord.Damage() }
        let start = try take(Int(length))
        return bytes[start..<(start + Int(length))]
    }
}
