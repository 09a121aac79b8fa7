#if os(Linux) || os(macOS)
import InterceptorsTransfers
import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

/// Downloads by other processes, which are killed, share a file, or have a full disk.
@Suite(.againstHanging, .heavy) struct DownloadProcessTests {
    /// Kills per case. With INTERCEPTORS_FULL_LOAD, 414.
    private static func kills(_ lie: RangedFile.Lie) -> Int {
        FullLoad.isOn ? (usualLies.contains(lie) ? 34 : 6) : 4
    }
    private static let size = FullLoad.isOn ? 50_000_000 : 1_000_000

    private static let usualLies: Set<RangedFile.Lie> = [
        .nothing, .ignoresRanges, .startsElsewhere, .confirmsAnotherVersion, .keepsItsTag,
    ]
    private static let cases = RangedFile.Lie.allCases.flatMap { lie in
        (lie.needsDigest ? [true] : [true, false]).map { hasDigest in (lie, hasDigest) }
    }

    private func child(
        _ place: Destination,
        _ server: MockServer,
        _ digest: String?,
        _ options: String...
    ) async throws
        -> Command.Result
    {
        let program = try #require(Program.path(of: "InterceptorsDownloadProcess"))
        let digests = digest.map { ["digest=" + $0] } ?? []
        let arguments = [server.url.appending(path: "file").absoluteString, place.file.path] + digests + options
        return try await Command.run(program, arguments)
    }

    @Test(arguments: cases) func aKilledDownloadLeavesNoWrongFile(
        server behavior: (lie: RangedFile.Lie, hasDigest: Bool)
    ) async throws {
        let (lie, hasDigest) = behavior
        let server = try MockServer()
        defer { server.stop() }
        let (old, new) = (Data.letters(Self.size, from: 9), Data.letters(Self.size))
        // Serves the old content to the first two processes.
        let (file, launches) = (RangedFile(old, new, lie: lie), Tally())
        server.on(.get, "/file") { request in
            let (status, fields, body) = file.answer(request.headers, number: launches.value > 2 ? 1 : 0)
            return .status(status, headers: fields, body: body)
        }
        let place = try Destination()
        let digest = hasDigest ? try new.sha256 : nil
        var generator = SeededGenerator(seed: UInt64(lie.rawValue.count))
        var parts = 0
        for kill in 1...Self.kills(lie) {
            // Half of the processes end at any point, and half of them in the middle of the content.
            let time = Int.random(in: 1...(FullLoad.isOn ? 180_000 : 30_000), using: &generator)
            let bytes = Int.random(in: Self.size / 2..<Self.size, using: &generator)
            launches.count()
            let end = kill % 2 == 0 ? "time=\(time)" : "bytes=\(bytes)"
            let result = try await child(place, server, digest, end)
            // Without a digest, the old content is as right as the new one.
            let isRight = place.content == nil || place.content == new || !hasDigest && place.content == old
            #expect(isRight, "kill \(kill) of \(lie): \(result.text)")
            if place.names.contains(".film.mp4.part") { parts += 1 }
            if place.content != nil { try FileManager.default.removeItem(at: place.file) }
        }
        #expect(parts > 0, "some processes were killed in the middle")
        for _ in 0..<2 where place.content == nil {
            _ = try await child(place, server, digest)
        }
        #expect(place.content == new, "\(lie)")
        #expect(place.names == ["film.mp4"], "\(lie)")
        let goesOn = server.requests.contains { $0.headers.contains(.range) }
        #expect(goesOn == (lie != .weakTag), "some processes went on")
    }

    @Test func aKilledDownloadGoesOn() async throws {
        let server = try MockServer()
        defer { server.stop() }
        let content = Data.letters(100_000)
        let file = RangedFile(content)
        let requests = Tally()
        server.on(.get, "/file") { request in
            let (status, fields, body) = file.answer(request.headers, number: 0)
            guard requests.count() == 1 else { return .status(status, headers: fields, body: body) }
            let head = "HTTP/1.1 200 OK\r\n" + fields.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n"
            return StubAnswer(steps: [.send(head), .send(body.prefix(60_000)), .waitForever])
        }
        let place = try Destination()
        let program = try #require(Program.path(of: "InterceptorsDownloadProcess"))
        let process = try ChildProcess(program, ["\(server.url)/file", place.file.path])
        await server.requests(atLeast: 1)
        let state = place.folder.file(".film.mp4.part-state")
        while !hasCheckpoint(state) { await Task.yield() }
        let busy = await #expect(throws: TransferError.self) {
            try await Client(interceptors: [])
                .download(RequestTarget(server.url.appending(path: "file")), to: place.file, resuming: .acrossLaunches)
        }
        #expect(busy?.code == .downloadInProgress, "the other process holds the lock")
        process.send(signal: SIGKILL)
        await process.ended()
        try await Client(interceptors: [])
            .download(RequestTarget(server.url.appending(path: "file")), to: place.file, resuming: .acrossLaunches)
        #expect(place.content == content)
        let ranges = server.requests.map { $0.headers[.range] }
        #expect(ranges.count == 2 && ranges[0] == nil && ranges[1] != nil, "\(ranges)")
    }

    private func hasCheckpoint(_ state: URL) -> Bool {
        guard let bytes = try? Data(contentsOf: state) else { return false }
        return String(decoding: bytes, as: UTF8.self).contains(/"safe":[1-9]/)
    }

    @Test func twoProcessesMakeOneRightFile() async throws {
        let server = try MockServer()
        defer { server.stop() }
        let content = Data.letters(Self.size)
        RangedFile(content).serve(on: server)
        let place = try Destination()
        let digest = try content.sha256
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<4 { group.addTask { try await child(place, server, digest).text } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(
            texts.contains("done\n") && texts.allSatisfy { ["done\n", "downloadInProgress\n"].contains($0) },
            "\(texts)"
        )
        #expect(place.content == content)
        #expect(place.names == ["film.mp4"])
    }

    @Test func aFullDiskKeepsThePartForLater() async throws {
        let server = try MockServer()
        defer { server.stop() }
        let content = Data.letters(4_000_000)
        RangedFile(content).serve(on: server)
        let place = try Destination()
        let result = try await child(place, server, nil, "limit=3500000")
        #expect(result.text == "diskFull\n")
        #expect(place.content == nil)
        let later = try await child(place, server, nil)
        #expect(later.text == "done\n")
        #expect(place.content == content)
        let asked = server.requests.map { $0.headers[.range] }
        #expect(asked.filter { $0 == nil }.count == 1, "\(asked)")
    }
}
#endif
