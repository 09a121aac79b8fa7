import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@Suite(.againstHanging) struct MalformedRequestTests {
    struct Malformed: Sendable, CustomTestStringConvertible {
        let text: String
        let status: Int
        let reason: String

        init(_ text: String, _ status: Int, _ reason: String) {
            self.text = text
            self.status = status
            self.reason = reason
        }

        var testDescription: String { String(reflecting: text) }
    }

    static let malformed: [Malformed] = [
        Malformed("GET / HTTP/1.1\n\n", 400, "LF without CR"),
        Malformed("GET / HTTP/1.1\r\n\r\n", 400, "one Host"),
        Malformed("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "one Host"),
        Malformed("GET /\r\n\r\n", 400, "request line"),
        Malformed("GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400, "request line"),
        Malformed("G@T / HTTP/1.1\r\nHost: h\r\n\r\n", 400, "method"),
        Malformed("GET /\u{1} HTTP/1.1\r\nHost: h\r\n\r\n", 400, "target"),
        Malformed("GET /é HTTP/1.1\r\nHost: h\r\n\r\n", 400, "target"),
        Malformed("GET a/b HTTP/1.1\r\nHost: h\r\n\r\n", 400, "neither a path"),
        Malformed("GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505, "HTTP/1.1"),
        Malformed("GET / HTTP/1.10\r\nHost: h\r\n\r\n", 400, "version"),
        Malformed("GET / http/1.1\r\nHost: h\r\n\r\n", 400, "version"),
        Malformed("GET / HTTP/1.1\r\nHost: h\r\nA : b\r\n\r\n", 400, "colon"),
        Malformed("GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n", 400, "folded"),
        Malformed("GET / HTTP/1.1\r\nHost: h\r\nnocolon\r\n\r\n", 400, "colon"),
        Malformed("GET / HTTP/1.1\r\nHost: h\r\nA: b\u{0}c\r\n\r\n", 400, "control character"),
        Malformed("GET / HTTP/1.1\r\nHost: h\r\nA: b\rc\r\n\r\n", 400, "control character"),
        Malformed("GET / HTTP/1.1\r\nHost: h\r\n: b\r\n\r\n", 400, "token"),
        Malformed("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n", 400, "no number"),
        Malformed("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: +1\r\n\r\n", 400, "no number"),
        Malformed("GET / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\n", 400, "no number"),
        Malformed("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400, "disagree"),
        Malformed("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "Both"),
        Malformed("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "HTTP/1.0"),
        Malformed("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n", 400, "chunked"),
        Malformed("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501, "chunked"),
        Malformed("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\u{A0}\r\n\r\n", 400, "no number"),
        Malformed("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chun\u{212A}ed\r\n\r\n", 400, "tokens"),
        Malformed("GET / HTTP/1.1\r\nHost: h\r\nConnection: a b\r\n\r\n", 400, "tokens"),
        Malformed("GET / HTTP/1.1\r\nHost: h\r\nExpect: tea\r\n\r\n", 417, "100-continue"),
        Malformed("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", 400, "hexadecimal"),
        Malformed("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", 400, "hexadecimal"),
        Malformed(
            "GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
            400,
            "longer than its size"
        ),
        Malformed("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\n", 400, "CR LF"),
    ]

    @Test(arguments: malformed) func whatIsMalformedIsRefusedWithItsReason(_ malformed: Malformed) async throws {
        let server = try MockServer()
        server.on(nil, "/**", .status(200))
        let client = try RawClient(port: server.port)
        try await client.send(malformed.text)
        // After this, a server that waits for the rest of the request closes the connection, so the test fails instead
        // of hanging.
        client.endSending()
        let answer = try await client.receiveAll()
        #expect(answer.hasPrefix("HTTP/1.1 \(malformed.status) "))
        #expect(answer.contains("Connection: close\r\n"))
        #expect(answer.contains(malformed.reason), "\(answer)")
        #expect(server.requests.isEmpty)
    }

    private static let seeds = [
        Wire.get("/a/b?c=d", "Accept: */*\r\nConnection: keep-alive\r\n"),
        Wire.post("/x", "0123456789"),
        "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nA: b\r\n\r\n",
        "OPTIONS * HTTP/1.0\r\nExpect: 100-continue\r\n\r\n",
    ]
    private static let tokens = [
        "\r\n", "\n", "\r", "\0", ":", " ", "\t", "HTTP/1.1", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n",
        "é",
        "ffffffffffffffff\r\n", "-1", "9223372036854775807", "%", "://", "?", "\u{FEFF}", "Host:", ",", ";",
    ]

    /// A seed with one to four random changes.
    private static func mutant(using generator: inout SeededGenerator) -> Data {
        var bytes = Array(seeds.randomElement(using: &generator)?.utf8 ?? "".utf8)
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            let place = Int.random(in: 0...bytes.count, using: &generator)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
            case 1: bytes.insert(contentsOf: tokens.randomElement(using: &generator)?.utf8 ?? "".utf8, at: place)
            case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 0...8, using: &generator)))
            case 3: bytes.insert(contentsOf: bytes[place...].prefix(20), at: place)
            default: if place < bytes.count { bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator) }
            }
        }
        return Data(bytes)
    }

    @Test(arguments: UInt64(1)...8) func noInputBringsTheServerDown(seed: UInt64) async throws {
        let server = try MockServer(headLimit: 4096, bodyLimit: 4096)
        server.on(nil, "/**", .status(200, body: "ok"))
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<150 {
            let client = try RawClient(port: server.port)
            // The server may close a connection before the client has sent everything.
            try? await client.send(Self.mutant(using: &generator))
            client.endSending()
            let answer = try await client.receiveAllBytes()
            // The answer is HTTP, or empty if the request was incomplete.
            #expect(answer.isEmpty || answer.starts(with: Data("HTTP/1.1 ".utf8)))
        }
        let client = try RawClient(port: server.port)
        #expect(try await client.ask(Wire.get()).body == "ok")
    }
}
