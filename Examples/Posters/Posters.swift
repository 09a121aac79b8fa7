import Foundation
import Interceptors
import InterceptorsImages
import InterceptorsTesting
import InterceptorsTraffic

/// `Posters` loads pictures from a server on loopback for several cells, and prints where each picture came from.
@main
struct Posters {
    static func main() async {
        do {
            let server = try makeServer()
            defer { server.stop() }
            try await tour(server)
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    private static func tour(_ server: MockServer) async throws {
        let client = Client(
            baseURL: server.url,
            interceptors: [.validateStatus(), .cache(.memory()), .limitConcurrency(6)]
        )
        let images = ImageLoader(client) { content in
            try Picture(decoding: content)
        } cost: {
            $0.cost
        }

        print("Three cells want one poster")
        async let first = images.image(at: "/posters/3.txt")
        async let second = images.image(at: "/posters/3.txt")
        async let third = images.image(at: "/posters/3.txt")
        let sources = try await [first.source, second.source, third.source]
        print("  sources: \(sources), requests to the server: \(server.requests.count)")
        try expect(server.requests.count == 1)

        print("\nThe same poster again, and as a thumbnail")
        let again = try await images.image(at: "/posters/3.txt")
        print("  full size, from the \(again.source):\n\(again.image)")
        let small = try await images.image(at: "/posters/3.txt", as: Thumbnail())
        print("  thumbnail, from the \(small.source):\n\(small.image)")
        try expect(again.source == .memory && small.source == .cache && server.requests.count == 1)

        print("\nA list scrolls, and one cell shows poster after poster")
        let cell = await Cell(images)
        for number in 1...20 { await cell.show(number) }
        print("  the cell shows poster \(try await cell.shown())")

        print("\nThe memory holds \(images.memoryCost) bytes of pictures")
        images.removeAll()
        let last = try await images.image(at: "/posters/3.txt")
        print("  after the removal of all, the poster came from the \(last.source)")
        try expect(last.source == .cache && images.memoryCount == 1)
    }

    /// A cell that is used again before its earlier poster has arrived.
    @MainActor
    private final class Cell {
        private let slot = ImageSlot<Picture>()
        private let images: ImageLoader<Picture>
        private var load: Task<Picture, any Error>?
        private var number = 0

        init(_ images: ImageLoader<Picture>) { self.images = images }

        func show(_ number: Int) {
            self.number = number
            load = Task { try await slot.image(at: "/posters/\(number).txt", from: images).image }
        }

        /// The number of the poster in the cell.
        func shown() async throws -> Int {
            let picture = try await load?.value
            try expect(picture == Picture(poster: number))
            return number
        }
    }

    private static func makeServer() throws -> MockServer {
        let server = try MockServer()
        for number in 1...20 {
            let content = Picture(poster: number).lines.joined(separator: "\n")
            server.on(.get, "/posters/\(number).txt", .text(content, headers: [.cacheControl: "max-age=60"]))
        }
        return server
    }

    private static func expect(_ isRight: Bool, line: Int = #line) throws {
        if !isRight { throw Wrong(line: line) }
    }

    /// Thrown if the example doesn't do what it says.
    struct Wrong: Error {
        let line: Int
    }
}
