import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization
import Testing

@testable import InterceptorsMiddlewares

/// An origin whose resources have a version as their content. A POST raises the version.
final class VersionedOrigin: Transport {
    private let versions = Mutex<[String: Int]>([:])

    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        let (path, isPost) = (request.url.path(), request.method == .post)
        let version = versions.withLock { versions in
            if isPost { versions[path, default: 1] += 1 }
            return versions[path, default: 1]
        }
        // Lets another request overtake this one.
        await Task.yield()
        let chunks = [Data("\(version)".utf8)]
        let body = request.context.responseBody.bufferLimit == nil ? HTTPBody(chunks: chunks) : HTTPBody(chunks[0])
        return HTTPResponse(
            status: 200,
            headers: [.cacheControl: "max-age=3600"],
            body: body,
            url: request.url
        )
    }
}

extension HTTPBody {
    fileprivate init(chunks: [Data]) {
        self = .oneShot(
            AsyncStream { stream in
                for chunk in chunks { stream.yield(chunk) }
                stream.finish()
            }
        )
    }
}

/// Forwards every call to `inner`, and pauses the first call that reaches a chosen step.
final class SteppedStore: ForwardingStore {
    enum Step: String, CaseIterable, Sendable {
        case beforeLookUp, afterLookUp, beforeWrite, afterWrite, afterAppend, afterCommit
        case beforeInvalidation, afterInvalidation

        /// The steps of a call that stores a response.
        static let ofStoring = allCases.filter { ![beforeInvalidation, afterInvalidation].contains($0) }
    }

    /// A step at which a call pauses.
    struct Stop: Sendable {
        fileprivate let arrivals = AsyncStream<Void>.makeStream()
        fileprivate let departures = AsyncStream<Void>.makeStream()

        /// Waits until a call pauses at this step.
        func reached() async { for await _ in arrivals.stream { break } }

        func goOn() { departures.continuation.yield() }

        fileprivate func pass() async {
            arrivals.continuation.yield()
            for await _ in departures.stream { break }
        }
    }

    let inner: any CacheStore
    private let stops = Mutex<[Step: Stop]>([:])

    init(_ inner: any CacheStore) { self.inner = inner }

    func stop(at step: Step) -> Stop {
        let stop = Stop()
        stops.withLock { $0[step] = stop }
        return stop
    }

    fileprivate func pass(_ step: Step) async { await stops.withLock { $0.removeValue(forKey: step) }?.pass() }

    func snapshot(of key: CacheKey) async throws -> (entries: [CacheEntry], generation: UInt64) {
        await pass(.beforeLookUp)
        let found = try await inner.snapshot(of: key)
        await pass(.afterLookUp)
        return found
    }
    func write(
        _ response: CachedResponse,
        for key: CacheKey,
        replacing entries: [CacheEntry.ID],
        length: Int64?
    ) async throws -> any CacheWriter {
        await pass(.beforeWrite)
        let writer = try await inner.write(response, for: key, replacing: entries, length: length)
        await pass(.afterWrite)
        return await wrap(writer)
    }
    func wrap(_ writer: any CacheWriter) async -> any CacheWriter { Writer(store: self, inner: writer) }
    func removeAll(of key: CacheKey) async throws {
        await pass(.beforeInvalidation)
        try await inner.removeAll(of: key)
        await pass(.afterInvalidation)
    }

    private struct Writer: ForwardingWriter {
        let store: SteppedStore
        let inner: any CacheWriter
        func append(_ chunk: Data) async throws {
            try await inner.append(chunk)
            await store.pass(.afterAppend)
        }
        func commit(if isWanted: @Sendable (UInt64) -> Bool) async throws -> Bool {
            let isStored = try await inner.commit(if: isWanted)
            await store.pass(.afterCommit)
            return isStored
        }
    }
}

/// An origin behind one store, or behind two caches that share their content.
struct CommitWorld: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case memory, wrappedMemory, dictionary, disk
        /// Two caches over one store.
        case sharedMemory
        /// Two stores over one directory.
        case sharedDisk
    }

    let directory = TemporaryDirectory()
    let origin = VersionedOrigin()
    let stores: [any CacheStore]
    let chains: [InterceptorChain]
    private let reports = Reports()

    private final class Reports: Sendable {
        let all = Mutex<[String]>([])
    }

    /// The errors that the caches reported.
    var reported: [String] { reports.all.withLock { $0 } }

    /// - Parameter isStepped: whether the first store can pause calls; see ``stepped``.
    init(_ kind: Kind, isStepped: Bool = false) {
        let reports = reports
        var stores: [any CacheStore] =
            switch kind {
            case .memory: [MemoryCacheStore()]
            case .wrappedMemory: [SteppedStore(MemoryCacheStore())]
            case .dictionary: [DictionaryStore()]
            case .disk: [DiskCacheStore(at: directory.url)]
            case .sharedMemory: Array(repeating: MemoryCacheStore(), count: 2)
            case .sharedDisk: (0..<2).map { [directory] _ in DiskCacheStore(at: directory.url) }
            }
        if isStepped { stores[0] = SteppedStore(stores[0]) }
        self.stores = stores
        chains = stores.map { [origin] store in
            let cache = CacheInterceptor(
                store: store,
                report: { error in reports.all.withLock { $0.append("\(error)") } }
            )
            return InterceptorChain([cache], transport: origin)
        }
    }

    var stepped: SteppedStore {
        get throws { try #require(stores[0] as? SteppedStore) }
    }

    struct Answer: Equatable {
        let version: Int
        let result: CacheOutcome.Result?
        var isHit: Bool { result == .hit }
    }

    /// - Parameter cache: the index of the cache that sends the request.
    func send(
        _ path: String,
        _ method: HTTPRequest.Method = .get,
        through cache: Int = 0,
        mode: CacheMode = .standard,
        streamed: Bool = false
    ) async throws -> Answer {
        var request = HTTPRequest(method: method, url: try url("https://a.example/\(path)"))
        request.context.cacheMode = mode
        if streamed { request.context.responseBody = .streamed }
        let response = try await chains[cache % chains.count].send(request)
        let text = String(decoding: try await response.body.collect(upTo: 100), as: UTF8.self)
        return Answer(version: try #require(Int(text)), result: response.context.cacheOutcome?.result)
    }
}
