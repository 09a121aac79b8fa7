import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers
import Testing

/// Responses that are neither the whole content nor its rest.
@Suite(.againstHanging) struct DownloadResponseTests {
    private let film = Data.letters(100)

    /// A server that codes its content from request `first` on, behind a transport that decodes codings it asked for.
    private func coded(from first: Int, decodes: Bool = true) -> StubTransport {
        let (number, film) = (Tally(), film)
        let plain = RangedFile(film).stub(cuts: [40])
        return StubTransport { request in
            if number.count() <= first { return try await plain.send(request) }
            let fields = request.headers
            guard !decodes || fields.contains(.range) || fields.contains(.acceptEncoding) else {
                return HTTPResponse(status: 200, headers: [.eTag: "\"2\""], body: HTTPBody(film))
            }
            return HTTPResponse(
                status: 200,
                headers: [.contentEncoding: "gzip", .contentLength: "5", .eTag: "\"2\""],
                body: "coded"
            )
        }
    }

    @Test(arguments: 0..<2) func codedContentIsAskedForDecodedAndNotKept(extent: Int) async throws {
        let place = try Destination()
        let stub = coded(from: 0)
        try await makeClient(stub).download("/film", to: place.file, resuming: .bothExtents[extent])
        #expect(stub.requests.map { $0.headers[.acceptEncoding] } == ["identity", nil])
        #expect(place.content == film)
    }

    @Test(arguments: 0..<2) func codedContentInsteadOfTheRestIsAskedForDecodedAndWhole(extent: Int) async throws {
        let place = try Destination()
        let stub = coded(from: 1)
        try await makeClient(stub).download("/film", to: place.file, resuming: .bothExtents[extent])
        #expect(stub.ranges == [nil, "bytes=40-", nil])
        #expect(stub.requests.map { $0.headers[.acceptEncoding] } == ["identity", "identity", nil])
        #expect(place.content == film)
        #expect(place.names == ["film.mp4"])
    }

    @Test(arguments: 0..<2) func contentThatStaysCodedIsNotSaved(extent: Int) async throws {
        let place = try Destination()
        let stub = coded(from: 1, decodes: false)
        let error = await #expect(throws: TransferError.self) {
            try await makeClient(stub).download("/film", to: place.file, resuming: .bothExtents[extent])
        }
        #expect(error?.code == .invalidResponse)
        #expect(stub.requests.count == 3)
        #expect(place.content == nil)
    }

    @Test func aCodingThatTheCallerChoseIsLeftToTheTransport() async throws {
        let place = try Destination()
        let stub = coded(from: 0)
        try await makeClient(stub)
            .download("/film", to: place.file, resuming: .withinCall, headers: [.acceptEncoding: "gzip"])
        #expect(stub.requests.map { $0.headers[.acceptEncoding] } == ["identity", nil])
        #expect(place.content == film)
    }

    @Test func anotherSuccessIsSavedAsByAPlainDownload() async throws {
        let place = try Destination()
        let stub = StubTransport(fallback: RangedFile(film).stub())
        stub.enqueue(.status(201, headers: [.eTag: "\"0\""], body: "made"))
        let response = try await makeClient(stub).download("/film", to: place.file, resuming: .bothExtents[1])
        #expect(response.status == 201)
        #expect(place.content == Data("made".utf8))
        #expect(place.names == ["film.mp4"])
    }

    @Test func aFieldThatTheDownloadSetsIsRefusedForTheRightReason() async throws {
        let place = try Destination()
        let error = await #expect(throws: TransportError.self) {
            try await makeClient(RangedFile(film).stub()).download(
                "/film",
                to: place.file,
                sha256: film.sha256,
                headers: [.range: "bytes=0-1"]
            )
        }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message == "This download asks for missing bytes by Range itself. Leave the field out.")
    }

    @Test(arguments: [202, 204, 304, 503] as [HTTPResponse.Status])
    func anotherAcceptedStatusKeepsThePart(status: HTTPResponse.Status) async throws {
        let place = try Destination()
        try Data("old".utf8).write(to: place.file)
        let file = RangedFile(film).stub(cuts: [40, 0])
        let stub = StubTransport(fallback: file)
        let once = DownloadResuming.acrossLaunches.trying(for: .zero, time: .impatient)
        await #expect(throws: TransportError.self) {
            try await makeClient(stub).download("/film", to: place.file, resuming: once)
        }
        stub.enqueue(.status(status, headers: [.eTag: "\"0\""], body: "no film"))
        let error = await #expect(throws: TransferError.self) {
            try await makeClient(stub).download(
                "/film",
                to: place.file,
                resuming: .bothExtents[1],
                context: .with(\.validatesStatus, false)
            )
        }
        #expect(error?.code == .unacceptedStatus)
        #expect(place.content == Data("old".utf8))
        #expect(stub.openBodies == 0)
        try await makeClient(stub).download("/film", to: place.file, resuming: once)
        #expect(file.ranges == [nil, "bytes=40-", "bytes=40-"])
        #expect(place.content == film)
    }
}
