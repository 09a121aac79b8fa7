internal import Foundation
internal import InterceptorsCore

// Connections that serve several requests, and requests that are sent again.
extension TransportConformance {
    static let connectionLaws: [Law] = [
        Law(
            "connectionsAreKeptAlive",
            repair: "Return a connection to the pool when its response has been read to the end.",
            for: [.connections, .connectionReuse]
        ) { bench in
            bench.server.on(.get, "/", .status(200, body: "ok"))
            for _ in 0..<3 { _ = try await bench.send(try bench.request()) }
            try expect(bench.server.connectionsOpened, is: 1, "The number of connections for three requests")
        },
        Law(
            "bytesBeyondTheContentAreNotTheNextResponse",
            repair: "Close a connection that is readable before the next request.",
            for: [.connections]
        ) { bench in
            bench.server.enqueue(
                .wrongContentLength(announced: 2, body: "okHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
            )
            bench.server.enqueue(.status(200, body: "good"))
            try await bench.send(try bench.request(), expecting: "ok")
            let second = try await bench.send(try bench.request())
            try expect(try await bench.text(second), is: "good", "The content of the next response")
        },
        Law(
            "anIdempotentRequestSurvivesAStaleConnection",
            repair: "Test a kept connection before you use it, and open another if it is closed.",
            for: [.connections, .connectionReuse]
        ) { bench in
            bench.server.on(.get, "/", .status(200, body: "ok"))
            _ = try await bench.send(try bench.request())
            bench.server.closeConnections()
            try await bench.send(try bench.request(), expecting: "ok")
        },
        Law(
            "anIdempotentRequestThatWasUnderWayOnAStaleConnectionIsSentAgain",
            repair: "Repeat an idempotent request if its reused connection ended early (RFC 9112 §9.3.1).",
            for: [.connections, .connectionReuse]
        ) { bench in
            bench.server.on(.get, "/*") { $0.number > 1 ? .closeBeforeHead : StubAnswer.status(200, body: "ok") }
            for path in ["/first", "/second"] {
                try await bench.send(try bench.request(path), expecting: "ok")
            }
            try expect(bench.server.requests.map(\.connection), is: [1, 1, 2], "The requests' connections")
            try expect(bench.server.requests.map(\.path), is: ["/first", "/second", "/second"], "The paths")
        },
        Law(
            "aRequestThatIsNotIdempotentIsNotSentAgain",
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
