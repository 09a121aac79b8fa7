import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsTransfers

@Suite(.againstHanging) struct UploadTransferTests {
    @Test func uploadSendsTheFileAndDeliversTheContentOfTheResponse() async throws {
        let world = try TransferWorld()
        let source = try world.folder.write(Data("clip".utf8), to: "clip.mov")
        world.stub.enqueue(.text("id 7", status: 201))
        let transfers = try world.launch([.bearerAuth("token")])
        let transfer = try await transfers.upload(request(filmURL, .put, try HTTPBody(file: source)), note: "clip")
        let end = await world.ends.reached(1)[0]
        let response = try end.result.get()
        #expect(response.status == 201 && response.body.data == Data("id 7".utf8))
        #expect(transfer.destination == nil)
        let sent = try #require(world.stub.requests.first)
        #expect(sent.method == .put && sent.headers[.authorization] == "Bearer token")
        #expect(try await sent.body.collect(upTo: 100) == Data("clip".utf8))
        #expect(FileManager.default.fileExists(atPath: source.path))
    }

    @Test(arguments: [true, false])
    func contentThatIsNoFileIsKeptInOneUntilTheEnd(isStream: Bool) async throws {
        let world = try TransferWorld()
        let held = HeldTransport()
        let transfers = try world.launch(over: held)
        let stream = AsyncStream<Data> { continuation in
            continuation.yield(Data("cl".utf8))
            continuation.yield(Data("ip".utf8))
            continuation.finish()
        }
        let body: HTTPBody = isStream ? .oneShot(stream) : "clip"
        let transfer = try await transfers.upload(request(filmURL, .post, body))
        #expect(world.names == ["\(transfer.id).json", "\(transfer.id).upload"])
        #expect(try Data(contentsOf: world.records.appending(path: "\(transfer.id).upload")) == Data("clip".utf8))
        held.answer()
        _ = await world.ends.reached(1)
        await transfers.eventsDelivered()
        #expect(world.names == [])
    }

    @Test func streamThatWasReadIsRefused() async throws {
        let world = try TransferWorld()
        let transfers = try world.launch()
        let body = HTTPBody.oneShot(AsyncStream<Data> { $0.finish() })
        _ = try await body.collect(upTo: 10)
        let error = await #expect(throws: TransportError.self) {
            try await transfers.upload(request(filmURL, .post, body))
        }
        #expect(error?.code == .bodyNotReplayable)
        #expect(world.names == [] && transfers.inProgress == [])
    }

    @Test(arguments: [HTTPRequest.Method.get, .head])
    func methodWithoutContentIsRefused(method: HTTPRequest.Method) async throws {
        let world = try TransferWorld()
        let transfers = try world.launch()
        let error = await #expect(throws: TransferError.self) {
            try await transfers.upload(request(filmURL, method, "x"))
        }
        #expect(error?.code == .unsupported && world.names == [])
    }

    @Test func contentIsReadableByItsUserAlone() async throws {
        let world = try TransferWorld()
        let held = HeldTransport()
        let transfers = try world.launch(over: held)
        let transfer = try await transfers.upload(request(filmURL, .post, "secret"))
        func permissions(_ file: URL) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        }
        #expect(try permissions(world.records) == 0o700)
        #expect(try permissions(world.records.appending(path: "\(transfer.id).upload")) == 0o600)
        held.answer()
        _ = await world.ends.reached(1)
    }

    @Test func longContentOfAResponseIsCut() async throws {
        let world = try TransferWorld()
        world.stub.enqueue(.data(Data(repeating: 1, count: 1 << 20)))
        let transfers = try world.launch()
        try await transfers.upload(request(filmURL, .post, "x"))
        #expect(try await world.ends.reached(1)[0].result.get().body.length == Int64(uploadResponseLimit))
    }

    @Test func failedUploadEndsWithItsStatus() async throws {
        let world = try TransferWorld()
        world.stub.enqueue(.text("no", status: 401))
        let transfers = try world.launch()
        try await transfers.upload(request(filmURL, .post, "x"))
        let failure = await world.ends.reached(1)[0].result.failure
        #expect(failure?.isUnauthorized == true)
    }
}
