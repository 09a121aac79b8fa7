import AsyncHTTPClient
import CFloor
import Foundation
import Harness
import Interceptors
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends one request, and throws if the response isn't as expected.
typealias Exchange = @Sendable () async throws -> Void

/// The response wasn't as expected.
struct WrongAnswer: Error {}

/// Sends `requests` requests, `inFlight` at a time.
@Sendable func run(_ requests: Int, inFlight: Int, _ exchange: @escaping Exchange) async throws {
    guard inFlight > 1 else {
        for _ in 0..<requests { try await exchange() }
        return
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
        for lane in 0..<inFlight {
            let count = requests / inFlight + (lane < requests % inFlight ? 1 : 0)
            group.addTask { for _ in 0..<count { try await exchange() } }
        }
        try await group.waitForAll()
    }
}

extension Contender {
    /// A Swift client, driven by tasks.
    static func client(_ name: String, share: Double = 1, inFlight: Int, _ exchange: @escaping Exchange) -> Contender {
        Contender(name, share: share) { try await run($0, inFlight: inFlight, exchange) }
    }

    /// libcurl, driven from C.
    static func floor(_ name: String, _ settings: FloorSettings, multi: Bool) -> Contender {
        let floor = Floor(settings)
        return Contender(name) { requests in
            guard floor.run(requests, multi: multi) == 0 else { throw WrongAnswer() }
        }
    }

    /// libcurl, driven from C on a thread other than the caller's.
    static func handedOver(_ name: String, _ settings: FloorSettings) -> Contender {
        let floor = Floor(settings)
        return Contender(name) { requests in
            guard floor.runHandedOver(requests) == 0 else { throw WrongAnswer() }
        }
    }

    /// libcurl, driven from C on a separate thread that resumes a task: the floor for a caller that awaits.
    static func awaited(_ name: String, _ settings: FloorSettings) -> Contender {
        let floor = Floor(settings)
        return Contender(name) { requests in
            guard await floor.runAwaited(requests) == 0 else { throw WrongAnswer() }
        }
    }

    /// wrk, run for one second.
    static func wrk(_ url: URL, inFlight: Int, _ command: String) -> Contender {
        let line = "\(command) -t1 -c\(inFlight) -d1s \(url.absoluteString)"
        return .external("wrk (the server's ceiling)") { _ in
            var (rate, cpu) = (0.0, 0.0)
            guard cfloor_wrk(line, &rate, &cpu), rate > 0 else { throw WrongAnswer() }
            return Cost(wall: 1e9 / rate, cpu: cpu)
        }
    }
}

func send(_ transport: any Transport, _ url: URL, bytes: Int) -> Exchange {
    {
        var request = HTTPRequest(url: url)
        request.context.responseBody = .buffered(upTo: 2 << 30)
        let response = try await transport.send(request)
        guard response.status == 200, response.body.length == Int64(bytes) else { throw WrongAnswer() }
    }
}

func send(_ session: URLSession, _ url: URL, bytes: Int) -> Exchange {
    {
        let (data, response) = try await session.data(for: URLRequest(url: url))
        guard (response as? HTTPURLResponse)?.statusCode == 200, data.count == bytes else { throw WrongAnswer() }
    }
}

func send(_ client: HTTPClient, _ url: URL, bytes: Int) -> Exchange {
    let url = url.absoluteString
    return {
        let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(60))
        let body = try await response.body.collect(upTo: 2 << 30)
        guard response.status == .ok, body.readableBytes == bytes else { throw WrongAnswer() }
    }
}

extension URLSession {
    /// A session without cache and cookies, which does only the work that each request needs.
    static func bare() -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        return URLSession(configuration: configuration)
    }
}

extension HTTPClient {
    /// A client with default settings.
    static func standard(_ server: Server) -> HTTPClient {
        HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration(server))
    }

    /// A client with as many connections as requests in flight, and one event loop, because the process has one core.
    static func tuned(_ server: Server, inFlight: Int) -> HTTPClient {
        var configuration = configuration(server)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = inFlight
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        return HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration)
    }

    private static func configuration(_ server: Server) -> Configuration {
        var tls = NIOSSL.TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(server.roots)
        return Configuration(tlsConfiguration: tls)
    }
}

struct FloorSettings {
    var url: URL
    var inFlight: Int
    var roots: String?
    var body = CFLOOR_DISCARD
    var file: String?
    var isHTTP2 = false
    var decodes = false
    var bufferSize = 0
}

/// `@unchecked Sendable`: the contenders run one after the other, and each has a separate floor.
final class Floor: @unchecked Sendable {
    static let multi = "libcurl in C, multi, one thread (floor)"
    static func blocking(_ threads: Int) -> String {
        threads == 1 ? "libcurl in C, blocking (floor)" : "libcurl in C, blocking, \(threads) threads (floor)"
    }

    private let floor: cfloor_t

    init(_ settings: FloorSettings) {
        func withOptionalCString<R>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> R) -> R {
            guard let text else { return body(nil) }
            return text.withCString(body)
        }
        floor = settings.url.absoluteString.withCString { url in
            withOptionalCString(settings.roots) { roots in
                withOptionalCString(settings.file) { file in
                    var values = cfloor_settings()
                    values.url = url
                    values.roots = roots
                    values.file = file
                    values.in_flight = Int32(settings.inFlight)
                    values.body = settings.body
                    values.http2 = settings.isHTTP2
                    values.decodes = settings.decodes
                    values.buffer_size = settings.bufferSize
                    return cfloor_open(&values)
                }
            }
        }
    }

    func run(_ requests: Int, multi: Bool) -> Int32 {
        multi ? cfloor_run_multi(floor, Int32(requests)) : cfloor_run_threads(floor, Int32(requests))
    }

    func runHandedOver(_ requests: Int) -> Int32 { cfloor_run_handed_over(floor, Int32(requests)) }

    func runAwaited(_ requests: Int) async -> Int {
        let thread = cfloor_hand_over(floor)
        let asker = UnsafeMutablePointer<UnsafeContinuation<Bool, Never>>.allocate(capacity: 1)
        defer {
            cfloor_take_back(thread)
            asker.deallocate()
        }
        var failures = 0
        for _ in 0..<requests {
            let failed = await withUnsafeContinuation { continuation in
                asker.initialize(to: continuation)
                let done: cfloor_done = { asker, failed in
                    asker?.assumingMemoryBound(to: UnsafeContinuation<Bool, Never>.self).pointee.resume(
                        returning: failed
                    )
                }
                cfloor_ask(thread, done, asker)
            }
            if failed { failures += 1 }
        }
        return failures
    }

    deinit { cfloor_close(floor) }
}
