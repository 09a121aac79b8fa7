internal import Foundation
internal import InterceptorsCore

// Content of requests from files and streams.
extension TransportConformance {
    static let uploadLaws: [Law] = [
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
                    try expect(received?.headerFields[.transferEncoding], is: nil, "Transfer-Encoding of \(method)")
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
            try await expectFailure(.bodyNotReplayable) {
                _ = try await bench.send(try bench.request("/", .post, body: body))
            }
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
                try await expectFailure(.bodySourceFailed) {
                    _ = try await bench.send(try bench.request("/", .post, body: body))
                }
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
                try await expectFailure(.bodyLengthMismatch) {
                    _ = try await bench.send(try bench.request("/", .post, body: body))
                }
            }
            try expect(
                bench.server.requests.isEmpty,
                "The server received a body of another length than announced as complete."
            )
        },
    ]
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
