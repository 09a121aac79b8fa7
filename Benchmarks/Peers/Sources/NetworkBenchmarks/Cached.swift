import AsyncHTTPClient
import Foundation
import Harness
import Interceptors

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Compares cache hits with reading the same file, and with requests to a server on this machine.
func compareCached(_ server: Server, _ name: String, bytes: Int, repetitions: Int) async throws {
    let file = "\(server.directory)/files/\(name)"
    let url = server.plain.appending(path: name)
    let fresh = Fresh(body: try Data(contentsOf: URL(filePath: file)))
    let folder = URL(filePath: server.directory).appending(path: "cache-\(name)")
    let memory = InterceptorChain([.cache(.memory())], transport: fresh)
    let disk = InterceptorChain([.cache(.disk(at: folder))], transport: fresh)
    for chain in [memory, disk] {
        _ = try await chain.send(HTTPRequest(url: url))
        guard try await chain.send(HTTPRequest(url: url)).context.cacheOutcome?.result == .hit else {
            throw WrongAnswer()
        }
    }
    let client = HTTPClient.tuned(server, inFlight: 1)
    let costs = try await compare(
        "A cache hit of \(bytes) bytes",
        repetitions: repetitions,
        [
            .client("memory", inFlight: 1, send(memory, url, bytes: bytes)),
            .client("disk", inFlight: 1, send(disk, url, bytes: bytes)),
            .client("open, pread, close (floor)", inFlight: 1) { try read(file, bytes: bytes) },
            .client("GET, CurlTransport", share: 0.2, inFlight: 1, send(CurlTransport(), url, bytes: bytes)),
            .client("GET, async-http-client", share: 0.2, inFlight: 1, send(client, url, bytes: bytes)),
            .client("GET, URLSession", share: 0.2, inFlight: 1, send(URLSession.bare(), url, bytes: bytes)),
        ]
    )
    for (store, limit) in [("memory", 3.0), ("disk", 20)] {
        goal("a cache hit of \(bytes) bytes, \(store), CPU", costs[store]?.cpu.map { $0 / 1e3 }, atMost: limit, "µs")
    }
    try await client.shutdown()
}

/// A transport whose responses are fresh for an hour.
private struct Fresh: Transport {
    let body: Data

    func send(_ request: consuming HTTPRequest) async throws -> Interceptors.HTTPResponse {
        Interceptors.HTTPResponse(
            status: 200,
            headers: [.cacheControl: "max-age=3600", .contentType: "application/octet-stream"],
            body: HTTPBody(body),
            url: request.url
        )
    }
}

private func read(_ path: String, bytes: Int) throws {
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { throw WrongAnswer() }
    defer { close(descriptor) }
    var data = Data(count: bytes)
    let count = data.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, bytes, 0) }
    guard count == bytes else { throw WrongAnswer() }
}
