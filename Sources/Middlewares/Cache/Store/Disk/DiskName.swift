internal import InterceptorsSyntax

/// The file name of a key's record: a shard and 32 digits, both from a SHA-256 of the key. A name reveals nothing of the key,
/// and can't lead out of the directory.
struct DiskName: Hashable {
    let shard: UInt8
    let file: String

    init(_ key: CacheKey) {
        var text = key.text
        let digest = text.withUTF8 { PortableSHA256.digest(UnsafeRawBufferPointer($0)) }
        shard = digest[0]
        file = digest[1..<17].hexadecimal
    }

    init(shard: UInt8, file: String) {
        self.shard = shard
        self.file = file
    }

    /// The directory name of a shard: two hexadecimal digits.
    static func directory(_ shard: UInt8) -> String { shard.hexadecimal }

    var path: String { Self.directory(shard) + "/" + file }

    /// The file name of a long body: the record's name, a dot and the ID.
    func body(_ id: UInt64) -> String { Self.body(file, id) }

    static func body(_ file: String, _ id: UInt64) -> String {
        id.bigEndianBytes.hexadecimal(after: file + ".")
    }

    static let length = 32
    static let bodyLength = 49
}
