import Foundation
import Interceptors
import InterceptorsSyntax
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization
import Testing

@testable import InterceptorsMiddlewares

/// Random requests for parts of a resource that changes, from a server that lies and breaks off: each response is of one version.
@Suite(.againstHanging) struct CachePartModelTests {
    private let directory = TemporaryDirectory()

    @Test(arguments: 0..<150) func eachResponseInMemoryIsOfOneVersion(seed: UInt64) async throws {
        var play = Play(seed: seed, MemoryCacheStore())
        try await play.run()
    }

    @Test(arguments: 150..<180) func eachResponseOnDiskIsOfOneVersion(seed: UInt64) async throws {
        var play = Play(seed: seed, DiskCacheStore(at: directory.url))
        try await play.run()
    }

    @Test func thePlaysReachEveryKindOfAnswer() async throws {
        let seen = Seen()
        for seed in 0..<40 {
            var play = Play(seed: UInt64(seed), MemoryCacheStore(), seen)
            try await play.run()
        }
        #expect(seen.missing == [])
    }

    /// The kinds of answers that all plays together must have had, so that the plays prove something.
    private final class Seen: Sendable {
        private let all = Mutex<Set<String>>([])
        func add(_ kind: String) { all.withLock { _ = $0.insert(kind) } }
        var missing: [String] {
            let wanted = [
                "200 hit", "206 hit", "200 completed", "206 revalidated", "416 hit", "304 hit", "hit from parts",
                "stored part",
                "broke off", "was corrupt",
            ]
            return wanted.filter { kind in all.withLock { !$0.contains(kind) } }
        }
    }

    private struct Corrupt: Error {}

    private struct Play {
        private let server: Server
        private let caller: Caller
        private var generator: SeededGenerator

        init(seed: UInt64, _ store: any CacheStore, _ seen: Seen = Seen()) {
            let server = Server(seed: seed)
            let world = CacheWorld(store: store)
            let chain = InterceptorChain([world.cache], transport: StubTransport { try server.answer($0) })
            self.server = server
            caller = Caller(world: world, chain: chain, server: server, seen: seen)
            generator = SeededGenerator(seed: seed &* 7 &+ 1)
        }

        mutating func run() async throws {
            for _ in 0..<60 {
                switch Int.random(in: 0..<20, using: &generator) {
                case 0: caller.world.advance(generator.oneOf([1, 30, 100]))
                case 1: server.change()
                case 2: try await caller.post()
                case 3: try await caller.head()
                case 4...6:
                    // Two at once: each may store what the other didn't find.
                    let (caller, first, second) = (caller, try draw(), try draw())
                    async let other: Void = caller.get(first)
                    try await caller.get(second)
                    try await other
                default: try await caller.get(try draw())
                }
            }
        }

        private mutating func draw() throws -> Call {
            var lines: [String] = []
            let (first, last) = (Int.random(in: 0..<30, using: &generator), Int.random(in: 0..<30, using: &generator))
            let range = generator.oneOf([nil, nil, "\(min(first, last))-\(max(first, last))", "\(first)-", "-\(first)"])
            if let range { lines.append("Range: bytes=\(range)") }
            if range != nil, first % 4 == 0 { lines.append("If-Range: \(server.tag(back: last % 2))") }
            if first % 9 == 1 { lines.append("If-None-Match: \(server.tag(back: last % 2))") }
            if last % 3 == 0 { lines.append("Language: sv") }
            let modes: [CacheMode] = [
                .standard, .standard, .standard, .standard, .revalidate, .reload, .offline, .doNotStore,
            ]
            let isStreamed = Bool.random(using: &generator)
            let request = try caller.world.request(lines, mode: generator.oneOf(modes), streamed: isStreamed)
            return Call(request: request, isDropped: isStreamed && last % 7 == 0)
        }
    }

    private struct Call: Sendable {
        let request: HTTPRequest
        /// Whether the caller reads nothing of the stream.
        let isDropped: Bool
    }

    private struct Caller: Sendable {
        let world: CacheWorld
        let chain: InterceptorChain
        let server: Server
        let seen: Seen

        func post() async throws {
            server.change()
            _ = try await chain.send(try world.request([], .post))
            server.forgetOldVersions()
        }

        func head() async throws {
            do {
                _ = try await chain.send(try world.request([], .head))
            } catch is TransportError {}
        }

        func get(_ call: Call) async throws {
            do {
                let response = try await chain.send(call.request)
                if call.isDropped { return response.body.discard() }
                let body = try await response.body.collect(upTo: 1_000)
                try await check(response, body, to: call.request)
            } catch is TransportError {
                seen.add("broke off")
            } catch is Corrupt {
                seen.add("was corrupt")
            }
        }

        private func check(_ response: HTTPResponse, _ body: Data, to request: HTTPRequest) async throws {
            guard let outcome = response.context.cacheOutcome else { return }
            let isCompleted =
                response.status == 200 && outcome.forwardReason == .partial && outcome.forwardStatus == 206
            seen.add(isCompleted ? "200 completed" : "\(response.status.code) \(outcome.result)")
            if response.status == 206, outcome.storing == .stored { seen.add("stored part") }
            guard response.status == 200 || response.status == 206 else { return }
            let place: Comment = "\(request.headerFields) got \(response.headerFields)"
            // A lie to the caller's own request reaches the caller as it is.
            let isFromServer = outcome.result == .miss && !isCompleted
            if isFromServer, response.headerFields.contains(.contentEncoding) { return }
            if isFromServer, !response.headerFields.contains(.eTag) { return }
            let tag = try #require(response.headerFields[.eTag], place)
            let whole = try #require(server.content(tag, request), "a version that nobody may get any more: \(place)")
            guard response.status == 206 else {
                #expect(body == whole, place)
                #expect(!response.headerFields.contains(.contentRange), place)
                if outcome.result == .hit, try await isInParts() { seen.add("hit from parts") }
                return
            }
            let content = PartialContent(of: response.headerFields)
            if isFromServer, content.map({ $0.range.count != body.count }) ?? true { return }
            let range = try #require(content?.range, place)
            #expect(body == whole[Int(range.lowerBound)..<Int(range.upperBound)], place)
            #expect(content?.total ?? Int64(whole.count) == Int64(whole.count), place)
        }

