internal import InterceptorsCore

/// The content of a record file: a key, the responses stored for it, and their short bodies.
///
/// | bytes | content |
/// | --- | --- |
/// | 8 | a mark that includes the version of the format |
/// | 8 | the checksum of the rest of the head |
/// | 8 | the length of the file |
/// | 8 | the length of the head |
/// | … | the key; for each variant its ID, length, flags, checksum of the body, and response |
/// | … | the short bodies, one after another |
///
/// Numbers are little-endian; texts and lists begin with their length. A lookup checks the head. A body is checked when it is
/// read.
struct DiskRecord {
    struct Variant {
        enum Content {
            /// In the record.
            case inline(ArraySlice<UInt8>)
            /// In a separate file.
            case file
        }

        var id: UInt64
        var response: CachedResponse
        var length: Int64
        var content: Content
        /// The checksum of a body in the record, if the record was read from a file.
        var sum: UInt64?

        var isInFile: Bool { if case .file = content { true } else { false } }

        /// The body in the record, checked.
        func body() throws(CacheStoreError) -> ArraySlice<UInt8> {
            guard case .inline(let bytes) = content, bytes.count == length,
                sum ?? DiskRecord.sum(bytes) == DiskRecord.sum(bytes)
            else { throw CacheStoreError.damagedBody }
            return bytes
        }
    }

    /// The bytes aren't what was written.
    struct Damage: Error {}

    /// The maximum bytes of a record. Longer than any real record, because variants are limited here and fields by transports.
    static let limit = 8 << 20

    // "HTTPcch3"
    private static let mark: UInt64 = 0x3368_6363_5054_5448
    private static let checked = 16
    private static let start = 32
    // Longer than any disk, and small enough that no sum overflows.
    private static let lengthLimit: Int64 = 1 << 48

    var key: CacheKey
    var variants: [Variant]

    init(key: CacheKey, variants: [Variant]) {
        self.key = key
        self.variants = variants
    }

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.append(Self.mark)
        for _ in 0..<3 { writer.append(UInt64(0)) }
        writer.append(key.partition)
        writer.append(key.url)
        writer.append(UInt64(variants.count))
        var bodies: [ArraySlice<UInt8>] = []
        for variant in variants {
            var sum: UInt64 = 0
            if case .inline(let bytes) = variant.content {
                sum = variant.sum ?? Self.sum(bytes)
                bodies.append(bytes)
            }
            for number in [variant.id, UInt64(variant.length), variant.isInFile ? 1 : 0, sum] { writer.append(number) }
            writer.append(variant.response)
        }
        let head = writer.bytes.count
        for body in bodies { writer.bytes += body }
        writer.bytes.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: UInt64(bytes.count).littleEndian, toByteOffset: 16, as: UInt64.self)
            bytes.storeBytes(of: UInt64(head).littleEndian, toByteOffset: 24, as: UInt64.self)
            let sum = Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[Self.checked..<head]))
            bytes.storeBytes(of: sum.littleEndian, toByteOffset: 8, as: UInt64.self)
        }
        return writer.bytes
    }

    fileprivate static func sum(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.withUnsafeBytes { Checksum.of($0) } }

    /// Parses the content of a file, and checks the head.
    init(_ bytes: [UInt8]) throws(Damage) {
        var start = ByteReader(bytes[...])
        let (mark, sum) = (try start.number(), try start.number())
        let (length, head) = (try start.number(), try start.number())
        guard mark == Self.mark, length == UInt64(bytes.count), UInt64(Self.start)...length ~= head,
            sum == Self.sum(bytes[Self.checked..<Int(head)])
        else { throw Damage() }
        var reader = ByteReader(bytes[Self.start..<Int(head)])
        key = CacheKey(partition: try reader.text(), text: try reader.text())
        let count = try reader.count()
        guard count <= CacheKey.variantLimit else { throw Damage() }
        variants = []
        var body = Int(head)
        for _ in 0..<count {
            var variant = try Self.variant(&reader)
            if !variant.isInFile {
                let end = body + Int(variant.length)
                guard end <= bytes.count else { throw Damage() }
                variant.content = .inline(bytes[body..<end])
                body = end
            }
            variants.append(variant)
        }
        guard reader.isAtEnd, body == bytes.count else { throw Damage() }
    }

    private static func variant(_ reader: inout ByteReader) throws(Damage) -> Variant {
        let id = try reader.number()
        let length = Int64(bitPattern: try reader.number())
        guard 0...lengthLimit ~= length else { throw Damage() }
        let (flags, sum) = (try reader.number(), try reader.number())
        let response = try reader.response()
        let content: Variant.Content = flags & 1 != 0 ? .file : .inline([])
        return Variant(id: id, response: response, length: length, content: content, sum: sum)
    }
}
