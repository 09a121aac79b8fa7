import Foundation
import InterceptorsTesting
import InterceptorsTransfers

/// `Background` begins a download, stops as a killed process would, and completes the download in the next launch with a fresh
/// token. Then it uploads a clip. On Apple's platforms, the session `.platform` would go on without the process.
@main
struct Background {
    static func main() async {
        let folder = FileManager.default.temporaryDirectory.appending(path: "Background-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let server = try MockServer()
            defer { server.stop() }
            try await App(server: server, folder: folder).run()
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }
}

/// The launches of an app.
struct App {
    let server: MockServer
    let folder: URL

    private var film: URL { folder.appending(path: "film.mp4") }

    func run() async throws {
        let (ends, received) = AsyncStream.makeStream(of: BackgroundTransfer.End.self)
        print("First launch")
        server.on(.get, "/films/42", .text("too late").delayed(by: .seconds(3_600)))
        do {
            let transfers = try launch(token: "old") { received.yield($0) }
            try await transfers.download(HTTPRequest(url: URL(string: "/films/42")!), to: film, note: "42")
            print("  in progress: \(transfers.inProgress.map(\.note))")
        }
        print("\nSecond launch")
        server.on(.get, "/films/42") { request in
            request.headers[.authorization] == "Bearer new" ? .text("a film") : .status(401)
        }
        server.on(.post, "/clips", .text("7", status: 201))
        let transfers = try launch(token: "new") { received.yield($0) }
        var answers = ends.makeAsyncIterator()
        try show(await answers.next(), "42", status: 200, attempt: 2)
        guard try Data(contentsOf: film) == Data("a film".utf8) else { throw Wrong(description: "Not the film.") }
        try await transfers.upload(
            HTTPRequest(method: .post, url: URL(string: "/clips")!, body: "a clip"),
            note: "clip"
        )
        try show(await answers.next(), "clip", status: 201, attempt: 1)
    }

    /// Creates the object, as an app does at each launch. A transfer that the last launch didn't end is prepared once more.
    private func launch(
        token: String,
        onEnd: @escaping @Sendable (BackgroundTransfer.End) -> Void
    ) throws -> BackgroundTransfers {
        let api = Client(baseURL: server.url, interceptors: [.transactionID(), .bearerAuth(token)])
        return try BackgroundTransfers(
            "com.example.films",
            preparing: api,
            session: .inProcess(),
            folder: folder.appending(path: "records")
        ) { failed in
            print("  renewing \(failed.transfer.note): \(failed.result)")
            return HTTPRequest(url: URL(string: "/films/\(failed.transfer.note)")!)
        } onEnd: { end in
            onEnd(end)
        }
    }

    private func show(_ end: BackgroundTransfer.End?, _ note: String, status: Int, attempt: Int) throws {
        guard let end, end.transfer.note == note else { throw Wrong(description: "Another transfer ended.") }
        let response = try end.result.get()
        print("  \(note): \(response.status.code), attempt \(end.transfer.attempt)")
        guard response.status.code == status, end.transfer.attempt == attempt else {
            throw Wrong(description: "Expected \(status) in attempt \(attempt).")
        }
    }

    /// Thrown if the example doesn't do what it says.
    struct Wrong: Error, CustomStringConvertible {
        let description: String
    }
}
