import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsRecordings

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Recorders and readers of one folder, in one process or in two.
@Suite(.againstHanging) struct FolderLockTests {
    private let recorded = RecordedFolder()
    private var folder: FolderPath { FolderPath(recorded.url) }

    /// The lock of the folder, as another process holds it.
    private func otherProcess() throws -> OpenedFile {
        try folder.make()
        let file = try OpenedFile.open(recorded.url.path, O_RDONLY | O_DIRECTORY)
        #expect(file.tryLock() == .locked)
        return file
    }

    @Test func aRecorderWaitsForALockUpToALimit() async throws {
        let other = try otherProcess()
        let recorder = FolderRecorder(recorded.url, redaction: .standard, lockLimit: .zero, now: { Date() })
        let slot = try #require(recorder.slot(for: request("/a")))
        let exchange = RecordedExchange(
            startedAt: Date(),
            request: .init(method: .get, url: "https://api.example.com/a"),
            response: .init(status: 200, chunks: [.init(Data("1".utf8))])
        )
        let error = await #expect(throws: TransportError.self) { try await recorder.keep(exchange, in: slot) }
        #expect(error?.code == .unwritableFile && error?.message.contains("has held the lock") == true)
        #expect(!recorded.everything.contains { $0.contains(".recording") || $0.contains("a.") })
        withExtendedLifetime(other) {}
    }

    @Test func aReaderWaitsForALockUpToALimit() async throws {
        let other = try otherProcess()
        let error = await #expect(throws: TransportError.self) {
            try await folder.withSharedLock(within: .zero, for: request("/a")) {}
        }
        #expect(error?.code == .unreadableFile && error?.message.contains("has held the lock") == true)
        withExtendedLifetime(other) {}
    }

    @Test func readersShareALock() async throws {
        try folder.make()
        let folder = folder
        try await folder.withSharedLock(for: request("/a")) {
            _ = #expect(throws: TransportError.self) { try folder.withLock(within: .zero) {} }
        }
        try await recorded.record("/a", .text("1"))
        try folder.withLock(within: .zero) {}
    }

    @Test func aReaderSeesNoHalfOfAChange() async throws {
        try recorded.write("old", to: "GET/a.txt")
        var other: OpenedFile? = try otherProcess()
        try FileManager.default.removeItem(at: recorded.url.appending(path: "GET/a.txt"))
        let player = recorded.player
        async let text = player.text("/a")
        // Gives the reader time to begin. The expectation holds in any order. A few yields, because the reader gives up after 10 s.
        for _ in 0..<5 { await Task.yield() }
        try recorded.write("new", to: "GET/a.txt")
        withExtendedLifetime(other) {}
        other = nil
        #expect(try await text == "new")
    }

    @Test func theAnswerOfAnotherRecorderIsReplaced() async throws {
        let (one, other) = (recorded.chain(), recorded.chain())
        func record(_ target: String, _ answer: StubAnswer, _ chain: InterceptorChain) async throws {
            recorded.stub.enqueue(answer)
            _ = try await chain.send(request(target))
        }
        try await record("/x", .text("x"), one)
        try await record("/q", .status(404, body: HTTPBody("missing")), other)
        try await record("/q", .json("1"), one)
        #expect(try recorded.files == ["GET/q.json", "GET/x.txt"])
        // Folders beside an answer stay, also one whose name looks like that of a file.
        try recorded.write("1", to: "GET/q/x.json")
        try recorded.write("1", to: "GET/q.html/x.json")
        // Also an answer with the same number as a later one.
        try await record("/q", .json("2"), one)
        try recorded.write("other", to: "GET/q#3.404.txt")
        try await record("/q", .json("3"), one)
        #expect(
            try recorded.files == [
                "GET/q/x.json", "GET/q#2.json", "GET/q#3.json", "GET/q.html/x.json", "GET/q.json", "GET/x.txt",
            ]
        )
        #expect(recorded.errors.all.isEmpty)
    }

    /// On such a file system, the old name is another name of the new file.
    @Test func whereCaseIsIgnoredNothingIsRemovedAfterTheNewAnswerIsThere() throws {
        let exchange = RecordedExchange(
            startedAt: Date(),
            request: .init(method: .get, url: "/logo"),
            response: .init(status: 200, headerFields: [.contentType: "image/png"], chunks: [.init(Data([1]))])
        )
        let name = FolderName(method: .get, url: "/logo", redaction: .standard)
        let files = try #require(FolderFiles(exchange, name: name, number: 1))
        let stale = [["GET", "logo.PNG"], ["GET", "logo.PNG.head"]]
        let steps = files.steps(content: ["GET", ".recording-1"], head: nil, replacing: stale)
        let last = try #require(steps.last)
        #expect(last == .rename(["GET", ".recording-1"], to: "logo.png"))
        #expect(stale.allSatisfy { steps.contains(.remove($0)) })
    }
}
