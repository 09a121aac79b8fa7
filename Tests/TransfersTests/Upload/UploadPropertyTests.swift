import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers
import InterceptorsUploadServer
import Synchronization
import Testing

/// For every fault of the server and every break of the connection, the server has the right bytes, or the call throws.
@Suite(.againstHanging, .heavy) struct UploadPropertyTests {
    private static let content = uploadContent(48)

    /// Random ways to upload.
    private static func resuming(_ random: inout SeededGenerator) -> UploadResuming {
        let startsEmpty = Bool.random(using: &random)
        let partLimit = random.oneOf([Int64.max, .max, 20, 7, 1])
        return Bool.random(using: &random)
            ? .draft(startsEmpty: startsEmpty, partLimit: partLimit).trying(time: .hasty)
            : .tus(startsEmpty: startsEmpty, partLimit: partLimit).trying(time: .hasty)
    }

    private static func fault(_ random: inout SeededGenerator) -> UploadServer.Fault {
        random.oneOf([
            .none, .none, .none, .cut(after: Int.random(in: 0...48, using: &random)),
            .cut(after: Int.random(in: 0...8, using: &random)), .loseResponse, .failAfterContent,
            .refuse(random.oneOf([500, 503, 409, 423, 404, 403, 429, 413, 401, 301])), .forget,
        ])
    }

    private static func server(_ random: inout SeededGenerator, _ lie: UploadServer.Lie) -> UploadServer {
        let faults = (0..<Int.random(in: 0...8, using: &random)).map { _ in fault(&random) }
        return UploadServer.with(faults: faults) { behavior in
            behavior.lie = lie
            behavior.supports = Int.random(in: 0..<20, using: &random) > 0
            behavior.sendsInterims = Int.random(in: 0..<5, using: &random) > 0
            behavior.createsWithUpload = Bool.random(using: &random)
            behavior.repeatsFinalResponse = Bool.random(using: &random)
            behavior.maxAppendSize = random.oneOf([nil, nil, 20, 1])
            behavior.goneStatus = random.oneOf([404, 410, 403])
        }
    }

    @Test(arguments: 0..<8) func successMeansTheRightBytes(block: Int) async throws {
        for seed in (block * 300)..<(block * 300 + 300) {
            var random = SeededGenerator(seed: UInt64(seed))
            let resuming = Self.resuming(&random)
            // The draft trusts a server that says that it has bytes which were never sent. A server that takes a byte twice says so too.
            let lies = UploadServer.Lie.allCases.filter { resuming.isTus || !$0.ignoresOffsets }
            let lie = random.oneOf([.none, .none] + lies)
            let server = Self.server(&random, lie)
            let method = resuming.isTus ? .post : random.oneOf([HTTPRequest.Method.post, .put])
            let counts = Mutex<[Int64]>([])
            let note: Comment = "seed \(seed), \(resuming.isTus ? "tus" : "draft"), \(lie)"
            do {
                try await server.client().uploadPieces(Self.content, method: method, resuming: resuming) { report in
                    counts.withLock { $0.append(report.completed) }
                }
                let taken = server.completed + server.plain
                // A server that has all bytes can say too early that it has done its work with them.
                let all = lie == .completesEarly && taken.isEmpty ? server.unfinished : taken
                #expect(all.last == Self.content, note)
                #expect(counts.withLock(\.last) == 48, note)
            } catch is TransportError {
            } catch is TransferError {
            } catch is StatusError {
            }
            // A POST never becomes two uploads.
            if method == .post { #expect((server.completed + server.plain).count <= 1, note) }
            for bytes in server.completed { #expect(bytes == Self.content, note) }
            #expect(counts.withLock { $0 == $0.sorted() }, note)
            #expect(server.methods.count < 120, note)
        }
    }

    @Test(arguments: 0..<2) func cutAtEachOffset(kind: Int) async throws {
        for first in 0...48 {
            for second in [0, 1, 11, 47, 48] {
                let server = UploadServer(
                    faults: (kind == 0 ? [] : [.none]) + [.cut(after: first), .none, .cut(after: second)]
                )
                try await server.client().uploadPieces(Self.content, resuming: .bothProtocols[kind])
                #expect(server.completed == [Self.content], "\(first), \(second)")
            }
        }
    }

    @Test(arguments: 0..<2) func cutOverSockets(kind: Int) async throws {
        let server = try MockServer()
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let content = uploadContent(400_000)
        let file = try folder.write(content)
        let bodies = [HTTPBody(content), try HTTPBody(file: file), piecewise(content)]
        for body in bodies {
            let uploads = UploadServer(
                faults: (kind == 0 ? [] : [.none]) + [.cut(after: 70_000), .none, .cut(after: 50_000)]
            )
            uploads.serve(on: server)
            let client = Client(baseURL: server.url, interceptors: [])
            try await client.upload(.stream(body, type: nil), to: "/files", resuming: .bothProtocols[kind])
            #expect(uploads.completed == [content])
            #expect(uploads.headers.compactMap { $0["Upload-Offset"] }.suffix(2) == ["70000", "120000"])
        }
    }

    @Test(arguments: 0..<40) func randomFaultsOverSockets(seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let server = try MockServer()
        defer { server.stop() }
        // Nobody can disprove a statement about bytes in flight, or about bytes that the server has.
        let lies = UploadServer.Lie.allCases.filter { $0 != .beyondSent && $0 != .decreases && $0 != .completesEarly }
        let uploads = Self.server(&random, random.oneOf(lies))
        uploads.serve(on: server)
        let client = Client(baseURL: server.url, interceptors: [])
        do {
            let resuming = Self.resuming(&random)
            try await client.upload(.stream(HTTPBody(Self.content), type: nil), to: "/files", resuming: resuming)
            #expect((uploads.completed + uploads.plain).last == Self.content, "seed \(seed)")
        } catch is TransportError {
        } catch is TransferError {
        } catch is StatusError {
        }
        #expect((uploads.completed + uploads.plain).count <= 1, "seed \(seed)")
        for bytes in uploads.completed { #expect(bytes == Self.content, "seed \(seed)") }
    }
}
