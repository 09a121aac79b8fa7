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
        var isOver = false
    }

    private let id = UInt64.random(in: .min ... .max)
    private let directory: DiskDirectory
    private let limit: Int64
    private let room: DiskRoom
    private let keep: Keeping
    private let state = Mutex(State())

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
                try state.withLock { state in try add(part, to: &state) }
                rest = rest.dropFirst(part.count)
            }
        } catch {
            removeIncoming()
            throw (error as? SystemError)?.storeError ?? error
        }
    }

    /// Reserves room for bytes before they are written to a file. A body in memory needs no room.
    private func reserve(_ count: Int64) async throws {
        let missing = state.withLock { state -> Int64 in
            let length = state.length + count
            guard !state.isOver, length > DiskBlocks.size, length <= limit else { return 0 }
            return directory.allocated(DiskBlocks.fileSize(of: length)) - state.reserved
        }
        guard missing > 0 else { return }
        let reserved = try await room.reserve(missing, in: directory)
        let isOver = state.withLock { state in
            if !state.isOver { state.reserved += reserved }
            return state.isOver
        }
        if isOver { room.incoming.release(reserved) }
    }

    private func add(_ part: Data, to state: inout State) throws {
        guard !state.isOver else { return }
        state.length += Int64(part.count)
        guard state.length <= limit else { throw DiskCacheStore.tooLarge(limit) }
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
            guard let (body, incoming, reserved) = try end() else { return false }
            var isStored = false
            do {
                // If the body isn't stored, this removes its file. If it is stored, the file has been renamed, and the usage
                // counts its bytes.
                defer {
                    if let incoming { try? directory.incoming.remove(incoming.name) }
                    room.incoming.release(reserved)
                }
                isStored = try await keep(body, isWanted)
            }
            if isStored { try await makeRoom() }
            return isStored
        } catch {
            removeIncoming()
            throw (error as? SystemError)?.storeError ?? error
        }
    }

    /// Makes room after the response is stored. An error must not look as if the response weren't.
    private func makeRoom() async throws {
        do {
            try await room.makeRoom(in: directory)
        } catch is CancellationError {
            // The next commit makes the room.
        } catch {
            var failure = (error as? SystemError)?.storeError ?? error as? CacheStoreError
            failure = failure ?? CacheStoreError(.unavailable, "No room could be made: \(type(of: error)).")
            failure?.isAfterStoring = true
            throw failure ?? error
        }
    }

    private func end() throws -> (Arrived, Incoming?, reserved: Int64)? {
        try state.withLock { state in
            guard !state.isOver else { return nil }
            if state.incoming != nil { try flush(&state) }
            let arrival = state.incoming.map { LockedShard.Arrival(id: id, name: $0.name) }
            let body = Arrived(id: id, length: state.length, inline: state.block, incoming: arrival)
            let (incoming, reserved) = (state.incoming, state.reserved)
            state = State(isOver: true)
            return (body, incoming, reserved)
        }
    }

    private func takeIncoming() -> (incoming: Incoming?, reserved: Int64) {
        state.withLock { state in
            defer { state = State(isOver: true) }
            return (state.incoming, state.reserved)
        }
    }

    // Removes the file at once. Called after a failure, on a thread that may wait for the disk.
    private func removeIncoming() {
        let (incoming, reserved) = takeIncoming()
        if let incoming { try? directory.incoming.remove(incoming.name) }
        room.incoming.release(reserved)
    }

    func abandon() {
        let (incoming, reserved) = takeIncoming()
        guard let incoming else { return room.incoming.release(reserved) }
        room.incoming.discard(incoming.file, incoming.name, reserved: reserved, in: directory)
    }
}
