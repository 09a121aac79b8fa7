import Foundation
import Interceptors
import InterceptorsTesting
import InterceptorsTransfers
import Synchronization

/// `Downloads` downloads a film from a server on loopback whose connections break, and prints the ranges that it asks for.
@main
struct Downloads {
    static func main() async {
        let folder = FileManager.default.temporaryDirectory.appending(path: "Downloads-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let films = try FilmServer()
            defer { films.server.stop() }
            try await withinACall(films, folder.appending(path: "first.mp4"))
            try await acrossLaunches(films, folder.appending(path: "second.mp4"))
            try await aChangedFilm(films, folder.appending(path: "third.mp4"))
            try await aWrongFilm(films, folder.appending(path: "fourth.mp4"))
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    private static func withinACall(_ films: FilmServer, _ file: URL) async throws {
        print("The connection breaks twice")
        films.publish(version: 1, cuts: 2)
        let progress = Mutex(TransferProgress(completed: 0, total: nil))
        try await makeClient(films).download("/film.mp4", to: file, resuming: .withinCall) { report in
            progress.withLock { $0 = report }
        }
        try check(file, version: 1, films, ["the whole", "bytes=1000000-", "bytes=2000000-"])
        print("  the last report: \(progress.withLock(\.completed)) bytes")
    }

    private static func acrossLaunches(_ films: FilmServer, _ file: URL) async throws {
        print("\nThe server fails in the middle, and the app's next launch goes on")
        try await breakOff(films, file)
        films.publish(version: 1)
        try await makeClient(films).download("/film.mp4", to: file, resuming: .acrossLaunches)
        try check(file, version: 1, films, ["bytes=1000000-"])
    }

    private static func aChangedFilm(_ films: FilmServer, _ file: URL) async throws {
        print("\nAnother version is published before the next launch, which gets all of it")
        try await breakOff(films, file)
        films.publish(version: 2)
        try await makeClient(films)
            .download("/film.mp4", to: file, resuming: .acrossLaunches, sha256: FilmServer.digest)
        try check(file, version: 2, films, ["bytes=1000000-"])
    }

    /// A launch whose download fails after a million bytes.
    private static func breakOff(_ films: FilmServer, _ file: URL) async throws {
        films.publish(version: 1, cuts: 1, isDownAfterCuts: true)
        do {
            try await makeClient(films).download("/film.mp4", to: file, resuming: .acrossLaunches)
            throw Wrong()
        } catch let error as any HTTPError {
            print("  the first launch asked for: \(films.ranges.joined(separator: ", "))")
            print("  it failed: \(error.code.rawValue)")
        }
    }

    private static func aWrongFilm(_ films: FilmServer, _ file: URL) async throws {
        print("\nThe film isn't the one that was promised")
        films.publish(version: 1)
        do {
            try await makeClient(films).download("/film.mp4", to: file, sha256: FilmServer.digest)
        } catch let error as any HTTPError {
            print("  \(error)")
        }
        let isThere = FileManager.default.fileExists(atPath: file.path)
        print("  a file appeared: \(isThere)")
        if isThere { throw Wrong() }
    }

    private static func makeClient(_ films: FilmServer) -> Client {
        Client(baseURL: films.server.url, interceptors: [.validateStatus()])
    }

    private static func check(_ file: URL, version: Int, _ films: FilmServer, _ ranges: [String]) throws {
        let isRight = try Data(contentsOf: file) == FilmServer.film(version)
        print("  the call asked for: \(films.ranges.joined(separator: ", "))\n  the file is right: \(isRight)")
        if !isRight || films.ranges != ranges { throw Wrong() }
    }

    /// Thrown if the example doesn't do what it says.
    struct Wrong: Error {}
}
