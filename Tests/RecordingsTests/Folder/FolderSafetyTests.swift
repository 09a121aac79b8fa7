import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsRecordings

extension FolderPath {
    /// Writes a file as a recorder does.
    func write(_ bytes: Data, to path: [String]) throws {
        let temporary = try writeTemporary(bytes, beside: path)
        try rename(temporary, to: path.last ?? "")
    }
}

@Suite(.againstHanging) struct FolderSafetyTests {
    /// A folder with an answer, beside a file with a secret.
    private func sandbox() throws -> (outside: TemporaryFolder, folder: URL) {
        let outside = try TemporaryFolder()
        let folder = outside.url.appending(path: "folder")
        let get = folder.appending(path: "GET")
        try FileManager.default.createDirectory(at: get, withIntermediateDirectories: true)
        try Data("secret".utf8).write(to: outside.url.appending(path: "secret.txt"))
        try Data("secret".utf8).write(to: folder.appending(path: "stray.txt"))
        try Data("fine".utf8).write(to: get.appending(path: "fine.txt"))
        return (outside, folder)
    }

    private func link(_ url: URL, to target: URL) throws {
        try FileManager.default.createSymbolicLink(at: url, withDestinationURL: target)
    }

    @Test func linksAreNotFollowed() async throws {
        let (outside, folder) = try sandbox()
        let secret = outside.url.appending(path: "secret.txt")
        try link(folder.appending(path: "GET/file.txt"), to: secret)
        try link(folder.appending(path: "GET/dir"), to: outside.url)
        try link(folder.appending(path: "POST"), to: outside.url)
        try link(folder.appending(path: "GET/fine.txt.head"), to: secret)
        try link(folder.appending(path: "GET/inside.txt"), to: folder.appending(path: "GET/fine.txt"))
        let transport = StubTransport.files(in: folder)
        for target in ["/file", "/file.txt", "/dir/secret", "/dir/secret.txt", "/inside"] {
            await #expect(throws: TransportError.self) { try await transport.text(target) }
        }
        await #expect(throws: TransportError.self) { try await transport.text("/secret", .post) }
        #expect(try await transport.text("/fine") == "fine")
    }

    @Test func folderItselfMayBeALink() async throws {
        let (outside, folder) = try sandbox()
        let alias = outside.url.appending(path: "alias")
        try link(alias, to: folder)
        #expect(try await StubTransport.files(in: alias).text("/fine") == "fine")
    }

    @Test func fifoDoesNotBlock() async throws {
        let (outside, folder) = try sandbox()
        defer { withExtendedLifetime(outside) {} }
        let path = folder.appending(path: "GET/pipe.txt").path
        #expect(mkfifo(path, 0o600) == 0)
        await #expect(throws: TransportError.self) { try await StubTransport.files(in: folder).text("/pipe") }
        // Also when the FIFO takes a file's place after the listing.
        #expect(throws: FolderPath.Failure(code: EINVAL, file: "GET/pipe.txt")) {
            try FolderPath(folder).read(["GET", "pipe.txt"], upTo: 10)
        }
        #expect(mkfifo(path + ".head", 0o600) == 0)
        #expect(try await StubTransport.files(in: folder).text("/fine") == "fine")
    }

    @Test(arguments: [
        ["..", "secret.txt"], ["GET", "..", "..", "secret.txt"], ["../secret.txt"], ["/etc/passwd"], ["GET", ""], ["."],
        ["GET\0", "fine.txt"], [], ["GET", "fine.txt\0.json"],
    ])
    func pathThatIsNotOfSegmentsIsRefused(path: [String]) throws {
        let (outside, folder) = try sandbox()
        let paths = FolderPath(folder)
        #expect(throws: FolderPath.Failure.self) { try paths.read(path, upTo: 10) }
        #expect(throws: FolderPath.Failure.self) { try paths.write(Data(), to: path) }
        #expect(throws: FolderPath.Failure.self) { try paths.remove(path) }
        #expect(throws: FolderPath.Failure.self) { try paths.rename(["GET", "fine.txt"], to: "../fine.txt") }
        #expect(try Data(contentsOf: outside.url.appending(path: "secret.txt")) == Data("secret".utf8))
    }

    @Test func writeDoesNotFollowLinks() throws {
        let (outside, folder) = try sandbox()
        try link(folder.appending(path: "GET/dir"), to: outside.url)
        try link(folder.appending(path: "GET/file.txt"), to: outside.url.appending(path: "secret.txt"))
        let paths = FolderPath(folder)
        #expect(throws: FolderPath.Failure.self) {
            try paths.write(Data("new".utf8), to: ["GET", "dir", "secret.txt"])
        }
        try paths.write(Data("new".utf8), to: ["GET", "file.txt"])
        #expect(try Data(contentsOf: outside.url.appending(path: "secret.txt")) == Data("secret".utf8))
        #expect(try paths.read(["GET", "file.txt"], upTo: 100) == Data("new".utf8))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "GET").path)
        #expect(!names.contains { $0.hasPrefix(".") })
    }

    /// After the folder was listed, first a file and then its folder is replaced by a link.
    @Test func linkSwappedInBetweenListingAndUseIsNotFollowed() throws {
        let (outside, folder) = try sandbox()
        let paths = FolderPath(folder)
        let (get, aside) = (folder.appending(path: "GET"), outside.url.appending(path: "aside"))
        let target = outside.url.appending(path: "target")
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        try Data("secret".utf8).write(to: target.appending(path: "fine.txt"))
        for swapped in [get.appending(path: "fine.txt"), get] {
            let found = try paths.list().files
            #expect(found.contains(["GET", "fine.txt"]))
            try FileManager.default.moveItem(at: swapped, to: aside)
            try link(swapped, to: swapped == get ? target : target.appending(path: "fine.txt"))
            #expect(throws: FolderPath.Failure.self) { try paths.read(["GET", "fine.txt"], upTo: 100) }
            #expect(try paths.list().files.allSatisfy { $0.count == 1 })
            if swapped == get {
                #expect(throws: FolderPath.Failure.self) { try paths.write(Data("x".utf8), to: ["GET", "new.txt"]) }
                #expect(throws: FolderPath.Failure.self) { try paths.remove(["GET", "fine.txt"]) }
            }
            try FileManager.default.removeItem(at: swapped)
            try FileManager.default.moveItem(at: aside, to: swapped)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: target.path) == ["fine.txt"])
        #expect(try paths.read(["GET", "fine.txt"], upTo: 100) == Data("fine".utf8))
    }
}

