internal import Foundation
internal import Interceptors
internal import Synchronization

extension TransportConformance {
    static let bodyRules: [Rule] = [
        rule("sendsStreamsAndFiles") { bench in
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
            let received = await bench.server.requests(atLeast: bodies.count)
            for (body, request) in zip(bodies, received) {
                try expect(request.body == content, "\(body) arrived changed")
            }
        },
        rule("anEmptyFileOrStreamIsNoContent") { bench in
            bench.server.on(nil, "/", .status(200))
            let file = FileManager.default.temporaryDirectory.appending(path: "conformance-\(UUID().uuidString)")
            try Data().write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            for method in [HTTPRequest.Method.get, .head, .post, .put, .delete] {
                for body in [try HTTPBody(file: file), .restartable(length: 0) { chunks(of: Data()) }, .empty] {
                    let response = try await bench.send(try bench.request("/", method, body: body))
                    try expect(response.status, is: 200, "status")
                    let received = bench.server.requests.last
                    try expect(received?.method, is: method, "method with \(body)")
                    try expect(received?.body, is: Data(), "content of \(method)")
                    try expect(received?.headerFields[.transferEncoding], is: nil, "Transfer-Encoding of \(method)")
                }
            }
        },
        rule("aOneShotBodyIsNotSentTwice") { bench in
            bench.server.on(.post, "/", .status(200))
            let body = HTTPBody.oneShot(chunks(of: Data("once".utf8)))
            _ = try await bench.send(try bench.request("/", .post, body: body))
            try await expectFailure(.bodyNotReplayable) {
                _ = try await bench.send(try bench.request("/", .post, body: body))
            }
            try expect(bench.server.requests.count, is: 1, "requests that reached the server")
        },
        rule("aBodyThatFailsFailsTheCall") { bench in
            bench.server.on(.post, "/", .status(200))
            struct Broken: Error {}
            let stream = AsyncThrowingStream<Data, any Error> { continuation in
                continuation.yield(Data("begin".utf8))
                continuation.finish(throwing: Broken())
            }
            do {
                _ = try await bench.send(try bench.request("/", .post, body: .oneShot(stream)))
            } catch is Broken {
                return
            } catch let error as TransportError where error.underlying is Broken {
                return
            }
            throw Violation(description: "The call went on with half a body.")
        },
        rule("theErrorOfABodysOwnRequestIsNotTheExchanges") { bench in
            bench.server.on(.post, "/", .status(200))
            for failure in [
                SourceError(code: .connectionLost, request: HTTPRequest(url: bench.server.url).summary),
                SourceError(code: .unacceptedStatus, response: HTTPResponse(status: 429)),
            ] {
                let stream = AsyncThrowingStream<Data, any Error> { continuation in
                    continuation.yield(Data("begin".utf8))
                    continuation.finish(throwing: failure)
                }
                try await expectFailure(.bodySourceFailed) {
                    _ = try await bench.send(try bench.request("/", .post, body: .oneShot(stream)))
                }
            }
        },
        rule("aBodyThatIsNotAsLongAsAnnouncedFailsTheCall") { bench in
            bench.server.on(.post, "/", .status(200))
            for length in [3, 7] as [Int64] {
                let body = HTTPBody.oneShot(chunks(of: Data("12345".utf8)), length: length)
                try await expectFailure(.bodyLengthMismatch) {
                    _ = try await bench.send(try bench.request("/", .post, body: body))
                }
            }
            try expect(bench.server.requests.isEmpty, "a body of another length than announced was taken for whole")
        },
        rule("chunkedContentIsPutTogether") { bench in
            try await bench.inBothModes { mode in
                bench.server.enqueue(.stream([Data("one ".utf8), Data("two ".utf8), Data("three".utf8)]))
                let response = try await bench.send(try bench.request(mode: mode))
                try expect(try await bench.text(response), is: "one two three", "content")
            }
        },
        wireRule("whateverCodingIsAskedForIsDecoded") { bench in
            bench.server.on(.get, "/ask", .status(200))
            _ = try await bench.send(try bench.request("/ask"))
            let asked = await bench.server.requests(atLeast: 1).first?.headerFields[.acceptEncoding] ?? ""
            for (coding, bytes) in codings where asked.contains(coding) {
                try await bench.inBothModes { mode in
                    bench.server.enqueue(.status(200, headers: [.contentEncoding: coding, "X-A": "b"], body: bytes))
                    let response = try await bench.send(try bench.request(mode: mode))
                    try expect(try await bench.text(response), is: "hello hello hello", "content in \(coding)")
                    try expect(response.headerFields[.contentEncoding], is: nil, "Content-Encoding")
                    try expect(response.headerFields[.contentLength], is: nil, "Content-Length")
                    try expect(response.headerFields["X-A"], is: "b", "another field")
                }
            }
        },
        wireRule("aPartIsAskedForWithoutCoding") { bench in
            bench.server.on(.get, "/", .status(206, headers: [.contentRange: "bytes 1-2/9"], body: "ar"))
            let fields: HTTPFields = [.range: "bytes=1-2"]
            let response = try await bench.send(try bench.request(fields: fields))
            try expect(try await bench.text(response), is: "ar", "content")
            let asked = await bench.server.requests(atLeast: 1).first?.headerFields
            try expect(asked?[.acceptEncoding], is: "identity", "Accept-Encoding")
            try expect(asked?[.range], is: "bytes=1-2", "Range")
        },
        wireRule("contentMayEndWithItsConnection") { bench in
            try await bench.inBothModes { mode in
                bench.server.enqueue(.untilClose(Data("to the end".utf8)))
                let response = try await bench.send(try bench.request(mode: mode))
                try expect(try await bench.text(response), is: "to the end", "content")
            }
        },
        wireRule("bytesBeyondTheContentAreNotTheNextResponse") { bench in
            bench.server.enqueue(
                .wrongContentLength(announced: 2, body: "okHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
            )
            bench.server.enqueue(.status(200, body: "good"))
            let first = try await bench.send(try bench.request())
            try expect(try await bench.text(first), is: "ok", "content")
            let second = try await bench.send(try bench.request())
            try expect(try await bench.text(second), is: "good", "content of the next response")
        },
        rule("aStreamBeginsBeforeItsEnd") { bench in
            bench.server.enqueue(.stallInBody(after: Data("first".utf8), of: 10))
            let response = try await bench.send(try bench.request(mode: .streamed))
            var iterator = response.body.makeAsyncIterator()
            try expect(try await iterator.next(), is: Data("first".utf8), "the first chunk")
            response.body.discard()
            await bench.server.closedConnections(1)
        },
        rule("aBufferedResponseKeepsToItsLimit") { bench in
            bench.server.enqueue(.status(200, body: String(repeating: "a", count: 1000)))
            _ = try await bench.send(try bench.request(mode: .buffered(upTo: 1000)))
            for answer in [
                MockResponse.status(200, body: String(repeating: "a", count: 1001)), .stream([Data(count: 1001)]),
            ] {
                bench.server.enqueue(answer)
                try await expectFailure(.bodyTooLarge) {
                    _ = try await bench.send(try bench.request(mode: .buffered(upTo: 1000)))
                }
            }
        },
        wireRule("aHeadThatTellsOfContentElsewhereHasNone") { bench in
            let fields = "Content-Length: 5000\r\nContent-Encoding: gzip\r\n\r\n"
            let heads: [(HTTPRequest.Method, String)] = [(.head, "200 OK"), (.get, "304 Not Modified")]
            for mode in [ResponseBodyMode.buffered(upTo: 1000), .streamed] {
                for (method, status) in heads {
                    bench.server.enqueue(.raw(Data("HTTP/1.1 \(status)\r\n\(fields)".utf8)))
                    let response = try await bench.send(try bench.request("/", method, mode: mode))
                    try expect(response.body.length, is: 0, "length of the content")
                    try expect(try await bench.text(response), is: "", "content")
                    try expect(response.headerFields[.contentLength], is: "5000", "Content-Length")
                    try expect(response.headerFields[.contentEncoding], is: "gzip", "Content-Encoding")
                }
            }
        },
        rule("progressIsTold") { bench in
            for (up, down) in [(150_000, 200_000), (5, 7)] {
                let seen = Mutex<(up: TransferProgress?, down: TransferProgress?)>((nil, nil))
                bench.server.on(.put, "/", .status(200, body: String(repeating: "a", count: down)))
                var request = try bench.request("/", .put, body: HTTPBody(Data(count: up)))
                let shared = Shared(seen)
                request.context.uploadProgress = { progress in shared.value.withLock { $0.up = progress } }
                request.context.downloadProgress = { progress in shared.value.withLock { $0.down = progress } }
                _ = try await bench.send(request)
                let last = shared.value.withLock { $0 }
                try expect(last.up, is: whole(up), "upload progress")
                try expect(last.down, is: whole(down), "download progress")
            }
        },
    ]

    /// "hello hello hello" in the common content codings, each with its name.
    private static var codings: [(name: String, bytes: Data)] {
        let plain = Array("hello hello hello".utf8)
        let deflated: [UInt8] = [0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0xC8, 0x40, 0x90, 0x00]
        let gzip: [UInt8] =
            [0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03] + deflated
            + [0x80, 0x88, 0xF9, 0xE5, 0x11, 0x00, 0x00, 0x00]
        // RFC 7932 §9.2: an uncompressed block, then an empty last block.
        let brotli: [UInt8] = [0x00, 0x01, 0x10] + plain + [0x03]
        // RFC 8878 §3.1.1: a frame of one raw block.
        let zstd: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x20, 0x11, 0x89, 0x00, 0x00] + plain
        return [("gzip", Data(gzip)), ("br", Data(brotli)), ("zstd", Data(zstd))]
    }

    private static func whole(_ count: Int) -> TransferProgress {
        TransferProgress(completed: Int64(count), total: Int64(count))
    }

    private static func chunks(of content: Data) -> AsyncStream<Data> {
        AsyncStream { continuation in
            for start in stride(from: 0, to: content.count, by: 50_000) {
                continuation.yield(content[start..<min(start + 50_000, content.count)])
            }
            continuation.finish()
        }
    }

    private final class Shared<Value: ~Copyable & Sendable>: Sendable {
        let value: Value
        init(_ value: consuming Value) { self.value = value }
    }
}

/// The error of a request that the source of a body sent.
private struct SourceError: HTTPError {
    let code: HTTPErrorCode
    let message = "The source's own request failed."
    var request: HTTPRequest.Summary?
    var response: HTTPResponse?
    var context = HTTPContext()
}
