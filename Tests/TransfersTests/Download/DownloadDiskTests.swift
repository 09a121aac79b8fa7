import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization
import Testing

@testable import InterceptorsTransfers
@testable import InterceptorsTransport

/// The hidden files: their permissions and locks, and the order of writes.
@Suite(.againstHanging) struct DownloadDiskTests {
    private let film = Data.letters(100)
    private let once = DownloadResuming.acrossLaunches.trying(for: .zero, time: .impatient)

    private func permissions(_ file: URL) -> Int? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
        return (attributes?[.posixPermissions] as? NSNumber)?.intValue
    }

    private func write(_ text: String, to file: URL, _ permissions: Int) throws {
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: file.path)
    }

    /// Leaves 40 bytes for the next call.
    private func breakOff(_ place: Destination) async throws {
        await #expect(throws: TransportError.self) {
            try await makeClient(RangedFile(film).stub(cuts: [40, 0]))
                .download("/film", to: place.file, resuming: once)
        }
        #expect(place.names.contains(".film.mp4.part"))
    }

    // MARK: The disk

    @Test func bytesWhoseSynchronizingFailedAreNeverTrusted() async throws {
        let place = try Destination()
        let stub = RangedFile(film).stub()
        let calls = Tally()
        var resuming = DownloadResuming.bothExtents[1]
        resuming.checkpoint.bytes = 10
        resuming.protection.synchronize = { (file) throws(SystemCallFailure) in
            // As on Linux, where only the first call after lost bytes fails.
            if calls.count() == 1 { throw SystemCallFailure("fsync", file.path, EIO) }
        }
        let error = await #expect(throws: TransportError.self) {
            try await makeClient(stub).download("/film", to: place.file, resuming: resuming)
        }
        #expect(error?.code == .unwritableFile)
        #expect(calls.value == 1, "a second call would succeed wrongly")
        try await makeClient(stub).download("/film", to: place.file, resuming: .acrossLaunches)
        #expect(stub.ranges == [nil, nil])
        #expect(place.content == film)
    }

    /// In a power failure, a file has the bytes of its last synchronization.
    @Test func aRecordNamesOnlyBytesThatAreOnTheDisk() async throws {
        let place = try Destination()
        let film = Data.letters(1_000)
        let (part, state) = (place.folder.file(".film.mp4.part"), place.folder.file(".film.mp4.part-state"))
        let disk = Mutex(Data())
        let safe = Mutex<[Int]>([])
        var resuming = DownloadResuming.bothExtents[1]
        resuming.checkpoint.bytes = 20
        resuming.protection.synchronize = { (_) throws(SystemCallFailure) in
            guard let bytes = try? Data(contentsOf: part) else { return }
            disk.withLock { $0 = bytes }
        }
        let stub = RangedFile(film).stub()
        try await makeClient(stub).download("/film", to: place.file, resuming: resuming) { _ in
            guard let bytes = try? Data(contentsOf: state), let record = DownloadRecord(file: Array(bytes)) else {
                Issue.record("no record")
                return
            }
            let synchronized = disk.withLock(\.self)
            let length = Int(record.safe)
            #expect(length <= synchronized.count && synchronized.prefix(length) == film.prefix(length))
            safe.withLock { $0.append(length) }
        }
        #expect(place.content == film)
        #expect(safe.withLock { Set($0).count > 10 }, "records name more and more bytes")
    }

    /// A process was killed after it emptied the state, and before that was on the disk. After a power failure the old record
    /// could be there again.
    @Test func anEmptyStateReachesTheDiskBeforeTheBytesChange() async throws {
        let place = try Destination()
        try write("", to: place.folder.file(".film.mp4.part-state"), 0o600)
        try write("old bytes", to: place.folder.file(".film.mp4.part"), 0o600)
        let found = Mutex<[Data?]>([])
        var resuming = DownloadResuming.acrossLaunches
        resuming.protection.synchronizeState = { (file) throws(SystemCallFailure) in
            #expect(file.path.hasSuffix(".film.mp4.part-state"))
            found.withLock { $0.append(try? Data(contentsOf: place.folder.file(".film.mp4.part"))) }
        }
        try await makeClient(RangedFile(film).stub()).download("/film", to: place.file, resuming: resuming)
        #expect(found.withLock { $0 } == [Data("old bytes".utf8)])
        #expect(place.content == film)
    }

    @Test func aFailureToSynchronizeKeepsWhatWasSafeBefore() async throws {
        let place = try Destination()
        let stub = RangedFile(film).stub()
        let calls = Tally()
        var resuming = DownloadResuming.bothExtents[1]
        resuming.checkpoint.bytes = 10
        resuming.protection.synchronize = { (file) throws(SystemCallFailure) in
            if calls.count() == 2 { throw SystemCallFailure("fsync", file.path, EIO) }
        }
        await #expect(throws: TransportError.self) {
            try await makeClient(stub).download("/film", to: place.file, resuming: resuming)
        }
        try await makeClient(stub).download("/film", to: place.file, resuming: .acrossLaunches)
        #expect(stub.ranges == [nil, "bytes=14-"])
        #expect(place.content == film)
    }

    #if os(Linux)
    // From one page, which is less than the state file needs, to slightly less than the film.
    @Test(
        .enabled("Only root may mount a small disk, and not in every container.") { try await SmallDisk.mustRun() },
        arguments: [4, 8, 12, 16, 60],
        DownloadResuming.bothExtents
    )
    func aFullDiskEndsTheCallAndALaterOneGoesOn(kilobytes: Int, resuming: DownloadResuming) async throws {
        let film = Data.letters(64 << 10)
        let place = try Destination()
        let mount = try await SmallDisk.mount(kilobytes: kilobytes, at: place.folder.url)
        try #require(mount.status == 0, "\(mount.complaint)")
        let server = RangedFile(film)
        let error = await #expect(throws: TransferError.self) {
            try await makeClient(server.stub()).download("/film", to: place.file, resuming: resuming)
        }
        let content = place.content
        #expect(try await SmallDisk.resize(to: 1_000, at: place.folder.url) == 0)
        try await makeClient(server.stub()).download("/film", to: place.file, resuming: resuming)
        let (complete, names) = (place.content, place.names)
        #expect(try await SmallDisk.unmount(at: place.folder.url) == 0)
        #expect(error?.code == .diskFull)
        #expect(content == nil)
        #expect(complete == film && names == ["film.mp4"])
    }
    #endif

    /// The transport of a cancelled call may still deliver a chunk.
    @Test func aStragglerOfACancelledCallCannotWrite() async throws {
        let place = try Destination()
        let (begun, late) = (Latch(), Latch())
        let transport = StubTransport { [film] _ in
            HTTPResponse(
                status: 200,
                headers: [.eTag: "\"0\"", .contentLength: "100"],
                body: .oneShot(LatePieces(bytes: film, latch: late))
            )
        }
        let task = Task {
            try await makeClient(transport).download("/film", to: place.file, resuming: .acrossLaunches) { _ in
                begun.open()
            }
        }
        await begun.opened()
        task.cancel()
        let busy = await #expect(throws: TransferError.self) {
            try await makeClient(RangedFile(film).stub()).download("/film", to: place.file, resuming: .acrossLaunches)
        }
        #expect(busy?.code == .downloadInProgress)
        late.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        let stub = RangedFile(film).stub()
        try await makeClient(stub).download("/film", to: place.file, resuming: .acrossLaunches)
        #expect(stub.ranges == ["bytes=7-"], "nothing was written after the cancellation")
        #expect(place.content == film)
    }

    @Test func theDiskIsUsedOffTheCallersActor() async throws {
        let place = try Destination()
        let actor = MarkedActor()
        let executor = actor.executor
        var resuming = DownloadResuming.bothExtents[1]
        let onActor = Mutex<[Bool]>([])
        resuming.protection.tryLock = { file in
            onActor.withLock { $0.append(executor.isCurrent) }
            return file.tryLock()
        }
        let client = makeClient(RangedFile(film).stub(cuts: [40]))
        try await actor.download(client, to: place.file, resuming) {
            onActor.withLock { $0.append(executor.isCurrent) }
        }
        #expect(onActor.withLock { $0.count > 2 && !$0.contains(true) })
    }

    // MARK: Permissions

    @Test(arguments: DownloadResuming.bothExtents)
    func theReplacementOfAPrivateFileIsPrivateFromItsFirstByte(resuming: DownloadResuming) async throws {
        let place = try Destination()
        // A part from before the private file.
        if resuming.isAcrossLaunches { try await breakOff(place) }
        try write("old", to: place.file, 0o600)
        let stub = RangedFile(film).stub()
        let names = Mutex<[String]>([])
        let client = makeClient(
            StubTransport { request in
                for name in place.names where name.hasSuffix(".part") || name.hasPrefix(".download") {
                    names.withLock { $0.append(name) }
                    #expect(permissions(place.folder.file(name)) == 0o600)
                }
                return try await stub.send(request)
            }
        )
        try await client.download("/film", to: place.file, resuming: resuming)
        #expect(names.withLock { !$0.isEmpty })
        #expect(place.content == film)
        #expect(permissions(place.file) == 0o600)
    }

    @Test func aPartIsWritableUntilItsBytesAreOnTheDisk() async throws {
        let place = try Destination()
        try write("old", to: place.file, 0o444)
        var resuming = DownloadResuming.bothExtents[1]
        let seen = Mutex<[Int?]>([])
        let part = place.folder.file(".film.mp4.part")
        resuming.protection.synchronize = { (file) throws(SystemCallFailure) in
            seen.withLock { $0.append(permissions(part)) }
            try file.synchronize()
        }
        try await makeClient(RangedFile(film).stub()).download("/film", to: place.file, resuming: resuming)
        #expect(seen.withLock { !$0.isEmpty && $0.allSatisfy { $0 == 0o644 } }, "\(seen.withLock(\.self))")
        #expect(permissions(place.file) == 0o444)
        #expect(place.content == film)
    }

    // Only a user without root's rights can find this broken.
    @Test func aReadOnlyPartBlocksNoDownload() async throws {
        let place = try Destination()
        try write("left by a killed process", to: place.folder.file(".film.mp4.part"), 0o444)
        try await makeClient(RangedFile(film).stub()).download("/film", to: place.file, resuming: .acrossLaunches)
        #expect(place.content == film)
        #expect(place.names == ["film.mp4"])
    }

    // MARK: Locks

    @Test func withoutLocksNothingIsSentAndNothingLeft() async throws {
        let place = try Destination()
        let stub = RangedFile(film).stub()
        var resuming = DownloadResuming.acrossLaunches
        resuming.protection.tryLock = { _ in .unsupported }
        let error = await #expect(throws: TransportError.self) {
            try await makeClient(stub).download("/film", to: place.file, resuming: resuming)
        }
        #expect(error?.code == .unsupported)
        #expect(stub.requests.isEmpty)
        #expect(place.names.isEmpty)
    }

    @Test func aRemovedStateLetsNoSecondDownloadIn() async throws {
        let place = try Destination()
        let (stub, second) = (RangedFile(film).stub(), StubTransport())
        let client = makeClient(
            StubTransport { request in
                try FileManager.default.removeItem(at: place.folder.file(".film.mp4.part-state"))
                let error = await #expect(throws: TransferError.self) {
                    try await makeClient(second).download("/film", to: place.file, resuming: .acrossLaunches)
                }
                #expect(error?.code == .downloadInProgress)
                #expect(throws: TransferError.self) { try DownloadResuming.removeParts(of: place.file) }
                return try await stub.send(request)
            }
        )
        // The second call has created a state, so the first can't know whether the part is still its own.
        let error = await #expect(throws: TransportError.self) {
            try await client.download("/film", to: place.file, resuming: once)
        }
        #expect(error?.code == .unwritableFile)
        #expect(second.requests.isEmpty)
    }

    @Test func aRemovedStateAloneFailsNoDownload() async throws {
        let place = try Destination()
        let stub = RangedFile(film).stub()
        let client = makeClient(
            StubTransport { request in
                try FileManager.default.removeItem(at: place.folder.file(".film.mp4.part-state"))
                return try await stub.send(request)
            }
        )
        try await client.download("/film", to: place.file, resuming: once)
        #expect(place.content == film)
        #expect(place.names == ["film.mp4"])
    }

    @Test func thePartOfAnotherDownloadIsNotPlaced() async throws {
        let place = try Destination()
        let stub = RangedFile(film).stub()
        let client = makeClient(
            StubTransport { request in
                for name in place.names { try FileManager.default.removeItem(at: place.folder.file(name)) }
                try await breakOff(place)
                return try await stub.send(request)
            }
        )
        let error = await #expect(throws: TransportError.self) {
            try await client.download("/film", to: place.file, resuming: once)
        }
        #expect(error?.code == .unwritableFile)
        #expect(place.content == nil)
    }

    // MARK: Removal

    @Test func removePartsNeedsNeitherAStateNorAFolder() async throws {
        let place = try Destination()
        try DownloadResuming.removeParts(of: place.folder.url.appending(path: "missing/film.mp4"))
        try write("bytes", to: place.folder.file(".film.mp4.part"), 0o444)
        try DownloadResuming.removeParts(of: place.file)
        #expect(place.names.isEmpty)
    }

    @Test func removePartsTakesOnlyFiles() throws {
        let url = try #require(URL(string: "https://a.example/film?token=hush"))
        let error = #expect(throws: TransportError.self) { try DownloadResuming.removeParts(of: url) }
        #expect(error?.code == .unwritableFile)
        #expect(error?.description.contains("hush") == false)
    }
}

/// An actor that can tell whether code runs on it.
private actor MarkedActor {
    nonisolated let executor = MarkedExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func download(
        _ client: Client,
        to file: URL,
        _ resuming: DownloadResuming,
        whileWriting note: @escaping @Sendable () -> Void
    ) async throws {
        #expect(executor.isCurrent)
        try await client.download("/film", to: file, resuming: resuming) { _ in note() }
    }
}

private final class MarkedExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "caller")
    private let mark = DispatchSpecificKey<Bool>()

    init() { queue.setSpecific(key: mark, value: true) }

    var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) ?? false }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

/// The first seven bytes, and the others after the latch has opened, whether the reader is cancelled or not.
private struct LatePieces: AsyncSequence, Sendable {
    let bytes: Data
    let latch: Latch

    struct Iterator: AsyncIteratorProtocol {
        let bytes: Data
        let latch: Latch
        var count = 0

        mutating func next() async throws -> Data? {
            count += 1
            if count == 1 { return bytes.prefix(7) }
            await latch.opened()
            return count == 2 ? Data(bytes.dropFirst(7)) : nil
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(bytes: bytes, latch: latch) }
}
