internal import Foundation
internal import Synchronization

/// Receives a body, in memory up to one block and then in a file of `incoming`, and commits it under the shard's lock.
///
/// The first of ``commit(if:)``, ``abandon()`` and a failure ends the writer. It takes the file and the reserved bytes out
/// of the state, and thereby owns them. A process that is killed before the commit leaves only a file in `incoming`, which no
/// record names. The next process that opens the directory removes the file.
final class DiskCacheWriter: CacheWriter {
    /// A complete body.
    struct Arrived {
        let id: UInt64
        let length: Int64
        let inline: [UInt8]
        let incoming: LockedShard.Arrival?
    }

    /// Stores a complete body if the closure wants it under the shard's lock. Returns whether the body is stored.
    typealias Keeping = @Sendable (Arrived, @Sendable (CacheGeneration) -> Bool) async throws -> Bool

    private struct Incoming {
        let file: OpenFile
        let name: String
        var blocks: Int64 = 0
    }

    private struct State {
        var length: Int64 = 0
        var block: [UInt8] = []
        var incoming: Incoming?
        /// The bytes that ``DiskIncoming`` counts for this body.
        var reserved: Int64 = 0
    }

    private let id = UInt64.random(in: .min ... .max)
    private let directory: DiskDirectory
    private let limit: Int64
    private let room: DiskRoom
    private let keep: Keeping
    /// `nil` after the end.
    private let state = Mutex<State?>(State())

    init(
        _ directory: DiskDirectory,
        limit: Int64,
        room: DiskRoom,
        keep: @escaping Keeping
    ) {
        self.directory = directory
        self.limit = limit
        self.room = room
        self.keep = keep
    }

    deinit { abandon() }

    @concurrent
    func append(_ chunk: Data) async throws {
        do {
            var rest = chunk[...]
            while !rest.isEmpty {
                // Splits a large chunk, so that `abandon()` waits for the lock during the write of one part at most.
                let part = rest.prefix(4 * DiskBlocks.size)
                try await reserve(Int64(part.count))
                try whileOpen { try add(part, to: &$0) }
                rest = rest.dropFirst(part.count)
            }
        } catch {
            if let last = take() { remove(last) }
            throw error.asStoreError
        }
    }

    /// Changes the state, unless the writer has ended.
    @discardableResult
    private func whileOpen<Value: Sendable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        try state.withLock { (state) throws(Failure) -> Value? in
            guard var open = state.take() else { return nil }
            defer { state = open }
            return try body(&open)
        }
    }

    /// Ends the writer, and returns its last state to its new owner.
    private func take() -> State? { state.withLock { $0.take() } }

    /// Reserves room for bytes before they are written to a file. A body in memory needs no room.
    private func reserve(_ count: Int64) async throws {
        let missing = whileOpen { state -> Int64 in
            let length = state.length + count
            guard length > DiskBlocks.size, length <= limit else { return 0 }
            return directory.allocated(DiskBlocks.fileSize(of: length)) - state.reserved
        }
        guard let missing, missing > 0 else { return }
        let reserved = try await room.reserve(missing, in: directory)
        if whileOpen({ $0.reserved += reserved }) == nil { room.incoming.release(reserved) }
    }

    private func add(_ part: Data, to state: inout State) throws {
        state.length += Int64(part.count)
        guard state.length <= limit else { throw CacheStoreError.tooLarge(limit) }
        try part.withUnsafeBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                // A full block is written only when more bytes follow: a body of one block stays in memory.
                if state.block.count == DiskBlocks.size { try flush(&state) }
                let count = min(DiskBlocks.size - state.block.count, bytes.count - offset)
                state.block += bytes[offset..<(offset + count)]
                offset += count
            }
        }
    }

    private func flush(_ state: inout State) throws {
        var incoming: Incoming
        if let open = state.incoming {
            incoming = open
        } else {
            let (file, name) = try directory.makeIncoming()
            incoming = Incoming(file: file, name: name)
        }
        state.incoming = incoming
        let sum = state.block.withUnsafeBytes { DiskBlocks.checksum($0, of: id, incoming.blocks) }
        withUnsafeBytes(of: sum.littleEndian) { state.block += $0 }
        try state.block.withUnsafeBytes {
            try incoming.file.write($0, at: incoming.blocks * Int64(DiskBlocks.framedSize))
        }
        state.block.removeAll(keepingCapacity: true)
        state.incoming?.blocks += 1
    }

    @concurrent
    func commit(if isWanted: @Sendable (CacheGeneration) -> Bool) async throws -> Bool {
        do {
            try whileOpen { if $0.incoming != nil { try flush(&$0) } }
            guard let last = take() else { return false }
            let isStored = try await store(last, if: isWanted)
            if isStored { try await makeRoom() }
            return isStored
        } catch {
            if let last = take() { remove(last) }
            throw error.asStoreError
        }
    }

    private func store(_ last: State, if isWanted: @Sendable (CacheGeneration) -> Bool) async throws -> Bool {
        // If the body is stored, its file has been renamed, and the usage counts its bytes.
        defer { remove(last) }
        let arrival = last.incoming.map { LockedShard.Arrival(id: id, name: $0.name) }
        return try await keep(Arrived(id: id, length: last.length, inline: last.block, incoming: arrival), isWanted)
    }

    /// Removes the file of an ended writer. Called on a thread that may wait for the disk.
    private func remove(_ last: State) {
        if let incoming = last.incoming { try? directory.incoming.remove(incoming.name) }
        room.incoming.release(last.reserved)
    }

    /// Makes room after the response is stored. An error must not look as if the response weren't.
    private func makeRoom() async throws {
        do {
            try await room.makeRoom(in: directory)
        } catch is CancellationError {
            // The next commit makes the room.
        } catch {
            var failure =
                error.asStoreError as? CacheStoreError
                ?? CacheStoreError(.storeUnavailable, "The store couldn't make room: \(type(of: error)).")
            failure.isAfterStoring = true
            throw failure
        }
    }

    func abandon() {
        guard let last = take() else { return }
        guard let incoming = last.incoming else { return room.incoming.release(last.reserved) }
        room.incoming.discard(incoming.file, incoming.name, reserved: last.reserved, in: directory)
    }
}
