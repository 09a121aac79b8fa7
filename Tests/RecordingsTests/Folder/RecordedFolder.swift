import Foundation
import InterceptorsTestSupport
import InterceptorsTesting

@testable import InterceptorsRecordings

/// A folder that a test records, with the server's answers queued in a stub.
struct RecordedFolder {
    let folder = TemporaryFolder.absent()
    let errors = Notes<any Error>()
    let stub = StubTransport()

    var url: URL { folder.url }

    /// A chain with a new recorder.
    func chain(
        limit: Int = 16 << 20,
        redaction: Redaction = .standard,
        replacing: (@Sendable (String) -> String)? = nil,
        time: TimeSource = .system
    ) -> InterceptorChain {
        let record: AnyInterceptor = .record(
            to: folder.url,
            bodyLimit: limit,
            redaction: redaction,
            report: { errors.add($0) },
            replacing: replacing,
            time: time
        )
        return InterceptorChain([record], transport: stub)
    }

    /// Sends requests through one recorder, each of which gets an answer.
    func record(_ exchanges: [(HTTPRequest, StubAnswer)], replacing: (@Sendable (String) -> String)? = nil) async throws
    {
        let chain = chain(replacing: replacing)
        for (request, answer) in exchanges {
            stub.enqueue(answer)
            _ = try await chain.send(request)
        }
    }

    func record(_ target: String, _ answer: StubAnswer) async throws { try await record([(request(target), answer)]) }

    /// The files of the host api.example.com.
    var files: [String] {
        get throws {
            guard FileManager.default.fileExists(atPath: folder.url.path) else { return [] }
            let paths = try FolderPath(folder.url).list().files
            return paths.filter { $0.first == "api.example.com" }.map { FolderPath.text(Array($0.dropFirst())) }
        }
    }

    func text(_ file: String) throws -> String {
        String(decoding: try Data(contentsOf: folder.file("api.example.com/" + file)), as: UTF8.self)
    }

    func write(_ text: String, to file: String) throws {
        let url = folder.file(file)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    /// The names of all files on disk, the hidden ones too.
    var everything: [String] { FileManager.default.subpaths(atPath: folder.url.path) ?? [] }

    var player: StubTransport { .files(in: url) }
}

func request(at url: String, fields: HTTPFields = [:]) -> HTTPRequest {
    HTTPRequest(url: URL(string: url)!, headers: fields)
}
