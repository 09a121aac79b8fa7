internal import Foundation
internal import InterceptorsCore

// Servers and connections that fail.
extension TransportConformance {
    static let failureLaws: [Law] = [
        Law("aTruncatedResponseIsAnError", repair: "Compare bytes with the framing.", for: [.connections]) { bench in
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
        Law("aConnectionClosedWithinTheHeadIsAnError", repair: "Wait for a head's end.", for: [.connections]) { bench in
            bench.server.enqueue(.closeInHead)
            try await expectFailure(.connectionLost, .truncated, .invalidResponse) {
                _ = try await bench.send(try bench.request())
            }
        },
        Law("garbageIsAnError", repair: "Refuse HTTP/0.9 and wrong status lines.", for: [.connections]) { bench in
            for answer in [StubAnswer.garbage, .raw("\r\n\r\n\r\n"), .raw("HTTP/1.1 abc\r\n\r\n"), .raw("{}\n")] {
                bench.server.enqueue(answer)
                try await expectFailure(.invalidResponse, .connectionLost, .truncated) {
                    _ = try await bench.send(try bench.request())
                }
            }
        },
        Law("noServerIsAnError", repair: "Map a refused connection to cannotConnect.", for: [.connections]) { bench in
            bench.server.stop()
            try await expectFailure(.cannotConnect) { _ = try await bench.send(try bench.request()) }
        },
        Law("anUnknownHostIsAnError", repair: "Map name resolution to cannotFindHost.", for: [.connections]) { bench in
            guard let url = URL(string: "http://nobody.invalid/") else { return }
            try await expectFailure(.cannotFindHost) { _ = try await bench.send(HTTPRequest(url: url)) }
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
    ]
}
