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
/// Numbers are little-endian; texts and lists begin with their length. A lookup reads the head and the first bodies, and checks
/// the head. A body is checked when it is read.
struct DiskRecord {
    struct Variant {
        enum Content {
            /// In the record, already read.
            case inline(ArraySlice<UInt8>)
            /// In the record at an offset, not read yet.
            case later(Int64)
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

    func encoded() throws(Damage) -> [UInt8] {
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
            } else if !variant.isInFile {
                throw Damage()
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

    /// Returns the length of the head of a file that begins with these bytes.
    static func headLength(_ bytes: [UInt8], size: Int) throws(Damage) -> Int {
        guard bytes.count >= start else { throw Damage() }
        var reader = ByteReader(bytes[...])
        let mark = try reader.number()
        _ = try reader.number()
        let (length, head) = (try reader.number(), try reader.number())
        guard mark == Self.mark, length == UInt64(size), head >= UInt64(start), head <= length else { throw Damage() }
        return Int(head)
    }

    init(_ bytes: [UInt8]) throws(Damage) { try self.init(bytes, size: bytes.count) }

    /// Parses a record, and checks its head.
    ///
    /// - Parameters:
    ///   - bytes: the beginning of the file; at least the head.
    ///   - size: the length of the file.
    init(_ bytes: [UInt8], size: Int) throws(Damage) {
        let head = try Self.headLength(bytes, size: size)
        guard head <= bytes.count else { throw Damage() }
        let (sum, actual) = bytes.withUnsafeBytes { bytes in
            (
                UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
                Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[Self.checked..<head]))
            )
        }
        guard sum == actual else { throw Damage() }
        var reader = ByteReader(bytes[Self.start..<head])
        key = CacheKey(partition: try reader.text(), text: try reader.text())
        let count = try reader.count()
        guard count <= CacheKey.variantLimit else { throw Damage() }
        variants = []
        var body = head
        for _ in 0..<count {
            var variant = try Self.variant(&reader)
            if !variant.isInFile {
                let end = body + Int(variant.length)
                guard end <= size else { throw Damage() }
                variant.content = end <= bytes.count ? .inline(bytes[body..<end]) : .later(Int64(body))
                body = end
            }
            variants.append(variant)
        }
        guard reader.isAtEnd, body == size else { throw Damage() }
    }

    private static func variant(_ reader: inout ByteReader) throws(Damage) -> Variant {
        let id = try reader.number()
        let length = Int64(bitPattern: try reader.number())
        guard 0...lengthLimit ~= length else { throw Damage() }
        let (flags, sum) = (try reader.number(), try reader.number())
        let response = try reader.response()
        return Variant(
            id: id,
            response: response,
            length: length,
            content: flags & 1 != 0 ? .file : .inline([]),
            sum: sum
        )
    }
}

extension DiskRecord.Variant {
    /// The body of a variant in the record, read from the record's file if needed, and checked.
    func body(from record: OpenFile? = nil) throws -> ArraySlice<UInt8> {
        var bytes: ArraySlice<UInt8> = []
        switch content {
        case .inline(let read): bytes = read
        case .later(let offset): bytes = try record?.bytes(Int(length), at: offset)[...] ?? []
        case .file: break
        }
        guard bytes.count == length, sum.map({ $0 == DiskRecord.sum(bytes) }) ?? true else {
            throw CacheStoreError.damagedBody
        }
        return bytes
    }
}
