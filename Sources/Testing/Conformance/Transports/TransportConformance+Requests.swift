internal import Foundation

extension TransportConformance {
    static let requestLaws: [Law] = [
        // The rules about the requests that a server gets.
        Law("sendsMethodTargetFieldsAndBody", repair: "Copy the request as it is; set HTTPResponse.url.") { bench in
            bench.server.enqueue(.status(201, headers: ["X-Answer": "42"], body: "made"))
            let request = try bench.request("/a%20b?x=1&y=%2B", .post, fields: [.contentType: "text/x"], body: "hello")
            let response = try await bench.send(request)
            let received = try await bench.firstReceived()
            try expect(received.method, is: .post, "The method")
            try expect(received.target, is: "/a%20b?x=1&y=%2B", "The target")
            try expect(received.headers[.contentType], is: "text/x", "Content-Type")
            try expect(received.text, is: "hello", "The request's content")
            try expect(response.status, is: 201, "The status")
            try expect(response.headers["x-answer"], is: "42", "The response's field X-Answer")
            try expect(response.url, is: request.url, "HTTPResponse.url")
            try expect(try await bench.text(response), is: "made", "The response's content")
        },
        Law("aFragmentIsNotSent", repair: "Build the target from path and query.", for: [.connections]) { bench in
            bench.server.on(.get, "/**", .status(200))
            _ = try await bench.send(try bench.request("/a?b=c#secret"))
            try expect(try await bench.firstReceived().target, is: "/a?b=c", "The target")
        },
        Law("aForbiddenRequestIsNotSent", repair: "Call request.validate() first.") { bench in
            try await bench.inEachMode { mode in
                var request = try bench.request("/", .post, body: "content", mode: mode)
                request.context.sendingForbidden = "The program is offline."
                try await bench.send(request, failingWith: .sendingForbidden)
            }
            try expect(bench.server.requests.count, is: 0, "The number of requests at the server")
            try expect(bench.server.connectionsOpened, is: 0, "The number of connections")
        },
        Law("injectedFieldsAreRefusedBeforeAnythingIsSent", repair: "Call request.validate() first.") { bench in
            for fields in [["X-A": "1\r\nEvil: 1"], ["X-A": "a\0b"], ["X A": "1"], ["": "1"]] as [HTTPFields] {
                try await bench.send(try bench.request(fields: fields), failingWith: .invalidRequest)
            }
            try expect(bench.server.connectionsOpened, is: 0, "The number of connections")
            try expect(bench.server.requests.count, is: 0, "The number of requests at the server")
        },
        Law("onlyHTTPIsSpoken", repair: "Call request.validate(), and allow HTTP and HTTPS only.") { bench in
            for text in ["ftp://127.0.0.1/x", "file:///etc/hostname", "/relative", "gopher://127.0.0.1", "http:///x"] {
                guard let url = URL(string: text) else { continue }
                try await bench.send(HTTPRequest(url: url), failingWith: .unsupportedURL)
            }
        },
        Law("refusalsNameTheRequestWithoutItsSecrets", repair: "Make the error with request.summary.") { bench in
            let request = try bench.request("/path?token=hush&x=1", fields: ["X-A": "\r\n"])
            try await expectNameWithoutSecret { _ = try await bench.send(request) }
        },
        // Content of requests from files and streams.
        Law(
            "sendsStreamsAndFiles",
            repair: "Send each chunk in order, with Content-Length if the length is known and chunked if not.",
            for: [.requestStreams]
        ) { bench in
            bench.server.on(.put, "/", .status(204))
            let content = Data(repeating: 0x61, count: 300_000)
            let file = FileManager.default.temporaryDirectory.appending(path: "conformance-\(UUID().uuidString)")
            try content.write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let bodies: [HTTPBody] = [
                HTTPBody(content),
                try HTTPBody(file: file),
                .restartable(length: Int64(content.count)) { chunks(of: content) },
                .restartable { chunks(of: content) },
                .oneShot(chunks(of: content)),
            ]
            for body in bodies { _ = try await bench.send(try bench.request("/", .put, body: body)) }
            let received = try await bench.received(atLeast: bodies.count)
            for (body, request) in zip(bodies, received) {
                try expect(request.body == content, "\(body) arrived changed.")
            }
        },
        Law("anEmptyFileOrStreamIsNoContent", repair: "Send no body if the length is 0.", for: [.requestStreams]) {
            bench in
            bench.server.on(nil, "/", .status(200))
            let file = FileManager.default.temporaryDirectory.appending(path: "conformance-\(UUID().uuidString)")
            try Data().write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            for method in [HTTPRequest.Method.get, .head, .post, .put, .delete] {
                for body in [try HTTPBody(file: file), .restartable(length: 0) { chunks(of: Data()) }, .empty] {
                    let response = try await bench.send(try bench.request("/", method, body: body))
                    try expect(response.status, is: 200, "The status")
                    let received = bench.server.requests.last
                    try expect(received?.method, is: method, "The method of a request with \(body)")
                    try expect(received?.body, is: Data(), "The content of \(method)")
                    try expect(received?.headers[.transferEncoding], is: nil, "Transfer-Encoding of \(method)")
                }
            }
        },
        Law(
            "aOneShotBodyIsNotSentTwice",
            repair: "Rethrow the error of the body's iterator, and send nothing before its first chunk is there.",
            for: [.requestStreams]
        ) { bench in
            bench.server.on(.post, "/", .status(200))
            let body = HTTPBody.oneShot(chunks(of: Data("once".utf8)))
            _ = try await bench.send(try bench.request("/", .post, body: body))
            try await bench.send(try bench.request("/", .post, body: body), failingWith: .bodyNotReplayable)
            try expect(bench.server.requests.count, is: 1, "The number of requests at the server")
        },
        Law(
            "aBodyThatFailsFailsTheCall",
            repair: "Close the connection when the body throws, and throw a TransportError over the body's error.",
            for: [.requestStreams]
        ) { bench in
            bench.server.on(.post, "/", .status(200))
            struct Broken: Error {}
            let body = ScriptedStream(Data("begin".utf8), in: 1, failingWith: Broken()).body()
            do {
                _ = try await bench.send(try bench.request("/", .post, body: body))
            } catch is Broken {
                return
            } catch let error as TransportError where error.underlying is Broken {
                return
            }
            throw RuleObservation("The call went on with half a body.")
        },
        Law(
            "theErrorOfABodysOwnRequestIsNotTheExchanges",
            repair: "Wrap the body's error as the underlying error of bodySourceFailed.",
            for: [.requestStreams]
        ) { bench in
            bench.server.on(.post, "/", .status(200))
            for failure in [
                SourceError(code: .connectionLost, request: HTTPRequest(url: bench.server.url).summary),
                SourceError(code: .unacceptedStatus, response: HTTPResponse(status: 429)),
            ] {
                let body = ScriptedStream(Data("begin".utf8), in: 1, failingWith: failure).body()
                try await bench.send(try bench.request("/", .post, body: body), failingWith: .bodySourceFailed)
            }
        },
        Law(
            "aBodyThatIsNotAsLongAsAnnouncedFailsTheCall",
            repair: "Count the bytes of the body, and close the connection when the count differs from the length.",
            for: [.requestStreams]
        ) { bench in
            bench.server.on(.post, "/", .status(200))
            for length in [3, 7] as [Int64] {
                let body = HTTPBody.oneShot(chunks(of: Data("12345".utf8)), length: length)
                try await bench.send(try bench.request("/", .post, body: body), failingWith: .bodyLengthMismatch)
            }
            try expect(
                bench.server.requests.isEmpty,
                "The server received a body of another length than announced as complete."
            )
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
        throw RuleObservation("The call succeeded.")
    }
}

/// The error of a request that the source of a body sent.
private struct SourceError: HTTPError {
    let code: HTTPErrorCode
    let message = "The source's own request failed."
    var request: HTTPRequest.Summary?
    var response: HTTPResponse?
    var underlying: (any Error)?
    var context = HTTPContext()
}
