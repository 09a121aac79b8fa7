import Foundation
import Harness
import Middlewares

// What a hit costs through a whole chain, and what many entries and a long body cost. An argument names one part of it.
let part = CommandLine.arguments.dropFirst().first
let folder = FileManager.default.temporaryDirectory.appending(path: "cache-benchmarks-\(UUID().uuidString)")

func isWanted(_ name: String) -> Bool { part == nil || part == name }

/// The memory of this process that is in use, in MB; 0 where the system doesn't say.
func residentMemory() -> Double {
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0
    return pages * Double(getpagesize()) / 1e6
}

func measured(_ name: String, _ work: () async throws -> Void) async rethrows {
    let start = ContinuousClock.now
    try await work()
    let milliseconds = start.duration(to: .now) / .milliseconds(1)
    print(name, String(format: "%.2f ms, %.1f MB resident", milliseconds, residentMemory()))
}

let small = Data(repeating: 7, count: 2_048)
let fields: HTTPFields = [
    .contentType: "application/json", .cacheControl: "max-age=3600", .eTag: "\"33a64df551425fcc55e4d42a148795d9\"",
    .date: "Fri, 20 Nov 2026 08:49:37 GMT", .vary: "Accept-Encoding", .server: "example/1.0",
    "X-Request-ID": "0af7651916cd43dd8448eb211c80319c",
]

struct Origin: Transport {
    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        HTTPResponse(status: 200, headerFields: fields, body: HTTPBody(small), url: request.url)
    }
}

@Sendable func get(_ chain: InterceptorChain, _ number: Int) async throws -> CacheOutcome.Result? {
    guard let url = URL(string: "https://api.example.com/v1/things/\(number)?page=1") else { return nil }
    var request = HTTPRequest(url: url, headerFields: [.accept: "application/json"])
    request.headerFields[.authorization] = "Bearer 0af7651916cd43dd8448eb211c80319c"
    return try await chain.send(request).context.cacheOutcome?.result
}

if isWanted("hits") {
    let memory = InterceptorChain([.cache(.memory())], transport: Origin())
    let disk = InterceptorChain([.cache(.disk(at: folder))], transport: Origin())
    let none = InterceptorChain([], transport: Origin())
    for number in 0..<100 {
        for chain in [memory, disk] { _ = try await get(chain, number) }
        for chain in [memory, disk] where try await get(chain, number) != .hit { fatalError("no hit") }
    }
    func contender(_ name: String, _ chain: InterceptorChain) -> Contender {
        Contender(name) { count in for index in 0..<count { _ = try await get(chain, index % 100) } }
    }
    try await compare(
        "A hit of 2 kB, with the making of the request",
        repetitions: 5_000,
        [contender("no cache", none), contender("memory", memory), contender("disk", disk)]
    )
    func parallel(_ name: String, _ chain: InterceptorChain) -> Contender {
        Contender(name) { count in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<8 {
                    group.addTask { for index in 0..<(count / 8) { _ = try await get(chain, (index + task) % 100) } }
                }
                try await group.waitForAll()
            }
        }
    }
    try await compare(
        "The same from 8 tasks",
        repetitions: 16_000,
        [parallel("memory", memory), parallel("disk", disk)]
    )
}

if isWanted("many") {
    let parent = folder.appending(path: "many")
    let count = 200_000
    let store = DiskCacheStore(at: parent, byteLimit: 4_000_000_000, entryLimit: count)
    let chain = InterceptorChain([.cache(store)], transport: Origin())
    try await measured("the first entry:") { _ = try await get(chain, 0) }
    try await measured("\(count) entries stored:") { for number in 1..<count { _ = try await get(chain, number) } }
    print("usage", try await store.usage())
    try await measured("a new store over them, and its first hit:") {
        let again = InterceptorChain(
            [.cache(.disk(at: parent, byteLimit: 4_000_000_000, entryLimit: count))],
            transport: Origin()
        )
        guard try await get(again, 123) == .hit else { fatalError("no hit") }
    }
    var slowest = Duration.zero
    try await measured("20,000 more, which make as many go:") {
        for number in count..<(count + 20_000) {
            let start = ContinuousClock.now
            _ = try await get(chain, number)
            slowest = max(slowest, start.duration(to: .now))
        }
    }
    print("the slowest of them", slowest, "usage", try await store.usage())
}

if isWanted("long") {
    /// 100 MB in chunks.
    struct Long: AsyncSequence, AsyncIteratorProtocol, Sendable {
        var rest = 1_600
        mutating func next() async throws -> Data? {
            guard rest > 0 else { return nil }
            rest -= 1
            return Data(repeating: UInt8(rest % 251), count: 65_536)
        }
        func makeAsyncIterator() -> Self { self }
    }
    struct LongOrigin: Transport {
        func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
            HTTPResponse(status: 200, headerFields: fields, body: .oneShot(Long()), url: request.url)
        }
    }
    let chain = InterceptorChain([.cache(.disk(at: folder.appending(path: "long")))], transport: LongOrigin())
    guard let url = URL(string: "https://api.example.com/long") else { exit(1) }
    var request = HTTPRequest(url: url)
    request.context.responseBody = .streamed
    for name in ["100 MB stored while they are read:", "100 MB served:", "and again:"] {
        try await measured(name) {
            var count = 0
            for try await chunk in try await chain.send(request).body { count += chunk.count }
            print(count, "bytes")
        }
    }
}
try? FileManager.default.removeItem(at: folder)