@Suite(.againstHanging, .heavy) struct FolderFuzzTests {
    private static let parts = [
        "..", "%2e%2e", "%2E.", ".", "%2e", "/", "%2f", "%2F", "%5c", "%5C", "\\", "%00", "secret", "secret.txt",
        "SECRET",
        "stray.txt", "GET", "%252e%252e", "%c0%ae", "%c0%af", "%ef%bc%8f", "%e2%80%a5", "~", "*", "**", "?", "&", "=",
        "#",
        ":", "C:", "etc/passwd", "%0a", "^", "^^", "folder", "x", "é", "e%CC%81", "%", "%zz", ";", "@",
        "api.example.com",
        ".head", ".json", ".txt", "//", "file:", "proc/self/environ", "%F0%9F%98%80", "fine",
    ]

    private static func target(_ random: inout SeededGenerator) -> String {
        var target = "/"
        for _ in 0..<Int.random(in: 1...12, using: &random) { target += random.oneOf(parts) }
        if Int.random(in: 0..<500, using: &random) == 0 { target += String(repeating: random.oneOf(parts), count: 500) }
        return target
    }

    @Test func hostileURLReadsNothingOutside() async throws {
        let outside = try TemporaryFolder()
        let folder = outside.url.appending(path: "folder")
        for directory in ["GET", "api.example.com/GET/x"] {
            let url = folder.appending(path: directory)
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            try Data("fine".utf8).write(to: url.appending(path: "fine.txt"))
        }
        for file in ["secret.txt", "folder/secret.txt", "folder/.secret.txt", "folder/GET/.secret.txt"] {
            try Data("secret".utf8).write(to: outside.url.appending(path: file))
        }
        let seed = DailySeed.value
        var random = SeededGenerator(seed: seed)
        let answers = FolderAnswers(folder, now: { Date() })
        var found = 0
        for _ in 0..<FullLoad.count(5_000, full: 100_000) {
            let target = Self.target(&random)
            let url = URL(string: "https://api.example.com" + target) ?? URL(string: "https://api.example.com")!
            // Some targets are no URL: a server may still receive them.
            guard let answer = try? await answers.answer(to: HTTPRequest(url: url), target: target) else { continue }
            found += 1
            guard case .body(let body) = answer.answer.content else { continue }
            #expect(body.data == Data("fine".utf8), "\(target), seed \(seed)")
        }
        #expect(found > 0)
    }

    @Test func hostileURLWritesNothingOutside() throws {
        let outside = try TemporaryFolder()
        let folder = outside.url.appending(path: "a/b/folder")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let seed = DailySeed.value
        var random = SeededGenerator(seed: seed)
        let paths = FolderPath(folder)
        for _ in 0..<FullLoad.count(300, full: 10_000) {
            let target = Self.target(&random)
            let origin = Bool.random(using: &random) ? "https://api.example.com" : ""
            let url = ExchangeRedaction.standard.url(origin + target)
            let name = FolderName(random.oneOf([.get, "..", "a"]), url, isRedacted: true)
            let path = name.path(extension: "txt")
            try paths.write(Data("x".utf8), to: path)
            #expect(try paths.read(path, upTo: 10) == Data("x".utf8), "\(target), seed \(seed)")
        }
        for level in ["", "a", "a/b"] {
            let names = try FileManager.default.contentsOfDirectory(atPath: outside.url.appending(path: level).path)
            #expect(names.count == 1, "seed \(seed)")
        }
    }
}
