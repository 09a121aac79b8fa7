import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization
import Testing

@testable import InterceptorsTransfers

@Suite(.againstHanging) struct RelaunchTests {
    @Test func transferThatTheProcessDidNotFinishEndsAsLostInTheNextLaunch() async throws {
        let world = try TransferWorld()
        let held = HeldTransport()
        var transfers: BackgroundTransfers? = try world.launch(over: held)
        let transfer = try await transfers?.download(request(), to: world.file, note: "42")
        await held.arrivals.reached(1)
        transfers = nil
        transfers = try world.launch()
        let end = await world.ends.reached(1)[0]
        #expect(end.transfer == transfer)
        #expect((end.result.failure as? TransferError)?.code == .transferLost)
        await transfers?.eventsDelivered()
        #expect(world.names == [] && world.content == nil)
    }

    @Test func lostTransferIsStartedOverThroughTheChain() async throws {
        let world = try TransferWorld()
        let held = HeldTransport()
        var transfers: BackgroundTransfers? = try world.launch(over: held)
        let first = try await transfers?.download(request(), to: world.file, note: "42")
        await held.arrivals.reached(1)
        transfers = nil
        world.stub.enqueue(.text("film"))
        transfers = try world.launch([.bearerAuth("fresh")]) { end in
            #expect(end.transfer.note == "42" && end.transfer.id == first?.id)
            return request()
        }
        let end = await world.ends.reached(1)[0]
        #expect(try end.result.get().status == 200)
        #expect(end.transfer.attempt == 2 && end.transfer.id == first?.id && world.content == "film")
        #expect(world.stub.requests.first?.headers[.authorization] == "Bearer fresh")
    }

    @Test func endWhoseClosureDidNotReturnIsDeliveredAgain() async throws {
        let world = try TransferWorld()
        world.stub.enqueue(.text("film"))
        let (entered, gate) = (Latch(), Gate())
        var transfers: BackgroundTransfers? = try world.launch(onEnd: { _ in
            entered.open()
            await gate.opened()
        })
        try await transfers?.download(request(), to: world.file)
        await entered.opened()
        // The process dies within the closure.
        transfers = nil
        transfers = try world.launch()
        let end = await world.ends.reached(1)[0]
        #expect(try end.result.get().status == 200 && world.content == "film")
        gate.open()
        _ = await world.ends.reached(2)
        await transfers?.eventsDelivered()
        #expect(world.names == [])
    }

