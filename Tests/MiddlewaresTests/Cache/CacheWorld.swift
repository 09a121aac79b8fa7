import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization

@testable import InterceptorsMiddlewares

/// A cache in front of a stub. Time moves only when a test advances it.
final class CacheWorld: Sendable {
    let clock = ManualClock()
    let store: any CacheStore
    let stub: StubTransport
    let cache: CacheInterceptor
    private let wallOffset: Box

    final class Box: Sendable {
        let value = Mutex<Double>(0)
        let reports = Mutex<[String]>([])
    }

    init(store: any CacheStore = MemoryCacheStore()) {
        let box = Box()
        let clock = clock
        self.store = store
        stub = StubTransport(time: .manual(clock))
        wallOffset = box
        cache = CacheInterceptor(
            store: store,
            time: TimeSource(
                clock: clock,
                now: {
                    let elapsed = Double(clock.now.elapsed.components.seconds)
                    return Date(timeIntervalSince1970: Double(start) + elapsed + box.value.withLock { $0 })
                }
            ),
            report: { error in box.reports.withLock { $0.append("\(error)") } }
        )
    }

    var reported: [String] { wallOffset.reports.withLock { $0 } }

    func moveWallClock(by seconds: Double) { wallOffset.value.withLock { $0 += seconds } }

    func advance(_ seconds: Int) { clock.advance(by: .seconds(seconds)) }

    var chain: InterceptorChain { InterceptorChain([cache], transport: stub) }

    /// A request for `/x`, unless `path` says otherwise. Each line is a field, `Name: value`.
    func request(
        _ lines: [String] = [],
        _ method: HTTPRequest.Method = .get,
        path: String = "x",
        mode: CacheMode = .standard,
        partition: String? = nil,
        streamed: Bool = false
    ) throws -> HTTPRequest {
        var request = HTTPRequest(
            method: method,
            url: try url("https://a.example/\(path)"),
            headers: fields(lines)
        )
        request.context.cacheMode = mode
        request.context.cachePartition = partition
        if streamed { request.context.responseBody = .streamed }
        return request
    }

    /// Sends a request and describes the response: `200 hit one age 1` (status, outcome, body, `Age`).
    func send(
        _ lines: [String] = [],
        _ method: HTTPRequest.Method = .get,
        path: String = "x",
        mode: CacheMode = .standard,
        partition: String? = nil
    ) async throws -> String {
        let request = try request(lines, method, path: path, mode: mode, partition: partition)
        let response = try await chain.send(request)
        let body = String(decoding: try await response.body.collect(upTo: 1 << 20), as: UTF8.self)
        let result = response.context.cacheOutcome?.result.description ?? "none"
        return "\(response.status.code) \(result) \(body)" + (response.headers[.age].map { " age \($0)" } ?? "")
    }

    func answer(_ status: HTTPResponse.Status, _ lines: [String], _ body: String = "", times: Int = 1) {
        for _ in 0..<times { stub.enqueue(.status(status, headers: fields(lines), body: HTTPBody(body))) }
    }

    func answer(_ lines: [String], _ body: String = "", times: Int = 1) { answer(200, lines, body, times: times) }

    func entries(_ path: String = "x", partition: String = "") async throws -> [CacheEntry] {
        guard let key = CacheKey(url: try url("https://a.example/\(path)"), partition: partition) else { return [] }
        return try await store.entries(for: key)
    }
}

/// A store whose methods all throw.
struct BrokenStore: CacheStore {
    let arrivals = CacheArrivals()
    func snapshot(of key: CacheKey) async throws -> (entries: [CacheEntry], generation: UInt64) { throw Broken() }
    func write(
        _ response: CachedResponse,
        for key: CacheKey,
        replacing entries: [CacheEntry.ID],
        length: Int64?
    ) async throws -> any CacheWriter { throw Broken() }
    func update(_ entry: CacheEntry.ID, of key: CacheKey, to response: CachedResponse) async throws { throw Broken() }
    func remove(_ entries: [CacheEntry.ID], of key: CacheKey) async throws { throw Broken() }
    func removeAll(of key: CacheKey) async throws { throw Broken() }
    func removeAll(where isRemoved: @Sendable (CacheEntrySummary) -> Bool) async throws { throw Broken() }
    func listing() async throws -> [CacheEntrySummary] { throw Broken() }
}

/// A store whose writers or bodies fail.
struct FragileStore: ForwardingStore {
    struct Damaged: Error {}
    enum Weakness { case write, append, commit, lateCommit, read }
    struct Writer: ForwardingWriter {
        let weakness: Weakness
        let inner: any CacheWriter
        func append(_ chunk: Data) async throws {
            if weakness == .append { throw Damaged() }
            try await inner.append(chunk)
        }
        func commit(if isWanted: @Sendable (UInt64) -> Bool) async throws -> Bool {
            if weakness == .commit { throw Damaged() }
            if weakness == .lateCommit {
                // As on a full disk: the cache wants the response, and then the store can't keep the body.
                _ = try await inner.commit { generation in
                    _ = isWanted(generation)
                    return false
                }
                throw Damaged()
            }
            return try await inner.commit(if: isWanted)
        }
    }

    let weakness: Weakness
    let inner: any CacheStore = MemoryCacheStore()

    func snapshot(of key: CacheKey) async throws -> (entries: [CacheEntry], generation: UInt64) {
        var found = try await inner.snapshot(of: key)
        guard weakness == .read else { return found }
        found.entries = found.entries.map { entry in
            CacheEntry(id: entry.id, response: entry.response, length: entry.length) { _ in throw Damaged() }
        }
        return found
    }
    func write(
        _ response: CachedResponse,
        for key: CacheKey,
        replacing entries: [CacheEntry.ID],
        length: Int64?
    ) async throws -> any CacheWriter {
        if weakness == .write { throw Damaged() }
        return await wrap(try await inner.write(response, for: key, replacing: entries, length: length))
    }
    func wrap(_ writer: any CacheWriter) async -> any CacheWriter { Writer(weakness: weakness, inner: writer) }
}

extension CacheWorld {
    /// The fields of a complete response with ten bytes of content.
    static let whole = ["Cache-Control: max-age=60", "ETag: \"a\"", "Content-Length: 10"]

    /// A world with a store in memory, and another with a store on disk.
    static func ofEachStore(in directory: TemporaryDirectory) -> [CacheWorld] {
        [CacheWorld(), CacheWorld(store: DiskCacheStore(at: directory.url))]
    }
}

extension BackgroundValidations {
    /// Waits until no validation is in progress.
    func end() async { while keys.withLock({ !$0.isEmpty }) { await Task.yield() } }
}
