import AsyncHTTPClient
import Foundation
import Harness
import Interceptors

#if canImport(FoundationNetworking)
import FoundationNetworking
import InterceptorsURLSession
#endif

/// The size of the small response, in bytes.
let smallSize = 100

/// Compares small GETs over kept-alive connections.
func compareSmall(_ server: Server, inFlight: Int, rounds: Int) async throws {
    let url = server.plain.appending(path: "small")
    let (standard, tuned) = (HTTPClient.standard(server), HTTPClient.tuned(server, inFlight: inFlight))
    var contenders: [Contender] = [
        .client("CurlTransport", inFlight: inFlight, send(CurlTransport(), url, bytes: smallSize)),
        .client(
            "URLSessionTransport",
            share: 0.25,
            inFlight: inFlight,
            send(URLSessionTransport(), url, bytes: smallSize)
        ),
        .client(
            "URLSession, default",
            share: 0.25,
            inFlight: inFlight,
            send(URLSession(configuration: .default), url, bytes: smallSize)
        ),
        .client(
            "URLSession, no cache, no cookies",
            share: 0.25,
            inFlight: inFlight,
            send(URLSession.bare(), url, bytes: smallSize)
        ),
        .client("async-http-client, default", inFlight: inFlight, send(standard, url, bytes: smallSize)),
        .client("async-http-client, limit = in flight", inFlight: inFlight, send(tuned, url, bytes: smallSize)),
        .floor(
            Floor.blocking(inFlight),
            FloorSettings(url: url, inFlight: inFlight),
            multi: false
        ),
        .floor(Floor.multi, FloorSettings(url: url, inFlight: inFlight), multi: true),
    ]
    if inFlight == 1 {
        let settings = FloorSettings(url: url, inFlight: 1)
        contenders.append(.handedOver("libcurl in C, another thread (floor)", settings))
        contenders.append(.awaited("libcurl in C, another thread, awaited (floor)", settings))
    }
    if let wrk = server.wrk { contenders.append(.wrk(url, inFlight: inFlight, wrk)) }
    let costs = try await compare(
        "Small GET, kept-alive connections, \(inFlight) in flight, per request",
        rounds: rounds,
        repetitions: inFlight == 1 ? 1_000 : 3_200,
        contenders
    )
    let blocking = Floor.blocking(inFlight)
    if inFlight == 1 {
        let ratio = costs.ratio("CurlTransport", to: blocking, of: \.cpu)
        goal("one at a time: CPU of CurlTransport", ratio, atMost: 1.3, "times blocking libcurl's")
    }
    if inFlight == 64 {
        goal("64 in flight: CPU of CurlTransport", costs["CurlTransport"]?.cpu.map { $0 / 1e3 }, atMost: 25, "µs")
        for (peer, least) in [("URLSession, default", 12.0), ("async-http-client, limit = in flight", 2.0)] {
            let ratio = costs.ratio(peer, to: "CurlTransport", of: \.cpu)
            goal("64 in flight: CPU of \(peer)", ratio, atLeast: least, "times ours")
        }
        let ratio = costs.ratio(blocking, to: "CurlTransport", of: \.wall)
        goal("64 in flight: requests per second", ratio, atLeast: 1, "times blocking libcurl's")
    }
    try await standard.shutdown()
    try await tuned.shutdown()
}

/// Compares small GETs over one HTTP/2 connection.
func compareHTTP2(_ server: Server, rounds: Int) async throws {
    let inFlight = 64
    let url = server.secure.appending(path: "small")
    let (standard, tuned) = (HTTPClient.standard(server), HTTPClient.tuned(server, inFlight: inFlight))
    let floor = FloorSettings(url: url, inFlight: inFlight, roots: server.roots, isHTTP2: true)
    func foundations(_ name: String, _ exchange: @escaping Exchange) -> [Contender] {
        server.isTrustedByFoundation ? [.client(name, share: 0.25, inFlight: inFlight, exchange)] : []
    }
    try await compare(
        "Small GET, HTTP/2 over TLS on one connection, \(inFlight) in flight, per request",
        rounds: rounds,
        repetitions: 3_200,
        [.client("CurlTransport", inFlight: inFlight, send(CurlTransport(), url, bytes: smallSize))]
            + foundations("URLSessionTransport", send(URLSessionTransport(), url, bytes: smallSize))
            + foundations("URLSession", send(.bare(), url, bytes: smallSize))
            + [
                .client("async-http-client, default", inFlight: inFlight, send(standard, url, bytes: smallSize)),
                .client("async-http-client, one event loop", inFlight: inFlight, send(tuned, url, bytes: smallSize)),
                .floor(Floor.multi, floor, multi: true),
            ]
    )
    try await standard.shutdown()
    try await tuned.shutdown()
}

/// Compares small GETs, each over a new TLS connection.
func compareHandshakes(_ server: Server, rounds: Int) async throws {
    let url = server.handshakes.appending(path: "small")
    let tuned = HTTPClient.tuned(server, inFlight: 1)
    let tls = TLSConfiguration(trust: .system(adding: [try TLSCertificate(file: server.certificate)]))
    try await compare(
        "Small GET over a new TLS connection, one at a time, per request",
        rounds: rounds,
        repetitions: 50,
        [
            .client("CurlTransport", inFlight: 1, send(CurlTransport(), url, bytes: smallSize)),
            .client(
                "CurlTransport, with an added root",
                inFlight: 1,
                send(CurlTransport(tls: tls), url, bytes: smallSize)
            ),
            .client("async-http-client", inFlight: 1, send(tuned, url, bytes: smallSize)),
            .floor(Floor.blocking(1), FloorSettings(url: url, inFlight: 1, roots: server.roots), multi: false),
        ]
            + (server.isTrustedByFoundation
                ? [.client("URLSession", inFlight: 1, send(.bare(), url, bytes: smallSize))] : [])
    )
    try await tuned.shutdown()
}