    @Test func recordHoldsNoSecret() async throws {
        let world = try TransferWorld()
        let held = HeldTransport()
        let transfers = try world.launch([.bearerAuth("hush-1"), .headers(["X-Api-Key": "hush-2"])], over: held)
        let secret = URL(string: "https://api.example.com/v1/film?token=hush-3")!
        try await transfers.download(request(secret), to: world.file)
        try await transfers.upload(request(secret, .post, "x"))
        for name in world.names {
            let text = String(decoding: try Data(contentsOf: world.records.appending(path: name)), as: UTF8.self)
            #expect(!text.contains("hush") && !text.contains("example.com"), "\(text)")
        }
        #expect(world.names.count == 3)
        for transfer in transfers.inProgress { #expect(!"\(transfer)".contains("hush")) }
    }

    @Test func damagedRecordIsReportedAndRemoved() async throws {
        let world = try TransferWorld()
        try FileManager.default.createDirectory(at: world.records, withIntermediateDirectories: true)
        // The last but one is left by a kill while Foundation writes a record.
        let names = ["a.json", "b.upload", "c.incoming", ".download-x", ".dat.nosync2F51.fXMpkk", "kept.txt"]
        for name in names { try Data("{".utf8).write(to: world.records.appending(path: name)) }
        let transfers = try world.launch()
        #expect(world.problems.withLock { $0 }.count == 1)
        #expect(world.names == ["kept.txt"])
        #expect(transfers.inProgress.isEmpty)
    }

    @Test func recordThatCannotBeReadStopsTheLaunchAndIsKept() async throws {
        let world = try TransferWorld()
        // A folder in the record's place fails to read for root too.
        let record = world.records.appending(path: "a.json")
        try FileManager.default.createDirectory(at: record, withIntermediateDirectories: true)
        let error = #expect(throws: TransportError.self) { try world.launch() }
        #expect(error?.code == .unreadableFile)
        #expect(world.names == ["a.json"])
        try FileManager.default.removeItem(at: record)
        _ = try world.launch()
    }

    @Test func secondObjectWithTheIdentifierIsRefused() throws {
        let world = try TransferWorld()
        var transfers: BackgroundTransfers? = try world.launch()
        let error = #expect(throws: TransferError.self) { try world.launch() }
        #expect(error?.code == .identifierInUse)
        #expect(transfers?.identifier == world.identifier)
        transfers = nil
        _ = try world.launch()
    }

    @Test func folderOfOtherTransfersIsRefused() async throws {
        let world = try TransferWorld()
        let held = HeldTransport()
        var transfers: BackgroundTransfers? = try world.launch(over: held)
        try await transfers?.download(request(), to: world.file)
        let link = world.folder.file("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: world.records)
        for folder in [world.records, world.records.appending(path: "../records/"), link] {
            let error = #expect(throws: TransferError.self) { try Self.other(in: folder) }
            #expect(error?.code == .folderInUse && error?.sentNothing == true)
        }
        #expect(transfers?.inProgress.count == 1 && world.names.count == 1)
        transfers = nil
        _ = try Self.other(in: world.records)
    }

    #if os(Linux) || os(macOS)
    @Test func folderThatAnotherProcessHasLockedIsRefused() throws {
        let world = try TransferWorld()
        try FileManager.default.createDirectory(at: world.records, withIntermediateDirectories: true)
        // Another descriptor of this process excludes it as one of another process does.
        var descriptor: OpenedFile? = try OpenedFile.open(world.records.path, O_RDONLY)
        #expect(descriptor?.tryLock() == .locked)
        let error = #expect(throws: TransferError.self) { try world.launch() }
        #expect(error?.code == .folderInUse)
        descriptor = nil
        _ = try world.launch()
    }
    #endif

    @Test func launchThatFailsKeepsNeitherIdentifierNorFolder() throws {
        let world = try TransferWorld()
        let record = world.records.appending(path: "a.json")
        try FileManager.default.createDirectory(at: record, withIntermediateDirectories: true)
        #expect(throws: TransportError.self) { try world.launch() }
        #expect(throws: TransportError.self) { try Self.other(in: world.records) }
        try FileManager.default.removeItem(at: record)
        _ = try world.launch()
    }

    /// Transfers with another identifier.
    private static func other(in folder: URL) throws -> BackgroundTransfers {
        try BackgroundTransfers(
            UUID().uuidString,
            preparing: Client(interceptors: [], transport: StubTransport()),
            session: .inProcess(),
            folder: folder
        ) { _ in }
    }

    @Test func fileInTheContainerIsFoundWhenTheContainerHasMoved() {
        let path = StoredPath(URL(filePath: "/var/apps/1/Library/film 1.mp4"), home: "/private/var/apps/1")
        #expect(path.url(home: "/private/var/apps/2").path == "/private/var/apps/2/Library/film 1.mp4")
        let other = StoredPath(URL(filePath: "/var/apps/10/film.mp4"), home: "/var/apps/1")
        #expect(other.url(home: "/var/apps/2").path == "/var/apps/10/film.mp4")
    }

    @Test func usualFolderDependsOnTheIdentifierAndStaysInsideItsParent() throws {
        let (one, other) = (try TransferFolder.usual(for: "../a/b"), try TransferFolder.usual(for: "c"))
        #expect(one != other && one.deletingLastPathComponent().lastPathComponent == "BackgroundTransfers")
    }
}
