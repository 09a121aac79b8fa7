internal import Foundation
internal import Interceptors

extension TransportConformance {
    static let failureRules: [Rule] = [
        wireRule("aTruncatedResponseIsAnError") { bench in
            for answer in [MockResponse.closeInBody(after: 3, of: 10), .closeInChunks(after: [Data("abc".utf8)])] {
                try await bench.inBothModes { mode in
                    bench.server.enqueue(answer)
                    try await expectFailure(.truncated) {
                        let response = try await bench.send(try bench.request(mode: mode))
                        _ = try await bench.text(response)
                    }
                }
            }
        },
        wireRule("aConnectionClosedBeforeTheHeadIsLost") { bench in
            for answer in [MockResponse.closeBeforeHead, .reset] {
                bench.server.on(.post, "/", answer)
                try await expectFailure(.connectionLost) {
                    _ = try await bench.send(try bench.request("/", .post, body: "x"))
                }
            }
        },
        wireRule("aConnectionClosedWithinTheHeadIsAnError") { bench in
            bench.server.enqueue(.closeInHead)
            try await expectFailure(.connectionLost, .truncated, .invalidResponse) {
                _ = try await bench.send(try bench.request())
            }
        },
        wireRule("garbageIsAnError") { bench in
            for answer in [MockResponse.garbage, .raw("\r\n\r\n\r\n"), .raw("HTTP/1.1 abc\r\n\r\n"), .raw("{}\n")] {
                bench.server.enqueue(answer)
                try await expectFailure(.invalidResponse, .connectionLost, .truncated) {
                    _ = try await bench.send(try bench.request())
                }
            }
        },
        wireRule("noServerIsAnError") { bench in
            bench.server.stop()
            try await expectFailure(.cannotConnect) { _ = try await bench.send(try bench.request()) }
        },
        wireRule("anUnknownHostIsAnError") { bench in
            guard let url = URL(string: "http://nobody.invalid/") else { return }
            try await expectFailure(.cannotFindHost) { _ = try await bench.send(HTTPRequest(url: url)) }
        },
        wireRule("errorsNameTheRequestWithoutItsSecrets") { bench in
            bench.server.on(.get, "/**", .closeBeforeHead)
            let request = try bench.request("/path?token=hush&x=1")
            try await expectNameWithoutSecret { _ = try await bench.send(request) }
        },
        rule("refusalsNameTheRequestWithoutItsSecrets") { bench in
            let request = try bench.request("/path?token=hush&x=1", fields: ["X-A": "\r\n"])
            try await expectNameWithoutSecret { _ = try await bench.send(request) }
        },
        wireRule("anIdempotentRequestSurvivesAStaleConnection") { bench in
            bench.server.on(.get, "/", .status(200, body: "ok"))
            _ = try await bench.send(try bench.request())
            bench.server.closeConnections()
            let response = try await bench.send(try bench.request())
            try expect(try await bench.text(response), is: "ok", "content")
        },
        wireRule("anIdempotentRequestThatWasUnderWayOnAStaleConnectionIsSentAgain") { bench in
            bench.server.on(.get, "/*") { $0.number > 1 ? .closeBeforeHead : MockResponse.status(200, body: "ok") }
            for path in ["/first", "/second"] {
                let response = try await bench.send(try bench.request(path))
                try expect(try await bench.text(response), is: "ok", "content")
            }
            try expect(bench.server.requests.map(\.connection), is: [1, 1, 2], "connections of the requests")
            try expect(bench.server.requests.map(\.path), is: ["/first", "/second", "/second"], "paths")
        },
        wireRule("aRequestThatIsNotIdempotentIsNotSentAgain") { bench in
            bench.server.on(nil, "/") { $0.number > 1 ? .closeBeforeHead : MockResponse.status(200, body: "ok") }
            _ = try await bench.send(try bench.request())
            try await expectFailure(.connectionLost) {
                _ = try await bench.send(try bench.request("/", .post, body: "pay"))
            }
            try expect(bench.server.requests.count, is: 2, "requests that reached the server")
        },
        wireRule("aFailureOnAFreshConnectionIsNotRetried") { bench in
            for answer in [MockResponse.closeBeforeHead, .closeInBody(after: 1, of: 2), .reset] {
                bench.server.on(.get, "/", answer)
                let before = bench.server.requests.count
                try await expectFailure(.connectionLost, .truncated) { _ = try await bench.send(try bench.request()) }
                try expect(bench.server.requests.count, is: before + 1, "requests that reached the server")
            }
        },
        wireRule("aFailureLeavesTheTransportUsable") { bench in
            bench.server.enqueue(.garbage, .closeInBody(after: 1, of: 2), MockResponse.status(200, body: "fine"))
            for _ in 0..<2 { _ = try? await bench.send(try bench.request()) }
            let response = try await bench.send(try bench.request())
            try expect(try await bench.text(response), is: "fine", "content")
        },
    ]

    private static func expectNameWithoutSecret(_ call: () async throws -> Void) async throws {
        do {
            try await call()
        } catch {
            var dumped = ""
            dump(error, to: &dumped)
            let text = "\(error) \(String(reflecting: error)) \(dumped)"
            try expect(text.contains("/path"), "the error doesn't name the request: \(text)")
            return try expect(!text.contains("hush"), "the error tells a secret")
        }
        throw Violation(description: "The call succeeded.")
    }
}
