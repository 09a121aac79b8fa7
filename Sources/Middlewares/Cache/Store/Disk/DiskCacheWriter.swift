internal import Foundation
internal import Synchronization

/// Receives a body, in memory up to one block and then in a file of `incoming`, and commits it under the shard's lock.
///
/// The first of ``commit(if:)``, ``abandon()`` and a failure ends the writer. It takes the file and the reserved bytes out
/// of the state, and thereby owns them. A process that is killed before the commit leaves only a file in `incoming`, which no
/// record names. The next process that opens the directory removes the file.
final class DiskCacheWriter: CacheWriter {
    /// Stores a complete body if the closure wants it under the shard's lock. The second argument is the name of a long body's
    /// file in `incoming`. Returns whether the body is stored.
    typealias Keeping = @Sendable (DiskRecord.Variant, String?, @Sendable (UInt64) -> Bool) async throws -> Bool

    private struct State {
        var length: Int64 = 0
        var block: [UInt8] = []
        var incoming: (file: OpenedFile, name: String)?
        /// The blocks in the file.
        var blocks: Int64 = 0
        /// The bytes that ``DiskIncoming`` counts for this body.
        var reserved: Int64 = 0
    }

    private let id = UInt64.random(in: .min ... .max)
    private let response: CachedResponse
    private let directory: DiskDirectory
    private let limit: Int64
    private let room: DiskRoom
    private let keep: Keeping
    /// `nil` after the end.
    private let state = Mutex<State?>(State())

    init(
        _ response: CachedResponse,
        in directory: DiskDirectory,
        limit: Int64,
        room: DiskRoom,
        keep: @escaping Keeping
    ) {
        self.response = response
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
                // Splits a large chunk, so that `abandon()` waits for the lock during the write of one block at most.
                let part = rest.prefix(DiskBody.blockSize)
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
            guard length > DiskBody.blockSize, length <= limit else { return 0 }
            return directory.allocated(DiskBody.fileSize(of: length)) - state.reserved
        }
        guard let missing, missing > 0 else { return }
        let reserved = try await room.reserve(missing, in: directory)
        if whileOpen({ $0.reserved += reserved }) == nil { room.incoming.release(reserved) }
    }

    private func add(_ part: Data, to state: inout State) throws {
        state.length += Int64(part.count)
        guard state.length <= limit else { throw CacheStoreError.tooLarge(limit) }
        // A full block is written only when more bytes follow: a body of one block stays in memory.
        let first = part.prefix(DiskBody.blockSize - state.block.count)
        state.block += first
        guard first.count < part.count else { return }
        try flush(&state)
        state.block += part.dropFirst(first.count)
    }

    private func flush(_ state: inout State) throws {
        let name = state.incoming?.name ?? IncomingName.make()
        let file = try state.incoming?.file ?? OpenedFile.make(name, in: directory.incoming)
        state.incoming = (file, name)
        let sum = state.block.withUnsafeBytes { DiskBody.checksum($0, of: id, state.blocks) }
        withUnsafeBytes(of: sum.littleEndian) { state.block += $0 }
        try file.write(state.block, at: state.blocks * Int64(DiskBody.framedSize))
        state.block.removeAll(keepingCapacity: true)
        state.blocks += 1
    }

    @concurrent
    func commit(if isWanted: @Sendable (UInt64) -> Bool) async throws -> Bool {
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

    private func store(_ last: State, if isWanted: @Sendable (UInt64) -> Bool) async throws -> Bool {
        // If the body is stored, its file has been renamed, and the usage counts its bytes.
        defer { remove(last) }
        let content: DiskRecord.Variant.Content = last.incoming == nil ? .inline(last.block[...]) : .file
        let variant = DiskRecord.Variant(id: id, response: response, length: last.length, content: content)
        return try await keep(variant, last.incoming?.name, isWanted)
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
