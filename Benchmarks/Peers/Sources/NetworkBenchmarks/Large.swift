import AsyncHTTPClient
import CFloor
import Foundation
import Harness
import Interceptors
import NIOCore
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
import InterceptorsURLSession
#endif

/// Compares ways to receive a large body: buffered in memory, streamed, and written to a file.
func compareLarge(_ server: Server, _ name: String, megabytes: Int, rounds: Int, repetitions: Int) async throws {
    let url = server.plain.appending(path: name)
    let bytes = megabytes << 20
    let client = HTTPClient.tuned(server, inFlight: 1)
    let transport = CurlTransport()
    let session = URLSessionTransport(timeouts: Timeouts(idle: .seconds(60)))
    let streaming = StreamingSession()
    let file = "\(server.directory)/received"
    let tuned = "libcurl in C, buffer of 512 KB (floor)"
    func floor(_ body: cfloor_body) -> [Contender] {
        var settings = FloorSettings(url: url, inFlight: 1, body: body, file: "\(server.directory)/floor")
        let plain = Contender.floor(Floor.blocking(1), settings, multi: false)
        settings.bufferSize = 512 * 1024
        return [plain, .floor(tuned, settings, multi: false)]
    }
    /// The floor for a reader that neither blocks the receiving thread nor is blocked by it.
    func handedOver() -> Contender {
        let settings = FloorSettings(url: url, inFlight: 1, body: CFLOOR_READER, bufferSize: 124 * 1024)
        return .floor("libcurl in C, copied to another thread", settings, multi: false)
    }
    func compare(_ how: String, _ contenders: [Contender]) async throws {
        let costs = try await Harness.compare(
            "\(megabytes) MB, \(how), per request",
            rounds: rounds,
            repetitions: repetitions,
            warmsUp: megabytes < 1_000,
            showsMemory: true,
            contenders
        )
        // The ratio to the faster floor, which isn't always the tuned one.
        func ratio(_ cost: (Cost) -> Double?) -> Double? {
            [Floor.blocking(1), tuned].compactMap { costs.ratio("CurlTransport", to: $0, of: cost) }.max()
        }
        let title = "\(megabytes) MB, \(how)"
        goal("\(title): time of CurlTransport", ratio { $0.wall }, atMost: 1.1, "times libcurl's")
        goal("\(title): CPU of CurlTransport", ratio(\.cpu), atMost: 1.1, "times libcurl's")
        guard how != "buffered", megabytes > 1_000 else { return }
        goal("\(megabytes) MB, \(how): memory", costs["CurlTransport"]?.memory.map { $0 / 1_048_576 }, atMost: 8, "MB")
    }

    // Buffered runs last: memory that was used once and is used again doesn't show as growth.
    try await compare(
        "streamed",
        [
            .client("CurlTransport", inFlight: 1, stream(transport, url, bytes: bytes)),
            .client("URLSessionTransport", inFlight: 1, stream(session, url, bytes: bytes)),
            .client("URLSession, a delegate", inFlight: 1) {
                guard try await streaming.count(url) == bytes else { throw WrongAnswer() }
            },
            .client("async-http-client", inFlight: 1, stream(client, url, bytes: bytes)),
        ] + floor(CFLOOR_DISCARD) + [handedOver()]
    )
    try await compare(
        "to a file",
        [
            .client("CurlTransport", inFlight: 1, stream(transport, url, bytes: bytes, file: file)),
            .client("URLSession, download task", inFlight: 1, download(URLSession.bare(), url, bytes: bytes)),
            .client("async-http-client", inFlight: 1, stream(client, url, bytes: bytes, file: file)),
        ] + floor(CFLOOR_FILE)
    )
    try await compare(
        "buffered",
        [
            .client("CurlTransport", inFlight: 1, send(transport, url, bytes: bytes)),
            .client("URLSessionTransport", inFlight: 1, send(session, url, bytes: bytes)),
            .client("URLSession", inFlight: 1, send(URLSession.bare(), url, bytes: bytes)),
            .client("async-http-client", inFlight: 1, send(client, url, bytes: bytes)),
        ] + floor(CFLOOR_BUFFER)
    )
    try await client.shutdown()
}

