internal import Foundation
internal import InterceptorsCore

// The rules about the requests that a server gets.
extension TransportConformance {
    static let requestLaws: [Law] = [
        Law(
            "sendsMethodTargetFieldsAndBody",
            expected:
                "Method, target, fields and content must arrive as given, and the response must come back with its URL.",
            harm: "Otherwise servers see other requests than the program sent, and errors and logs name no request.",
            repair: "Copy every part of the request, keep the percent-encoding of the URL, and set HTTPResponse.url."
        ) { bench in
            bench.server.enqueue(.status(201, headers: ["X-Answer": "42"], body: "made"))
            let request = try bench.request("/a%20b?x=1&y=%2B", .post, fields: [.contentType: "text/x"], body: "hello")
            let response = try await bench.send(request)
            let received = try await bench.firstReceived()
            try expect(received.method, is: .post, "The method")
            try expect(received.target, is: "/a%20b?x=1&y=%2B", "The target")
            try expect(received.headerFields[.contentType], is: "text/x", "Content-Type")
            try expect(received.text, is: "hello", "The request's content")
            try expect(response.status, is: 201, "The status")
            try expect(response.headerFields["x-answer"], is: "42", "The response's field X-Answer")
            try expect(response.url, is: request.url, "HTTPResponse.url")
            try expect(try await bench.text(response), is: "made", "The response's content")
        },
        Law(
            "aFragmentIsNotSent",
            expected: "The fragment of a URL must stay out of the request's target (RFC 9110 §7.1).",
            harm: "Otherwise servers answer 400, and text that was meant for the program reaches the server's logs.",
            repair: "Build the target from the path and the query.",
            for: [.connections]
        ) { bench in
            bench.server.on(.get, "/**", .status(200))
            _ = try await bench.send(try bench.request("/a?b=c#secret"))
            try expect(try await bench.firstReceived().target, is: "/a?b=c", "The target")
        },
        Law(
            "aForbiddenRequestIsNotSent",
            expected:
                "A request with HTTPContext.sendingForbidden must fail with sendingForbidden before anything is sent.",
            harm: "Otherwise a call that may only be answered from the cache uses the network.",
            repair: "Call request.validate() first."
        ) { bench in
            try await bench.inEachMode { mode in
                var request = try bench.request("/", .post, body: "content", mode: mode)
                request.context.sendingForbidden = "The program is offline."
                try await expectFailure(.sendingForbidden) { _ = try await bench.send(request) }
            }
            try expect(bench.server.requests.count, is: 0, "The number of requests at the server")
            try expect(bench.server.connectionsOpened, is: 0, "The number of connections")
        },
        Law(
            "injectedFieldsAreRefusedBeforeAnythingIsSent",
            expected:
                "Field names and values that HTTP doesn't allow must fail with invalidRequest before anything is sent.",
            harm: "Otherwise text from a user can add fields or a second request to the program's requests.",
            repair: "Call request.validate() before you open a connection."
        ) { bench in
            for fields in [["X-A": "1\r\nEvil: 1"], ["X-A": "a\0b"], ["X A": "1"], ["": "1"]] as [HTTPFields] {
                try await expectFailure(.invalidRequest) { _ = try await bench.send(try bench.request(fields: fields)) }
            }
            try expect(bench.server.connectionsOpened, is: 0, "The number of connections")
            try expect(bench.server.requests.count, is: 0, "The number of requests at the server")
        },
        Law(
            "onlyHTTPIsSpoken",
            expected: "A URL that isn't absolute, without a host, or not http or https must fail with unsupportedURL.",
            harm: "Otherwise a URL from a server makes the program read a local file or contact another service.",
            repair: "Call request.validate(), and allow the HTTP library no other scheme."
        ) { bench in
            for text in ["ftp://127.0.0.1/x", "file:///etc/hostname", "/relative", "gopher://127.0.0.1", "http:///x"] {
                guard let url = URL(string: text) else { continue }
                try await expectFailure(.unsupportedURL) { _ = try await bench.send(HTTPRequest(url: url)) }
            }
        },
        Law(
            "refusalsNameTheRequestWithoutItsSecrets",
            expected:
                "The error of a refused request must name the request's path, and must show no secret of its query.",
            harm: "Otherwise nobody finds the wrong call in the logs, or its tokens stay in the logs.",
            repair: "Let request.validate() throw its error, or make the error with request.summary."
        ) { bench in
            let request = try bench.request("/path?token=hush&x=1", fields: ["X-A": "\r\n"])
            try await expectNameWithoutSecret { _ = try await bench.send(request) }
        },
    ]

    static func expectNameWithoutSecret(_ call: () async throws -> Void) async throws {
        do {
            try await call()
        } catch {
            var dumped = ""
            dump(error, to: &dumped)
            let text = "\(error) \(String(reflecting: error)) \(dumped)"
            try expect(text.contains("/path"), "The error doesn't name the request: \(error).")
            return try expect(!text.contains("hush"), "The error shows a secret of the query.")
        }
        throw RuleObservation(description: "The call succeeded.")
    }
}
