import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsTransfers

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The decisions about the system's session, which are made apart from it.
@Suite(.againstHanging) struct SystemSessionTests {
    private static func failure(_ code: Int, _ userInfo: [String: Any] = [:]) -> TransferFailure {
        SystemFailure.failure(NSError(domain: NSURLErrorDomain, code: code, userInfo: userInfo), hasHead: false)
    }

    @Test(arguments: [
        (NSURLErrorCancelled, HTTPErrorCode.cancelledBySystem, true),
        (NSURLErrorBackgroundSessionWasDisconnected, .transferLost, true),
        (NSURLErrorBackgroundSessionInUseByAnotherProcess, .identifierInUse, false),
        (NSURLErrorBackgroundSessionRequiresSharedContainer, .unsupported, false),
        (NSURLErrorCannotWriteToFile, .unwritableFile, false), (NSURLErrorTimedOut, .timedOut, false),
    ])
    func errorOfTheSystemHasAMeaning(number: Int, code: HTTPErrorCode, isRenewable: Bool) {
        let failure = Self.failure(number)
        #expect(failure.code == code.rawValue && failure.isRenewable == isRenewable)
    }

    @Test func fullDiskIsAFileThatCannotBeWritten() {
        let error = NSError(domain: NSPOSIXErrorDomain, code: Int(ENOSPC))
        let failure = SystemFailure.failure(error, hasHead: true)
        #expect(failure.code == HTTPErrorCode.unwritableFile.rawValue)
        #expect(failure.message.contains("free space"))
    }

    @Test(arguments: [(0, "the user quit"), (1, "in the background"), (2, "resources"), (9, "without a reason")])
    func cancellationBySystemSaysWhy(number: Int, text: String) {
        let failure = Self.failure(
            NSURLErrorCancelled,
            [NSURLErrorBackgroundTaskCancelledReasonKey: NSNumber(value: number)]
        )
        #expect(failure.message.contains(text), "\(failure.message)")
    }

    /// A device with tvOS denies an app the support folder.
    @Test func recordsAreInAFolderThatTheSystemAllows() {
        #expect(TransferFolder.parent(onTV: true) == .cachesDirectory)
        #expect(TransferFolder.parent(onTV: false) == .applicationSupportDirectory)
    }
}

// A session that has become invalid.
extension SystemSessionTests {
    @Test func everyTransferOfASessionThatEndedHasAnEnd() {
        var ended = TransferRecord.upload("b")
        ended.phase = .ended(.cancelled)
        var world = ProcessWorld(FakeDisk(records: ["b": ended]))
        world.enqueue(.download())
        world.handle(.awaited(1))
        world.handle(.invalidated(.lost))
        #expect(world.reports == [.lost])
        #expect(world.ends.map(\.id) == ["b", "a"] && world.ends.last?.ending == .failed(.lost))
        world.finish()
        #expect(world.resumed == [1] && world.machine.records.isEmpty)
    }

    @Test func transferOfASessionThatEndedIsRenewedOrEndsWithTheFailure() throws {
        var world = ProcessWorld(FakeDisk(), maxAttempts: 2)
        world.enqueue(.download())
        world.handle(.invalidated(.lost))
        #expect(world.renewals == [TransferTask(id: TransferRecord.download().id, attempt: 2)])
        // The session takes no task any more.
        world.handle(.notRenewed(try #require(world.renewals.first)))
        #expect(world.ends.map(\.ending) == [.failed(.lost)])
    }
}

#if os(Linux)
// A destination on another volume.
extension SystemSessionTests {
    private static let otherVolume = URL(filePath: "/dev/shm")

    private static func device(_ path: String) -> NSNumber? {
        try? FileManager.default.attributesOfItem(atPath: path)[.systemNumber] as? NSNumber
    }

    private static var hasOtherVolume: Bool {
        let other = device(otherVolume.path)
        return other != nil && other != device(FileManager.default.temporaryDirectory.path)
    }

    /// The records are locked meanwhile, and copying a film takes a while.
    @Test(.enabled(if: Self.hasOtherVolume, "There is no volume in memory."))
    func receivedFileIsOnlyRenamedWhileTheRecordsAreLocked() throws {
        let folder = try TemporaryFolder()
        let received = Self.otherVolume.appending(path: UUID().uuidString)
        try Data("film".utf8).write(to: received)
        defer { try? FileManager.default.removeItem(at: received) }
        let record = TransferRecord.download(to: StoredPath(folder.file("film.mp4")))
        let records = TransferFolder(url: folder.file("records"))
        #expect(throws: TransportError.self) { try records.stage(received, for: record) }
        let near = try #require(records.bring(received, for: record))
        try records.stage(near, for: record)
        try records.place(record)
        #expect(try String(contentsOf: folder.file("film.mp4"), encoding: .utf8) == "film")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["film.mp4"])
    }

    @Test(.enabled(if: Self.hasOtherVolume, "There is no volume in memory."))
    func downloadFromAnotherVolumeIsCompleteAndLeavesNothing() async throws {
        let world = try TransferWorld()
        let records = Self.otherVolume.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: records) }
        world.stub.on(.get, "/v1/film", .text("film"))
        let transfers = try BackgroundTransfers(
            world.identifier,
            preparing: Client(baseURL: apiURL, interceptors: [], transport: world.stub),
            session: .inProcess(),
            folder: records,
            onEnd: { world.ends.add($0) }
        )
        try await transfers.download(request(), to: world.file)
        _ = try await world.ends.reached(1)[0].result.get()
        await transfers.eventsDelivered()
        #expect(world.content == "film")
        #expect(try FileManager.default.contentsOfDirectory(atPath: world.folder.url.path) == ["film.mp4"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: records.path) == [])
    }
}
#endif
