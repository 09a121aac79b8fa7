internal import HTTPSyntax

/// The file of a key: a directory of 256, and a name that tells nothing and can't lead out of it.
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

    /// The name of the directory of a shard.
    static func directory(_ shard: UInt8) -> String { [shard].hexadecimal }

    var path: String { Self.directory(shard) + "/" + file }

    /// The name of the file of a long body.
    func body(_ id: UInt64) -> String { Self.body(file, id) }

    static func body(_ file: String, _ id: UInt64) -> String {
        (0..<8).map { UInt8(truncatingIfNeeded: id >> (56 - 8 * UInt64($0))) }.hexadecimal(after: file + ".")
    }

    static let length = 32
    static let bodyLength = 49
}
