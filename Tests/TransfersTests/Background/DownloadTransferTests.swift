import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization
import Testing

@testable import InterceptorsTransfers

@Suite(.againstHanging) struct DownloadTransferTests {
    @Test func downloadWritesTheFileAndDeliversItsEnd() async throws {
        let world = try TransferWorld()
        world.stub.enqueue(.text("film", headers: [.eTag: "\"1\"", .setCookie: "sid=secret"]))
        let transfers = try world.launch([.bearerAuth("token")])
        let transfer = try await transfers.download(request(), to: world.file, note: "42")
        let end = await world.ends.reached(1)[0]
        #expect(end.transfer == transfer && transfer.note == "42" && transfer.destination == world.file)
        let response = try end.result.get()
        #expect(response.status == 200 && response.body.isEmpty)
        #expect(response.headers[.eTag] == "\"1\"" && response.headers[.setCookie] == nil)
        #expect(world.content == "film")
        #expect(world.stub.requests.first?.headers[.authorization] == "Bearer token")
    }

    @Test func transfersOfTheProcessBeginInTheirOrder() async throws {
        let world = try TransferWorld()
        world.stub.on({ _ in true }, .text("film"))
        let transfers = try world.launch(maxTransfers: 1)
        let paths = (0..<50).map { "/films/\($0)" }
        for path in paths {
            let url = try #require(URL(string: "https://api.example.com\(path)"))
            try await transfers.download(HTTPRequest(url: url), to: world.folder.file(path.replacing("/", with: "-")))
        }
        _ = await world.ends.reached(paths.count)
        #expect(world.stub.requests.map(\.url.path) == paths)
    }

