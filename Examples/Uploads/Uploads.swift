import Foundation
import Interceptors
import InterceptorsTransfers

/// `Uploads` sends a film to a server in memory by both protocols for uploads that resume. The connection breaks, and the upload goes
/// on where it broke. In the last part the program gives up, and goes on in its next launch.
@main
struct Uploads {
    private static let film = Data(repeating: UInt8(ascii: "f"), count: 1_000_000)

    static func main() async {
        do {
            let folder = FileManager.default.temporaryDirectory.appending(path: "Uploads-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appending(path: "film.mp4")
            try film.write(to: file)

            print("The IETF draft: the connection breaks twice")
            try await goOn(.draft, file, faults: [.cut(after: 300_000), .none, .cut(after: 300_000)])
            print("\ntus: the connection breaks, and the response to the last part is lost")
            try await goOn(.tus, file, faults: [.none, .cut(after: 300_000), .none, .loseResponse])
            print("\nIn the next launch")
            try await goOnLater(file, memory: folder.appending(path: "unfinished.json"))
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    /// Uploads the film to a server with faults. The call itself goes on after each of them.
    private static func goOn(_ resuming: UploadResuming, _ file: URL, faults: [UploadServer.Fault]) async throws {
        let uploads = UploadServer(faults: faults)
        let api = client(of: uploads)
        let body = try HTTPBody(file: file)
        try await api.upload(.stream(body, type: "video/mp4"), to: "/films", resuming: resuming)
        try check(uploads)
    }

    /// Uploads as a program does that is ended in the middle, and begins again later. The unfinished upload is in a file meanwhile.
    private static func goOnLater(_ file: URL, memory: URL) async throws {
        let uploads = UploadServer(faults: [.cut(after: 600_000)])

        /// One launch of the program. It gives up at the first failure.
        func launch() async throws {
            let api = client(of: uploads)
            let body = try HTTPBody(file: file)
            let saved = try? JSONDecoder().decode(UnfinishedUpload.self, from: Data(contentsOf: memory))
            let resuming = UploadResuming.draft.trying(for: .zero).acrossLaunches(from: saved) { upload in
                // A real app stores the value like a password, because its URL may be all that a stranger needs.
                try? JSONEncoder().encode(upload).write(to: memory, options: .atomic)
            }
            try await api.upload(.stream(body, type: "video/mp4"), to: "/films", resuming: resuming)
            try? FileManager.default.removeItem(at: memory)
        }

        do {
            try await launch()
            throw Wrong(description: "The first launch didn't fail.")
        } catch let error as TransportError {
            printRequests(to: uploads)
            print("  the first launch ends: \(error.localizedDescription)")
        }
        let before = uploads.methods.count
        try await launch()
        try check(uploads, after: before)
    }

    /// Prints the requests after the first ones, and checks that the server has the film.
    private static func check(_ uploads: UploadServer, after count: Int = 0) throws {
        printRequests(to: uploads, after: count)
        guard uploads.completed == [film] else { throw Wrong(description: "The server doesn't have the film.") }
        print("  the server has the film")
    }

    private static func printRequests(to uploads: UploadServer, after count: Int = 0) {
        for (method, fields) in zip(uploads.methods, uploads.headers).dropFirst(count) {
            switch method {
            case .head: print("  HEAD: how many bytes are there?")
            case .patch: print("  PATCH: the rest from byte \(fields["Upload-Offset"] ?? "?")")
            default: print("  \(method): a film of \(fields["Upload-Length"] ?? "?") bytes")
            }
        }
    }

    private static func client(of uploads: UploadServer) -> Client {
        Client(baseURL: URL(string: "https://films.example"), interceptors: [.validateStatus()], transport: uploads)
    }

    /// Thrown if the example doesn't do what it says.
    struct Wrong: Error, CustomStringConvertible {
        let description: String
    }
}

// `UploadServer.swift` is a link to a file of the library's tests. There, this function uses a part of the library that isn't public.
extension HTTPContext {
    func noteTaken(_ count: Int64) {}
}
