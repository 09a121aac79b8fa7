#if os(Linux) || os(macOS)
import InterceptorsTransfers
import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsUploadServer
import Testing

/// Uploads by other processes, which are killed.
@Suite(.againstHanging, .heavy) struct UploadProcessTests {
    /// Kills per case. With INTERCEPTORS_FULL_LOAD, 240 in all.
    private static let kills = FullLoad.isOn ? 60 : 10
    private static let size = 1_000_000

    @Test(arguments: ["draft", "tus"], [Int?.none, 150_000])
    func aKilledUploadGoesOnAndLeavesTheRightBytes(kind: String, part: Int?) async throws {
        let server = try MockServer()
        defer { server.stop() }
        let uploads = UploadServer()
        uploads.serve(on: server)
        let folder = try TemporaryFolder()
        let content = Data.letters(Self.size)
        let (file, state) = (try folder.write(content), folder.file("state"))
        let program = try #require(Program.path(of: "InterceptorsUploadProcess"))
        let target = server.url.appending(path: "files").absoluteString
        let options = part.map { ["part=\($0)"] } ?? []
        func launch(_ option: String...) async throws -> String {
            try await Command.run(program, [target, file.path, state.path, kind] + options + option).text
        }
        // The first process ends after the connection broke in the middle of a part, so that a later one has to go on there.
        let isDraft = kind == "draft"
        if !isDraft { uploads.enqueue(.none) }
        uploads.enqueue(.cut(after: 100_000))
        _ = try await launch("requests=\(isDraft ? 2 : 3)")
        var generator = SeededGenerator(seed: UInt64(kind.count + (part ?? 0)))
        for kill in 1...Self.kills {
            // Half of the processes end at any point, and half of them in the middle of the content.
            let time = Int.random(in: 1...30_000, using: &generator)
            let bytes = Int.random(in: 1..<Self.size, using: &generator)
            let text = try await launch(kill % 2 == 0 ? "time=\(time)" : "bytes=\(bytes)")
            #expect(["", "done\n"].contains(text), "kill \(kill): \(text)")
            #expect(uploads.completed.allSatisfy { $0 == content }, "kill \(kill)")
        }
        let text = try await launch()
        #expect(text == "done\n")
        #expect(!uploads.completed.isEmpty && uploads.completed.allSatisfy { $0 == content })
        let offsets = uploads.headers.compactMap { $0["Upload-Offset"].flatMap { Int($0) } }
        #expect(offsets.contains(100_000), "a process went on in the middle of a part")
    }
}
#endif
