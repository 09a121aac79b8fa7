internal import Foundation

extension TransportConformance {
    static let connectionLaws: [Law] = [
        // The rules about tasks that a transport leaves to interceptors.
        Law("redirectsAreNotFollowed", repair: "Turn off the redirects of the HTTP library.") { bench in
            for status in [HTTPResponse.Status(integerLiteral: 301), 302, 303, 307, 308] {
                bench.server.enqueue(.status(status, headers: [.location: "/next"], body: "moved"))
                let response = try await bench.send(try bench.request("/old"))
                try expect(response.status, is: status, "The status")
                try expect(response.headers[.location], is: "/next", "Location")
            }
            try expect(bench.server.requests.allSatisfy { $0.path == "/old" }, "The transport followed a redirect.")
        },
        Law("statusesThatInviteAnotherAttemptAreNotRetried", repair: "Turn off the library's retries.") { bench in
            for status in [HTTPResponse.Status(integerLiteral: 401), 407, 408, 425, 429, 502, 503, 504] {
                let fields: HTTPFields = [
                    .retryAfter: "0", .wwwAuthenticate: "Basic realm=\"a\"", .proxyAuthenticate: "Basic realm=\"a\"",
                ]
                bench.server.on(.get, "/", .status(status, headers: fields))
                let before = bench.server.requests.count
                let response = try await bench.send(try bench.request())
                try expect(response.status, is: status, "The status")
                try expect(bench.server.requests.count, is: before + 1, "The number of requests at the server")
            }
        },
        Law("cookiesAreNotKept", repair: "Turn off the cookie storage of the HTTP library.") { bench in
            bench.server.on(.get, "/", .status(200, headers: [.setCookie: "a=1; Path=/; Max-Age=1000"]))
            _ = try await bench.send(try bench.request())
            _ = try await bench.send(try bench.request())
            let received = try await bench.received(atLeast: 2)
            try expect(!received.contains { $0.headers.contains(.cookie) }, "The transport sent a cookie back.")
        },
        Law("nothingIsCached", repair: "Turn off the cache of the HTTP library.") { bench in
            bench.server.on(.get, "/", .status(200, headers: [.cacheControl: "max-age=3600", .eTag: "\"a\""]))
            _ = try await bench.send(try bench.request())
            _ = try await bench.send(try bench.request())
            try expect(bench.server.requests.count, is: 2, "The number of requests at the server")
        },
        // Servers and connections that fail.
        Law("aTruncatedResponseIsAnError", repair: "Compare bytes with the framing.", for: [.connections]) { bench in
            let brokenOff = TransportError(.truncated, "The content ended.")
            for answer in [
                StubAnswer.closeInBody(after: 3, of: 10), .stream([Data("abc".utf8)], thenFailing: brokenOff),
            ] {
                try await bench.inEachMode { mode in
                    bench.server.enqueue(answer)
                    try await expectFailure([.truncated]) {
                        let response = try await bench.send(try bench.request(mode: mode))
                        _ = try await bench.text(response)
                    }
                }
            }
        },
        Law(
            "aConnectionClosedBeforeTheHeadIsLost",
            repair: "Map the library's errors for a closed or reset connection to connectionLost.",
            for: [.connections]
        ) { bench in
            for answer in [StubAnswer.closeBeforeHead, .reset] {
                bench.server.on(.post, "/", answer)
                try await bench.send(try bench.request("/", .post, body: "x"), failingWith: .connectionLost)
            }
        },
        Law("aConnectionClosedWithinTheHeadIsAnError", repair: "Wait for a head's end.", for: [.connections]) { bench in
            bench.server.enqueue(.closeInHead)
            try await bench.send(try bench.request(), failingWith: .connectionLost, .truncated, .invalidResponse)
        },
        Law("garbageIsAnError", repair: "Refuse HTTP/0.9 and wrong status lines.", for: [.connections]) { bench in
            for answer in [StubAnswer.garbage, .raw("\r\n\r\n\r\n"), .raw("HTTP/1.1 abc\r\n\r\n"), .raw("{}\n")] {
                bench.server.enqueue(answer)
                try await bench.send(try bench.request(), failingWith: .invalidResponse, .connectionLost, .truncated)
            }
        },
        Law("noServerIsAnError", repair: "Map a refused connection to cannotConnect.", for: [.connections]) { bench in
            bench.server.stop()
            try await bench.send(try bench.request(), failingWith: .cannotConnect)
        },
        Law("anUnknownHostIsAnError", repair: "Map name resolution to cannotFindHost.", for: [.connections]) { bench in
            guard let url = URL(string: "http://nobody.invalid/") else { return }
            try await bench.send(HTTPRequest(url: url), failingWith: .cannotFindHost)
        },
        Law(
            "errorsNameTheRequestWithoutItsSecrets",
            repair: "Make the error with request.summary, and don't keep the library's error text unredacted.",
            for: [.connections]
        ) { bench in
            bench.server.on(.get, "/**", .closeBeforeHead)
            let request = try bench.request("/path?token=hush&x=1")
            try await expectNameWithoutSecret { _ = try await bench.send(request) }
        },
        Law("aFailureLeavesTheTransportUsable", repair: "Drop a failed connection.", for: [.connections]) { bench in
            bench.server.enqueue(.garbage, .closeInBody(after: 1, of: 2), StubAnswer.status(200, body: "fine"))
            for _ in 0..<2 { _ = try? await bench.send(try bench.request()) }
            try await bench.send(try bench.request(), expecting: "fine")
        },
        // Connections that serve several requests, and requests that are sent again.
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
            try await bench.send(try bench.request("/", .post, body: "pay"), failingWith: .connectionLost)
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
                try await bench.send(try bench.request(), failingWith: .connectionLost, .truncated)
                try expect(bench.server.requests.count, is: before + 1, "The number of requests at the server")
            }
        },
    ]
}
