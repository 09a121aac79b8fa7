import Foundation
import InterceptorsTesting
import Synchronization

/// A server on loopback with one film, in two versions. Its connections break while a part of the film is sent.
final class FilmServer: Sendable {
    private struct State {
        var version = 1
        var cuts = 0
        var isDownAfterCuts = false
        var ranges: [String] = []
    }

    /// The published SHA-256 of the second version.
    static let digest = "266e41e0b44303d8fa03f3708e1558139a94e79230325597a58f505c10a64df2"
    static let length = 3_000_000

    let server: MockServer
    private let state: Shared

    private final class Shared: Sendable {
        let value = Mutex(State())
    }

    init() throws {
        let (server, state) = (try MockServer(), Shared())
        self.server = server
        self.state = state
        server.on(.get, "/film.mp4") { request in
            let before = state.value.withLock { state in
                state.ranges.append(request.headers[.range] ?? "the whole")
                defer { state.cuts = max(0, state.cuts - 1) }
                return state
            }
            if before.cuts == 0, before.isDownAfterCuts { return .status(500) }
            return Self.response(to: request, before.version, isCut: before.cuts > 0)
        }
    }

    /// Publishes a version.
    ///
    /// - Parameters:
    ///   - version: the version, which is 1 or 2.
    ///   - cuts: the number of requests whose connections break after a million bytes.
    ///   - isDownAfterCuts: whether all later requests get a 500.
    func publish(version: Int, cuts: Int = 0, isDownAfterCuts: Bool = false) {
        state.value.withLock { $0 = State(version: version, cuts: cuts, isDownAfterCuts: isDownAfterCuts) }
    }

    /// The ranges that were asked for since the publication.
    var ranges: [String] { state.value.withLock(\.ranges) }

    static func film(_ version: Int) -> Data {
        Data((0..<length).map { UInt8(truncatingIfNeeded: $0 / 1000 * 7 + version) })
    }

    /// Answers a range only if `If-Range` names the present version.
    private static func response(to request: MockServer.Request, _ version: Int, isCut: Bool) -> StubAnswer {
        let tag = "\"v\(version)\""
        var lines = ["ETag: \(tag)", "Accept-Ranges: bytes"]
        var (start, status) = (0, "200 OK")
        if request.headers[.ifRange] == tag, let first = firstByte(request.headers[.range]) {
            (start, status) = (first, "206 Partial Content")
            lines.append("Content-Range: bytes \(first)-\(length - 1)/\(length)")
        }
        lines.append("Content-Length: \(length - start)")
        let head = (["HTTP/1.1 \(status)"] + lines + ["", ""]).joined(separator: "\r\n")
        let content = film(version).dropFirst(start)
        guard isCut else { return StubAnswer(steps: [.send(head), .send(Data(content))]) }
        return StubAnswer(steps: [.send(head), .send(Data(content.prefix(1_000_000))), .close])
    }

    /// The number in a range such as `bytes=1000000-`.
    private static func firstByte(_ range: String?) -> Int? {
        range?.split(whereSeparator: { "=-".contains($0) }).dropFirst().first.flatMap { Int($0) }
    }
}
