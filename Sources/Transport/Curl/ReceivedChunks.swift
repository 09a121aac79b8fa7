#if os(Linux)
internal import Foundation
internal import Synchronization

/// A piece of memory that a ``BlockPool`` made, and how much of it is filled.
///
/// `@unchecked Sendable`: a block has one holder at a time, which alone touches its memory: the pool, the chunks that are
/// being filled, or the `Data` that it was lent to.
struct Block: @unchecked Sendable {
    let start: UnsafeMutableRawPointer
    var count = 0
}

/// Memory for the chunks of streamed responses. A chunk's memory comes back when the last who reads it lets go of it, and
/// serves again: to ask for memory that was never touched costs more than to copy into it.
final class BlockPool: Sendable {
    /// With 128 KB and more the C library would ask the system for each of them.
    static let blockSize = 124 * 1024

    /// How many are kept: 1 MB, about what a stream whose reader keeps up uses in turn.
    private static let most = 8
    /// How many may be in use, 4 MB, before streams are to hold no more than they need.
    private static let plenty = 32

    private struct State {
        var idle: [Block] = []
        var lent = 0
    }

    private let state = Mutex(State())

    /// Whether few blocks are in use by all streams together.
    var isPlentiful: Bool { state.withLock { $0.lent < Self.plenty } }

    /// The blocks that wait to be used again; for tests.
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

/// The received and unread bytes of a streamed response, in few chunks, because each chunk costs its reader some work.
struct ReceivedChunks: ~Copyable {
    private let pool: BlockPool
    private var blocks: [Block] = []

    /// The bytes that are held.
    private(set) var count = 0

    init(pool: BlockPool) { self.pool = pool }

    /// Adds a copy of bytes: to the last chunk as long as there is room in it.
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

    /// The next chunk.
    mutating func take() -> Data? {
        guard !blocks.isEmpty else { return nil }
        let block = blocks.removeFirst()
        count -= block.count
        guard block.count >= BlockPool.blockSize / 2 else {
            // Otherwise a reader that keeps a short chunk would keep the whole block.
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