        private func isInParts() async throws -> Bool {
            try await world.entries().contains { $0.response.status == 206 }
        }
    }

    /// A resource with versions, which no two versions and languages share a byte of.
    private final class Server: Sendable {
        private struct State {
            var version = 1
            var oldest = 1
            var generator: SeededGenerator
        }
        private let state: Mutex<State>

        init(seed: UInt64) { state = Mutex(State(generator: SeededGenerator(seed: seed))) }

        func change() { state.withLock { $0.version += 1 } }
        func forgetOldVersions() { state.withLock { $0.oldest = $0.version } }
        func tag(back: Int) -> String { "\"\(state.withLock { $0.version - back })\"" }

        /// The content of the version that a tag names; `nil` after a change that the cache has seen.
        func content(_ tag: String, _ request: HTTPRequest) -> Data? {
            let text = tag.drop { !$0.isNumber }.prefix { $0.isNumber }
            return Int(text).flatMap { version in
                state.withLock { $0.oldest <= version } ? Self.content(version, request) : nil
            }
        }

        private static func content(_ version: Int, _ request: HTTPRequest) -> Data {
            let start = version * 101 + (request.headerFields.contains("Language") ? 53 : 0)
            return Data((0..<(20 + version % 7)).map { UInt8(truncatingIfNeeded: start + $0 * 8) })
        }

        func answer(_ request: HTTPRequest) throws -> HTTPResponse {
            try state.withLock { try Self.answer(request, &$0) }
        }

        private static func answer(_ request: HTTPRequest, _ state: inout State) throws -> HTTPResponse {
            guard request.method != .post else { return HTTPResponse(status: 204) }
            let fault = Int.random(in: 0..<24, using: &state.generator)
            if fault == 0 { throw TransportError(.connectionLost, "Gone.") }
            if fault == 1 { return HTTPResponse(status: 503) }
            // Every fourth version has a weak tag.
            let tag = (state.version % 4 == 0 ? "W/" : "") + "\"\(state.version)\""
            var fields: HTTPFields = [.eTag: tag, .cacheControl: "max-age=60", .vary: "Language"]
            let whole = content(state.version, request)
            if fault != 2, request.headerFields[.ifNoneMatch]?.contains("\"\(state.version)\"") == true {
                if fault == 11 { fields[.eTag] = "W/\"\(state.version)\"" }
                return HTTPResponse(status: 304, headerFields: fields)
            }
            if request.method == .head { return HTTPResponse(status: 200, headerFields: fields) }
            let condition = request.headerFields[.ifRange]
            guard case .single(let range) = ByteRange.requested(in: request.headerFields), fault != 3,
                fault == 4 || condition == nil || condition == tag && !tag.hasPrefix("W/")
            else {
                fields[.contentLength] = "\(whole.count)"
                return response(200, fields, whole, request, &state)
            }
            guard var bytes = range.bytes(of: Int64(whole.count)) else {
                return HTTPResponse(status: 416, headerFields: [.contentRange: "bytes */\(whole.count)"])
            }
            if fault == 5, bytes.count > 1 { bytes = (bytes.lowerBound + 1)..<bytes.upperBound }
            if fault == 6, bytes.count > 1 { bytes = bytes.lowerBound..<(bytes.upperBound - 1) }
            if fault == 7 { fields[.contentEncoding] = "gzip" }
            // To the cache's own request only: without a tag, nobody could tell which version the caller got.
            if fault == 8, condition != nil { fields.remove(.eTag) }
            let total = fault == 9 ? nil : Int64(whole.count)
            fields[.contentRange] = ContentRange(bytes: bytes, total: total).description
            var part = whole[Int(bytes.lowerBound)..<Int(bytes.upperBound)]
            if fault == 10 { part = part.dropLast() }
            return response(206, fields, Data(part), request, &state)
        }

        /// A response whose stream may break off, or doesn't say its length.
        private static func response(
            _ status: HTTPResponse.Status,
            _ fields: HTTPFields,
            _ body: Data,
            _ request: HTTPRequest,
            _ state: inout State
        ) -> HTTPResponse {
            guard request.context.responseBody == .streamed else {
                return HTTPResponse(status: status, headerFields: fields, body: HTTPBody(body))
            }
            let isWhole = Bool.random(using: &state.generator)
            let count = isWhole ? body.count : Int.random(in: 0...body.count, using: &state.generator)
            let isCorrupt = !isWhole && Int.random(in: 0..<5, using: &state.generator) == 0
            let (chunks, feed) = AsyncThrowingStream.makeStream(of: Data.self)
            for byte in body.prefix(count) { feed.yield(Data([isCorrupt ? ~byte : byte])) }
            let error: any Error = isCorrupt ? Corrupt() : TransportError(.connectionLost, "It broke off.")
            feed.finish(throwing: isWhole ? nil : error)
            let length = Bool.random(using: &state.generator) ? Int64(body.count) : nil
            return HTTPResponse(status: status, headerFields: fields, body: .oneShot(chunks, length: length))
        }
    }
}
