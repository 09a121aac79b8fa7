internal import Foundation
internal import InterceptorsCore

// Connections that serve several requests, and requests that are sent again.
extension TransportConformance {
    static let connectionLaws: [Law] = [
        Law(
            "connectionsAreKeptAlive",
            expected: "Requests one after another must share a connection.",
            harm: "Otherwise each request waits for a new connection and a new TLS handshake.",
            repair: "Return a connection to the pool when its response has been read to the end.",
            for: [.connections, .connectionReuse]
        ) { bench in
            bench.server.on(.get, "/", .status(200, body: "ok"))
            for _ in 0..<3 { _ = try await bench.send(try bench.request()) }
            try expect(bench.server.connectionsOpened, is: 1, "The number of connections for three requests")
        },
        Law(
            "bytesBeyondTheContentAreNotTheNextResponse",
            expected: "Bytes after a response's content must never answer the next request.",
            harm: "Otherwise a server, or an attacker behind it, answers a request of another user.",
            repair: "Close a connection that is readable before the next request.",
            for: [.connections]
        ) { bench in
            bench.server.enqueue(
                .wrongContentLength(announced: 2, body: "okHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
            )
            bench.server.enqueue(.status(200, body: "good"))
            let first = try await bench.send(try bench.request())
            try expect(try await bench.text(first), is: "ok", "The content")
            let second = try await bench.send(try bench.request())
            try expect(try await bench.text(second), is: "good", "The content of the next response")
        },
        Law(
            "anIdempotentRequestSurvivesAStaleConnection",
            expected: "A GET must succeed after the server has closed the idle connection.",
            harm: "Otherwise the first request after a pause fails.",
            repair: "Test a kept connection before you use it, and open another if it is closed.",
            for: [.connections, .connectionReuse]
        ) { bench in
            bench.server.on(.get, "/", .status(200, body: "ok"))
            _ = try await bench.send(try bench.request())
            bench.server.closeConnections()
            let response = try await bench.send(try bench.request())
            try expect(try await bench.text(response), is: "ok", "The content")
        },
        Law(
            "anIdempotentRequestThatWasUnderWayOnAStaleConnectionIsSentAgain",
            expected:
                "A GET whose kept-alive connection ends before the head must be sent again over a new connection.",
            harm: "Otherwise requests fail at random when servers close idle connections.",
            repair:
                "Send an idempotent request once more if its reused connection ended without a byte (RFC 9112 §9.3.1).",
            for: [.connections, .connectionReuse]
        ) { bench in
            bench.server.on(.get, "/*") { $0.number > 1 ? .closeBeforeHead : StubAnswer.status(200, body: "ok") }
            for path in ["/first", "/second"] {
                let response = try await bench.send(try bench.request(path))
                try expect(try await bench.text(response), is: "ok", "The content")
            }
            try expect(bench.server.requests.map(\.connection), is: [1, 1, 2], "The requests' connections")
            try expect(bench.server.requests.map(\.path), is: ["/first", "/second", "/second"], "The paths")
        },
        Law(
            "aRequestThatIsNotIdempotentIsNotSentAgain",
            expected: "A POST whose connection ends before the head must fail with connectionLost.",
            harm: "Otherwise the user pays twice.",
            repair: "Send again only methods that HTTPRequest.Method.isIdempotent names.",
            for: [.connections]
        ) { bench in
            bench.server.on(nil, "/") { request in
                request.method == .post ? .closeBeforeHead : StubAnswer.status(200, body: "ok")
            }
            _ = try await bench.send(try bench.request())
            try await expectFailure(.connectionLost) {
                _ = try await bench.send(try bench.request("/", .post, body: "pay"))
            }
            try expect(bench.server.requests.count, is: 2, "The number of requests at the server")
        },
        Law(
            "aFailureOnAFreshConnectionIsNotRetried",
            expected: "A request that fails on a new connection must reach the server once.",
            harm: "Otherwise a server that is failing gets each request several times.",
            repair: "Send again only if the connection was reused, and leave other retries to interceptors.",
            for: [.connections]
        ) { bench in
            for answer in [StubAnswer.closeBeforeHead, .closeInBody(after: 1, of: 2), .reset] {
                bench.server.on(.get, "/", answer)
                let before = bench.server.requests.count
                try await expectFailure(.connectionLost, .truncated) { _ = try await bench.send(try bench.request()) }
                try expect(bench.server.requests.count, is: before + 1, "The number of requests at the server")
            }
        },
    ]
}
