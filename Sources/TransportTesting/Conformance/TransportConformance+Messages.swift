internal import Foundation
internal import Interceptors

extension TransportConformance {
    static let messageRules: [Rule] = [
        rule("sendsMethodTargetFieldsAndBody") { bench in
            bench.server.enqueue(.status(201, headers: ["X-Answer": "42"], body: "made"))
            let request = try bench.request("/a%20b?x=1&y=%2B", .post, fields: [.contentType: "text/x"], body: "hello")
            let response = try await bench.send(request)
            let received = try await first(bench)
            try expect(received.method, is: .post, "method")
            try expect(received.target, is: "/a%20b?x=1&y=%2B", "target")
            try expect(received.headerFields[.contentType], is: "text/x", "Content-Type")
            try expect(received.text, is: "hello", "body")
            try expect(response.status, is: 201, "status")
            try expect(response.headerFields["x-answer"], is: "42", "a response field")
            try expect(response.url, is: request.url, "the response's URL")
            try expect(try await bench.text(response), is: "made", "content")
        },
        rule("everyStatusIsAResponseWithItsContent") { bench in
            for code in [200, 299, 300, 400, 401, 404, 407, 418, 500, 503, 599, 799, 999] {
                guard let status = HTTPResponse.Status(code: code) else { continue }
                bench.server.on(.get, "/status", .status(status, body: "content"))
                let response = try await bench.send(try bench.request("/status"))
                try expect(response.status.code, is: code, "status")
                if code != 300 { try expect(try await bench.text(response), is: "content", "content of \(code)") }
            }
        },
        rule("statusesWithoutContentHaveNone") { bench in
            for status in [HTTPResponse.Status(integerLiteral: 204), 205, 304] {
                try await bench.inBothModes { mode in
                    bench.server.enqueue(.status(status))
                    let response = try await bench.send(try bench.request(mode: mode))
                    try expect(response.status, is: status, "status")
                    try expect(try await bench.text(response), is: "", "content of \(status)")
                }
            }
        },
        rule("headHasFieldsButNoContent") { bench in
            bench.server.enqueue(.status(200, headers: ["X-A": "b"], body: "1234567"))
            let response = try await bench.send(try bench.request("/", .head))
            try expect(response.headerFields["X-A"], is: "b", "field")
            try expect(response.headerFields[.contentLength], is: "7", "Content-Length")
            try expect(try await bench.text(response), is: "", "content")
        },
        wireRule("interimResponsesAreNotTakenForTheFinalOne") { bench in
            bench.server.enqueue(
                MockResponse.status(200, headers: ["X-A": "final"], body: "ok")
                    .preceded(byInterim: 103, headers: [.link: "</a.css>"])
                    .preceded(byInterim: 100)
            )
            let response = try await bench.send(try bench.request())
            try expect(response.status, is: 200, "status")
            try expect(response.headerFields["X-A"], is: "final", "field")
            try expect(!response.headerFields.contains(.link), "a field of the interim response shows")
        },
        rule("whatMustNotBeSentIsNot") { bench in
            try await bench.inBothModes { mode in
                var request = try bench.request("/", .post, body: "content", mode: mode)
                request.context.sendingForbidden = "The program is offline."
                try await expectFailure(.sendingForbidden) { _ = try await bench.send(request) }
            }
            try expect(bench.server.requests.count, is: 0, "requests that reached the server")
            try expect(bench.server.connectionsOpened, is: 0, "connections")
        },
        rule("redirectsAreNotFollowed") { bench in
            for status in [HTTPResponse.Status(integerLiteral: 301), 302, 303, 307, 308] {
                bench.server.enqueue(.status(status, headers: [.location: "/next"], body: "moved"))
                let response = try await bench.send(try bench.request("/old"))
                try expect(response.status, is: status, "status")
                try expect(response.headerFields[.location], is: "/next", "Location")
            }
            try expect(bench.server.requests.allSatisfy { $0.path == "/old" }, "a redirect was followed")
        },
        rule("statusesThatInviteAnotherAttemptAreNotRetried") { bench in
            for status in [HTTPResponse.Status(integerLiteral: 401), 407, 408, 425, 429, 502, 503, 504] {
                let fields: HTTPFields = [
                    .retryAfter: "0", .wwwAuthenticate: "Basic realm=\"a\"", .proxyAuthenticate: "Basic realm=\"a\"",
                ]
                bench.server.on(.get, "/", .status(status, headers: fields))
                let before = bench.server.requests.count
                let response = try await bench.send(try bench.request())
                try expect(response.status, is: status, "status")
                try expect(bench.server.requests.count, is: before + 1, "requests that reached the server")
            }
        },
        wireRule("trailersAreNotTakenForFields") { bench in
            bench.server.enqueue(.stream([Data("ok".utf8)], trailers: ["X-Trailer": "1"], headers: ["X-A": "b"]))
            let response = try await bench.send(try bench.request())
            try expect(try await bench.text(response), is: "ok", "content")
            try expect(response.headerFields["X-A"], is: "b", "field")
            try expect(response.headerFields["X-Trailer"], is: nil, "a trailer among the fields")
        },
        wireRule("aFragmentIsNotSent") { bench in
            bench.server.on(.get, "/**", .status(200))
            _ = try await bench.send(try bench.request("/a?b=c#secret"))
            try expect(try await first(bench).target, is: "/a?b=c", "target")
        },
        rule("cookiesAreNotKept") { bench in
            bench.server.on(.get, "/", .status(200, headers: [.setCookie: "a=1; Path=/; Max-Age=1000"]))
            _ = try await bench.send(try bench.request())
            _ = try await bench.send(try bench.request())
            let received = await bench.server.requests(atLeast: 2)
            try expect(!received.contains { $0.headerFields.contains(.cookie) }, "a cookie was sent back")
        },
        rule("nothingIsCached") { bench in
            bench.server.on(.get, "/", .status(200, headers: [.cacheControl: "max-age=3600", .eTag: "\"a\""]))
            _ = try await bench.send(try bench.request())
            _ = try await bench.send(try bench.request())
            try expect(await bench.server.requests(atLeast: 2).count, is: 2, "requests that reached the server")
        },
        rule("repeatedFieldsStayApart") { bench in
            let sent: HTTPFields = ["X-Many": "1", "X-Other": "x", "X-Many": "2"]
            bench.server.enqueue(
                MockResponse.status(200, headers: [.setCookie: "a=1", "X-Many": "1", .setCookie: "b=2", "X-Many": "2"])
            )
            let response = try await bench.send(try bench.request(fields: sent))
            let received = try await first(bench)
            try expect(received.headerFields[values: "X-Many"], is: ["1", "2"], "the request's values")
            try expect(response.headerFields[values: "X-Many"], is: ["1", "2"], "the response's values")
            try expect(response.headerFields[values: .setCookie], is: ["a=1", "b=2"], "Set-Cookie")
            try expect(
                received.headerFields.contains { $0.name.rawName == "X-Other" },
                "the spelling of a name is lost"
            )
        },
        rule("injectedFieldsAreRefusedBeforeAnythingIsSent") { bench in
            for fields in [["X-A": "1\r\nEvil: 1"], ["X-A": "a\0b"], ["X A": "1"], ["": "1"]] as [HTTPFields] {
                try await expectFailure(.invalidRequest) { _ = try await bench.send(try bench.request(fields: fields)) }
            }
            try expect(bench.server.connectionsOpened, is: 0, "connections")
            try expect(bench.server.requests.count, is: 0, "requests")
        },
        rule("onlyHTTPIsSpoken") { bench in
            for text in ["ftp://127.0.0.1/x", "file:///etc/hostname", "/relative", "gopher://127.0.0.1", "http:///x"] {
                guard let url = URL(string: text) else { continue }
                try await expectFailure(.unsupportedURL) { _ = try await bench.send(HTTPRequest(url: url)) }
            }
        },
        wireRule("connectionsAreKeptAlive") { bench in
            bench.server.on(.get, "/", .status(200, body: "ok"))
            for _ in 0..<3 { _ = try await bench.send(try bench.request()) }
            try expect(bench.server.connectionsOpened, is: 1, "connections for three requests")
        },
    ]

    private static func first(_ bench: Bench) async throws -> MockServer.Request {
        guard let request = await bench.server.requests(atLeast: 1).first else {
            throw Violation(description: "The server received no request.")
        }
        return request
    }
}