/// Content in gzip, which the transport decodes, against libcurl's own decoding.
func compareCoded(_ server: Server, _ name: String, megabytes: Int, rounds: Int, repetitions: Int) async throws {
    let url = server.plain.appending(path: name)
    let bytes = megabytes << 20
    let transport = CurlTransport()
    let ways: [(String, Exchange, cfloor_body)] = [
        ("buffered", send(transport, url, bytes: bytes), CFLOOR_BUFFER),
        ("streamed", stream(transport, url, bytes: bytes), CFLOOR_DISCARD),
    ]
    for (how, exchange, body) in ways {
        let settings = FloorSettings(url: url, inFlight: 1, body: body, decodes: true)
        let title = "\(megabytes) MB in gzip, \(how)"
        let costs = try await compare(
            "\(title): for each request",
            rounds: rounds,
            repetitions: repetitions,
            [
                .client("CurlTransport", inFlight: 1, exchange),
                .floor(Floor.blocking(1), settings, multi: false),
            ]
        )
        let ratio = costs.ratio("CurlTransport", to: Floor.blocking(1), of: \.cpu)
        goal("\(title): CPU of CurlTransport", ratio, atMost: 1.1, "times libcurl's")
    }
    await transport.shutDown()
}

/// Counts the bytes that a session passes to its delegate, the only way to stream with URLSession on Linux.
private final class StreamingSession: NSObject, URLSessionDataDelegate {
    private struct State {
        var count = 0
        var reader: CheckedContinuation<Int, any Error>?
    }

    private let state = Mutex(State())

    func count(_ url: URL) async throws -> Int {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        return try await withCheckedThrowingContinuation { reader in
            state.withLock { $0 = State(reader: reader) }
            session.dataTask(with: url).resume()
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock { $0.count += data.count }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let (count, reader) = state.withLock { ($0.count, $0.reader) }
        if let error { reader?.resume(throwing: error) } else { reader?.resume(returning: count) }
    }
}

/// A file that receives the chunks, or nothing.
private struct Sink {
    private let descriptor: Int32?

    init(_ file: String?) throws {
        descriptor = file.map { open($0, O_WRONLY | O_CREAT | O_TRUNC, 0o600) }
        if let descriptor, descriptor < 0 { throw WrongAnswer() }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard let descriptor else { return }
        guard Foundation.write(descriptor, bytes.baseAddress, bytes.count) == bytes.count else { throw WrongAnswer() }
    }

    func close() { if let descriptor { Foundation.close(descriptor) } }
}

private func stream(_ transport: any Transport, _ url: URL, bytes: Int, file: String? = nil) -> Exchange {
    {
        var request = HTTPRequest(url: url)
        request.context.responseBody = .streamed
        let response = try await transport.send(request)
        let sink = try Sink(file)
        var count = 0
        for try await chunk in response.body {
            count += chunk.count
            try chunk.withUnsafeBytes(sink.write)
        }
        sink.close()
        guard count == bytes else { throw WrongAnswer() }
    }
}

private func stream(_ client: HTTPClient, _ url: URL, bytes: Int, file: String? = nil) -> Exchange {
    let url = url.absoluteString
    return {
        let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(60))
        let sink = try Sink(file)
        var count = 0
        for try await chunk in response.body {
            count += chunk.readableBytes
            try chunk.withUnsafeReadableBytes(sink.write)
        }
        sink.close()
        guard count == bytes else { throw WrongAnswer() }
    }
}

private func download(_ session: URLSession, _ url: URL, bytes: Int) -> Exchange {
    {
        let (file, _) = try await session.download(from: url)
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        try FileManager.default.removeItem(at: file)
        guard attributes[.size] as? Int == bytes else { throw WrongAnswer() }
    }
}
