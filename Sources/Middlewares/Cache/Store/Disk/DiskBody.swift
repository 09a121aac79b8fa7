internal import Foundation
internal import InterceptorsCore

/// A long body in its file: blocks of 64 KiB, each followed by its checksum.
///
/// The format allows writing and checking a body of any length in constant memory, and a range without reading the rest.
final class DiskBody: Sendable {
    static let blockSize = 64 << 10
    static let framedSize = blockSize + 8
    // Four blocks at a time: few system calls, and a quarter of a megabyte of memory.
    private static let step = Int64(4 * blockSize)

    private let file: OpenedFile
    private let id: UInt64
    private let length: Int64

    init(_ id: UInt64, of name: DiskName, length: Int64, in root: OpenedFile) throws {
        file = try OpenedFile.openOwn(DiskName.directory(name.shard) + "/" + name.body(id), in: root)
        self.id = id
        self.length = length
        let status = try file.status()
        guard status.isRegular, status.size == Self.fileSize(of: length) else { throw DiskRecord.Damage() }
    }

    static func fileSize(of length: Int64) -> Int64 {
        length + 8 * ((length + Int64(blockSize) - 1) / Int64(blockSize))
    }

    // The seed contains the body's ID and the block's index, so a block in the wrong slot counts as damaged.
    static func checksum(_ bytes: UnsafeRawBufferPointer, of body: UInt64, _ index: Int64) -> UInt64 {
        Checksum.of(bytes, seed: body &+ UInt64(index) &* 0x9E37_79B9_7F4A_7C15)
    }

    /// Reads a range into memory.
    func collected(_ range: Range<Int64>) async throws -> Data {
        var all = Data(capacity: range.count)
        while all.count < range.count {
            try await read(range.lowerBound + Int64(all.count)..<range.upperBound, into: &all)
        }
        return all
    }

    /// Reads the blocks of a range, and throws if a block is damaged.
    func check(_ range: Range<Int64>) async throws { for try await _ in chunks(range) {} }

    /// Reads the beginning of a range, up to a multiple of four blocks.
    @concurrent
    private func read(_ range: Range<Int64>, into content: inout Data) async throws {
        // Lets other tasks use this thread.
        await Task.yield()
        try Task.checkCancellation()
        let size = Int64(Self.blockSize)
        let end = min(range.upperBound, (range.lowerBound / Self.step + 1) * Self.step)
        let blocks = range.lowerBound / size...(end - 1) / size
        content.reserveCapacity(content.count + Int(end - range.lowerBound))
        let offset = blocks.lowerBound * Int64(Self.framedSize)
        let framed = try file.bytes(at: offset, upTo: blocks.count * Self.framedSize)
        try framed.withUnsafeBytes { framed in
            for block in blocks {
                let (start, offset) = (Int(block - blocks.lowerBound) * Self.framedSize, block * size)
                let count = Int(min(size, length - offset))
                guard start + count + 8 <= framed.count else { throw DiskRecord.Damage() }
                let bytes = UnsafeRawBufferPointer(rebasing: framed[start..<start + count])
                let sum = UInt64(littleEndian: framed.loadUnaligned(fromByteOffset: start + count, as: UInt64.self))
                guard sum == Self.checksum(bytes, of: id, block) else { throw DiskRecord.Damage() }
                let wanted = (range.lowerBound..<end).clamped(to: offset..<offset + size)
                let part = Int(wanted.lowerBound - offset)..<Int(wanted.upperBound - offset)
                content.append(UnsafeRawBufferPointer(rebasing: bytes[part]).assumingMemoryBound(to: UInt8.self))
            }
        }
    }

    func chunks(_ range: Range<Int64>) -> Chunks { Chunks(body: self, range: range) }

    struct Chunks: AsyncSequence, AsyncIteratorProtocol, Sendable {
        let body: DiskBody
        var range: Range<Int64>

        func makeAsyncIterator() -> Self { self }

        mutating func next() async throws -> Data? { try await next(isolation: #isolation) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
            guard !range.isEmpty else { return nil }
            var chunk = Data()
            do { try await body.read(range, into: &chunk) } catch { throw error.asBodyError }
            range = range.lowerBound + Int64(chunk.count)..<range.upperBound
            return chunk
        }
    }
}

extension Error {
    /// The error that a reader of a body gets.
    var asBodyError: any Error {
        guard let error = self as? SystemCallFailure else {
            return self is DiskRecord.Damage ? CacheStoreError.damagedBody : self
        }
        return error.isMissing ? CacheStoreError.gone : error.isDamage ? CacheStoreError.damagedBody : error.storeError
    }
}

extension CacheStoreError {
    fileprivate static let gone = CacheStoreError(
        .entryGone,
        "A stored body is gone: its entry was replaced, or the file was removed."
    )
    static let damagedBody = CacheStoreError(.entryDamaged, "A stored body was damaged.")
}