    @Test func successfulEndLeavesNoFileBesideTheDestination() async throws {
        let world = try TransferWorld()
        world.stub.enqueue(.text("film"))
        let transfers = try world.launch()
        try await transfers.download(request(), to: world.file)
        _ = await world.ends.reached(1)
        await transfers.eventsDelivered()
        #expect(world.names == [])
        #expect(transfers.inProgress == [])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: world.folder.url.path).sorted() == [
                "film.mp4", "records",
            ]
        )
    }

    @Test func unsuccessfulStatusKeepsTheEarlierFile() async throws {
        let world = try TransferWorld()
        try Data("old".utf8).write(to: world.file)
        world.stub.enqueue(.text("gone", status: 404))
        let transfers = try world.launch()
        try await transfers.download(request(), to: world.file)
        let end = await world.ends.reached(1)[0]
        let error = try #require(end.result.failure as? TransferError)
        #expect(error.code == .unacceptedStatus && error.response?.status == 404)
        #expect(world.content == "old")
    }

    @Test func permissionsOfTheReplacedFileStay() async throws {
        let world = try TransferWorld()
        try Data("old".utf8).write(to: world.file)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: world.file.path)
        world.stub.enqueue(.text("new"))
        let transfers = try world.launch()
        try await transfers.download(request(), to: world.file)
        _ = try await world.ends.reached(1)[0].result.get()
        let attributes = try FileManager.default.attributesOfItem(atPath: world.file.path)
        #expect(world.content == "new" && (attributes[.posixPermissions] as? NSNumber)?.intValue == 0o640)
    }

    @Test func truncatedContentShowsNoFile() async throws {
        let world = try TransferWorld()
        world.stub.enqueue(.failure(TransportError(.truncated, "The content ended too soon.")))
        let transfers = try world.launch()
        try await transfers.download(request(), to: world.file)
        let end = await world.ends.reached(1)[0]
        #expect((end.result.failure as? TransferError)?.code == .truncated)
        #expect(world.content == nil)
    }

    @Test func redirectToAnotherOriginIsAFailureUnlessAllowed() async throws {
        let world = try TransferWorld()
        world.stub.on(.get, "/v1/film", .status(302, headers: [.location: "https://cdn.example.com/film"]))
        world.stub.on(.get, "https://cdn.example.com/film", .text("cdn"))
        let transfers = try world.launch([.bearerAuth("token")])
        try await transfers.download(request(), to: world.file)
        let refused = await world.ends.reached(1)[0]
        #expect((refused.result.failure as? TransferError)?.code == .redirectedElsewhere)
        #expect(world.content == nil)
        try await transfers.download(request(), to: world.file, allowsOtherOrigins: true)
        let end = await world.ends.reached(2)[1]
        #expect(try end.result.get().status == 200 && world.content == "cdn")
        for sent in world.stub.requests where sent.url.host() == "cdn.example.com" {
            #expect(!sent.headers.contains(.authorization))
        }
    }

    @Test func redirectFromHTTPSToHTTPIsAFailureEvenIfOtherOriginsAreAllowed() async throws {
        let world = try TransferWorld()
        world.stub.on(.get, "/v1/film", .status(302, headers: [.location: "http://cdn.example.com/film"]))
        let transfers = try world.launch()
        try await transfers.download(request(), to: world.file, allowsOtherOrigins: true)
        let end = await world.ends.reached(1)[0]
        #expect((end.result.failure as? TransferError)?.code == .insecureRedirect && world.content == nil)
        #expect(world.stub.requests.count == 1)
    }

    @Test func interceptorsInsideTheClientsTransportRunOnce() async throws {
        let world = try TransferWorld()
        world.stub.enqueue(.text("film"))
        let runs = Tally()
        let inner: any Interceptor = .intercept { request, next in
            request.headers["X-Inner"] = "\(runs.count())"
            return try await next(request)
        }
        let chain = InterceptorChain([inner], transport: Client(interceptors: [inner], transport: world.stub))
        let transfers = try BackgroundTransfers(
            world.identifier,
            preparing: Client(baseURL: apiURL, interceptors: [], transport: chain),
            session: .inProcess(),
            folder: world.records
        ) { world.ends.add($0) }
        try await transfers.download(request(), to: world.file)
        _ = try await world.ends.reached(1)[0].result.get()
        #expect(runs.value == 2 && world.stub.requests.map { $0.headers["X-Inner"] } == ["2"])
    }

    @Test func redirectLosesTheFieldsThatTheChainKeepsFromOtherOrigins() async throws {
        let world = try TransferWorld()
        world.stub.on(.get, "/v1/film", .status(302, headers: [.location: "https://cdn.example.com/film"]))
        world.stub.on(.get, "https://cdn.example.com/film", .text("cdn"))
        let redaction = Redaction.standard.adding(names: ["X-Door"])
        let transfers = try world.launch([
            .followRedirects(redaction: redaction), .headers(["X-Door": "hush", "X-Api-Key": "hush", "X-App": "1"]),
        ])
        try await transfers.download(request(), to: world.file, allowsOtherOrigins: true)
        _ = try await world.ends.reached(1)[0].result.get()
        let sent = try #require(world.stub.requests.last { $0.url.host() == "cdn.example.com" })
        #expect(sent.headers["X-App"] == "1")
        #expect(!sent.headers.contains("X-Door") && !sent.headers.contains("X-Api-Key"))
    }

    @Test func cancelledDownloadEndsWithACancellationError() async throws {
        let world = try TransferWorld()
        let held = HeldTransport()
        let transfers = try world.launch(over: held)
        let transfer = try await transfers.download(request(), to: world.file)
        await held.arrivals.reached(1)
        transfers.cancel(transfer.id)
        let end = await world.ends.reached(1)[0]
        #expect(end.result.failure is CancellationError)
        transfers.cancel(transfer.id)
        held.answer()
        await transfers.eventsDelivered()
        #expect(world.ends.ends.count == 1 && world.content == nil)
    }

    @Test func secondDownloadToTheSameFileIsRefusedWhileTheFirstRuns() async throws {
        let world = try TransferWorld()
        let held = HeldTransport()
        let transfers = try world.launch(over: held)
        try await transfers.download(request(), to: world.file)
        let error = await #expect(throws: TransferError.self) {
            try await transfers.download(request(), to: world.file)
        }
        #expect(error?.code == .downloadInProgress && error?.sentNothing == true)
        #expect(transfers.inProgress.count == 1 && world.names.count == 1)
    }

    @Test func onlySoManyRunAtATime() async throws {
        let world = try TransferWorld()
        let held = HeldTransport()
        let transfers = try world.launch(over: held, maxTransfers: 2)
        for number in 0..<5 { try await transfers.download(request(), to: world.folder.file("\(number)")) }
        await held.arrivals.reached(2)
        #expect(held.arrivals.value == 2)
        held.answer()
        #expect(await world.ends.reached(5).allSatisfy { (try? $0.result.get()) != nil })
    }

    @Test func contentAndMissingFolderAreRefusedBeforeAnythingIsEnqueued() async throws {
        let world = try TransferWorld()
        let transfers = try world.launch()
        let error = await #expect(throws: TransferError.self) {
            try await transfers.download(request(filmURL, .post, "x"), to: world.file)
        }
        #expect(error?.code == .unsupported)
        let missing = await #expect(throws: TransportError.self) {
            try await transfers.download(request(), to: world.folder.file("no/film.mp4"))
        }
        #expect(missing?.code == .unwritableFile)
        let folder = await #expect(throws: TransportError.self) {
            try await transfers.download(request(), to: world.folder.url)
        }
        #expect(folder?.code == .unwritableFile)
        #expect(world.names == [] && world.stub.requests.isEmpty)
    }

    @Test func progressEndsWithTheTransfer() async throws {
        let world = try TransferWorld()
        let held = HeldTransport()
        let transfers = try world.launch(
            over: InterceptorChain(
                [
                    .intercept { request, next in
                        request.context.downloadProgress?(TransferProgress(completed: 1, total: 4))
                        return try await next(request)
                    }
                ],
                transport: held
            )
        )
        let transfer = try await transfers.download(request(), to: world.file)
        let progress = transfers.progress(of: transfer.id)
        await held.arrivals.reached(1)
        held.answer()
        for await value in progress { #expect(value.total == 4) }
        _ = await world.ends.reached(1)
        for await _ in transfers.progress(of: transfer.id) { Issue.record("progress after the end") }
    }
}

extension Result {
    /// The error, if the transfer failed.
    var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
