#if os(Linux)
internal import Foundation
internal import Synchronization

/// A block of memory from a ``BlockPool``, and its number of filled bytes.
///
/// `@unchecked Sendable`: a block has one owner at a time, which alone uses its memory: the pool, the chunks being filled, or
/// the `Data` that it was lent to.
struct Block: @unchecked Sendable {
    let start: UnsafeMutableRawPointer
    var count = 0
}

/// Recycles the memory of streamed responses' chunks. A block returns when the last reader releases its chunk, because memory
/// that was never touched costs more than copying into used memory.
final class BlockPool: Sendable {
    /// From 128 KB on, the C library would request each block from the system.
    static let blockSize = 124 * 1024

    /// The maximum number of idle blocks: 1 MB, about what one stream uses in turn while its reader keeps up.
    private static let most = 8
    /// The number of blocks in use (4 MB) from which streams should hold as little as possible.
    private static let plenty = 32

    private struct State {
        var idle: [Block] = []
        var lent = 0
    }

    private let state = Mutex(State())

    /// Whether all streams together use few blocks.
    var isPlentiful: Bool { state.withLock { $0.lent < Self.plenty } }

    /// The number of idle blocks. For tests.
    var idleCount: Int { state.withLock(\.idle.count) }

    func take() -> Block {
        let block = state.withLock { state in
            state.lent += 1
            return state.idle.popLast()
        }
        return block ?? Block(start: .allocate(byteCount: Self.blockSize, alignment: 16))
    }

    func give(_ block: Block) {
        let isKept = state.withLock { state in
            state.lent -= 1
            guard state.idle.count < Self.most else { return false }
            state.idle.append(Block(start: block.start))
            return true
        }
        if !isKept { block.start.deallocate() }
    }

    deinit {
        for block in state.withLock(\.idle) { block.start.deallocate() }
    }
}

/// The received, unread bytes of a streamed response, in few large chunks, because each chunk costs its reader some work.
struct ReceivedChunks: ~Copyable {
    private let pool: BlockPool
    private var blocks: [Block] = []

    /// The number of unread bytes.
    private(set) var count = 0

    init(pool: BlockPool) { self.pool = pool }

    /// Appends a copy of bytes, first to the room left in the last block.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        while !rest.isEmpty {
            if isLastFull { blocks.append(pool.take()) }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(fillLast(with: rest)))
        }
        count += bytes.count
    }

    private var isLastFull: Bool {
        guard let last = blocks.last else { return true }
        return last.count == BlockPool.blockSize
    }

    private mutating func fillLast(with bytes: UnsafeRawBufferPointer) -> Int {
        let block = blocks[blocks.count - 1]
        let length = min(bytes.count, BlockPool.blockSize - block.count)
        UnsafeMutableRawBufferPointer(start: block.start + block.count, count: length)
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(length)))
        blocks[blocks.count - 1].count += length
        return length
    }

    /// Removes and returns the first chunk.
    mutating func take() -> Data? {
        guard !blocks.isEmpty else { return nil }
        let block = blocks.removeFirst()
        count -= block.count
        guard block.count >= BlockPool.blockSize / 2 else {
            // A short chunk is copied: a reader that kept it would otherwise keep the whole block.
            defer { pool.give(block) }
            return Data(bytes: block.start, count: block.count)
        }
        return Data(
            bytesNoCopy: block.start,
            count: block.count,
            deallocator: .custom { [pool] _, _ in pool.give(block) }
        )
    }

    mutating func removeAll() {
        for block in blocks { pool.give(block) }
        blocks.removeAll()
        count = 0
    }

    deinit {
        for block in blocks { pool.give(block) }
    }
}
#endif
