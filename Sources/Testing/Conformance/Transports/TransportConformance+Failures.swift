internal import Foundation
internal import InterceptorsCore

// Servers and connections that fail.
extension TransportConformance {
    static let failureLaws: [Law] = [
        Law(
            "aTruncatedResponseIsAnError",
            expected: "Content that ends before its Content-Length or its last chunk must fail with truncated.",
            harm: "Otherwise half a file or half a list counts as complete, and a cache keeps it.",
            repair: "Compare the bytes with the framing when the connection ends.",
            for: [.connections]
        ) { bench in
            let brokenOff = TransportError(.truncated, "The content ended.")
            for answer in [
                StubAnswer.closeInBody(after: 3, of: 10), .stream([Data("abc".utf8)], thenFailing: brokenOff),
            ] {
                try await bench.inEachMode { mode in
                    bench.server.enqueue(answer)
                    try await expectFailure(.truncated) {
                        let response = try await bench.send(try bench.request(mode: mode))
                        _ = try await bench.text(response)
                    }
                }
            }
        },
        Law(
            "aConnectionClosedBeforeTheHeadIsLost",
            expected: "A connection that ends before the response's head must fail with connectionLost.",
            harm: "Otherwise nobody can tell whether a payment may be sent again.",
            repair: "Map the library's errors for a closed or reset connection to connectionLost.",
            for: [.connections]
        ) { bench in
            for answer in [StubAnswer.closeBeforeHead, .reset] {
                bench.server.on(.post, "/", answer)
                try await expectFailure(.connectionLost) {
                    _ = try await bench.send(try bench.request("/", .post, body: "x"))
                }
            }
        },
        Law(
            "aConnectionClosedWithinTheHeadIsAnError",
            expected: "A head that breaks off must fail with connectionLost, truncated or invalidResponse.",
            harm: "Otherwise a response with half of its fields counts as complete.",
            repair: "Wait for the empty line that ends a head.",
            for: [.connections]
        ) { bench in
            bench.server.enqueue(.closeInHead)
            try await expectFailure(.connectionLost, .truncated, .invalidResponse) {
                _ = try await bench.send(try bench.request())
            }
        },
        Law(
            "garbageIsAnError",
            expected: "Bytes that aren't HTTP must fail with invalidResponse, connectionLost or truncated.",
            harm: "Otherwise the answer of another service, such as a captive portal, counts as content.",
            repair: "Refuse HTTP/0.9 and status lines that aren't valid.",
            for: [.connections]
        ) { bench in
            for answer in [StubAnswer.garbage, .raw("\r\n\r\n\r\n"), .raw("HTTP/1.1 abc\r\n\r\n"), .raw("{}\n")] {
                bench.server.enqueue(answer)
                try await expectFailure(.invalidResponse, .connectionLost, .truncated) {
                    _ = try await bench.send(try bench.request())
                }
            }
        },
        Law(
            "noServerIsAnError",
            expected: "A refused connection must fail with cannotConnect.",
            harm: "Otherwise a request that was never sent isn't sent again.",
            repair: "Map the library's error for a refused connection to cannotConnect.",
            for: [.connections]
        ) { bench in
            bench.server.stop()
            try await expectFailure(.cannotConnect) { _ = try await bench.send(try bench.request()) }
        },
        Law(
            "anUnknownHostIsAnError",
            expected: "A host without an address must fail with cannotFindHost.",
            harm: "Otherwise a wrong configuration looks like a busy server, and is retried.",
            repair: "Map the library's error of name resolution to cannotFindHost.",
            for: [.connections]
        ) { bench in
            guard let url = URL(string: "http://nobody.invalid/") else { return }
            try await expectFailure(.cannotFindHost) { _ = try await bench.send(HTTPRequest(url: url)) }
        },
        Law(
            "errorsNameTheRequestWithoutItsSecrets",
            expected:
                "The error of a failed transfer must name the request's path, and must show no secret of its query.",
            harm: "Otherwise nobody finds the failed call in the logs, or its tokens stay in the logs.",
            repair: "Make the error with request.summary, and don't keep the library's error text unredacted.",
            for: [.connections]
        ) { bench in
            bench.server.on(.get, "/**", .closeBeforeHead)
            let request = try bench.request("/path?token=hush&x=1")
            try await expectNameWithoutSecret { _ = try await bench.send(request) }
        },
        Law(
            "aFailureLeavesTheTransportUsable",
            expected: "After failed responses, the next call must succeed.",
            harm: "Otherwise one bad response breaks the program until it starts again.",
            repair: "Never keep a connection whose response failed.",
            for: [.connections]
        ) { bench in
            bench.server.enqueue(.garbage, .closeInBody(after: 1, of: 2), StubAnswer.status(200, body: "fine"))
            for _ in 0..<2 { _ = try? await bench.send(try bench.request()) }
            let response = try await bench.send(try bench.request())
            try expect(try await bench.text(response), is: "fine", "The content")
        },
    ]
}
