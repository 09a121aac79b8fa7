internal import Foundation

extension TransportConformance {
    static let responseLaws: [Law] = [
        // The heads of responses.
        Law("everyStatusIsAResponseWithItsContent", repair: "Throw for failed transfers only.") { bench in
            for code in [200, 299, 300, 400, 401, 404, 407, 418, 500, 503, 599, 799, 999] {
                guard let status = HTTPResponse.Status(code: code) else { continue }
                bench.server.on(.get, "/status", .status(status, body: "content"))
                let response = try await bench.send(try bench.request("/status"))
                try expect(response.status.code, is: code, "The status")
                if code != 300 { try expect(try await bench.text(response), is: "content", "The content of \(code)") }
            }
        },
        Law("statusesWithoutContentHaveNone", repair: "Read no content after 204, 205 and 304.") { bench in
            for status in [HTTPResponse.Status(integerLiteral: 204), 205, 304] {
                try await bench.inEachMode { mode in
                    bench.server.enqueue(.status(status))
                    let response = try await bench.send(try bench.request(mode: mode))
                    try expect(response.status, is: status, "The status")
                    try expect(try await bench.text(response), is: "", "The content of \(status)")
                }
            }
        },
        Law("headHasFieldsButNoContent", repair: "Read no content after HEAD, and expect none.") { bench in
            bench.server.enqueue(.status(200, headers: ["X-A": "b"], body: "1234567"))
            let response = try await bench.send(try bench.request("/", .head))
            try expect(response.headers["X-A"], is: "b", "The field X-A")
            try expect(response.headers[.contentLength], is: "7", "Content-Length")
            try expect(try await bench.text(response), is: "", "The content")
        },
        Law(
            "interimResponsesAreNotTakenForTheFinalOne",
            repair: "Start a new head after each interim response.",
            for: [.connections]
        ) { bench in
            bench.server.enqueue(
                StubAnswer.status(200, headers: ["X-A": "final"], body: "ok")
                    .preceded(byInterim: 103, headers: [.link: "</a.css>"])
                    .preceded(byInterim: 100)
            )
            let response = try await bench.send(try bench.request())
            try expect(response.status, is: 200, "The status")
            try expect(response.headers["X-A"], is: "final", "The field X-A")
            try expect(!response.headers.contains(.link), "The final response has a field of an interim response.")
        },
        Law("trailersAreNotTakenForFields", repair: "Keep trailer fields apart.", for: [.connections]) { bench in
            bench.server.enqueue(.stream([Data("ok".utf8)], trailers: ["X-Trailer": "1"], headers: ["X-A": "b"]))
            let response = try await bench.send(try bench.request(), expecting: "ok")
            try expect(response.headers["X-A"], is: "b", "The field X-A")
            try expect(response.headers["X-Trailer"], is: nil, "The trailer among the fields")
        },
        Law("repeatedFieldsStayApart", repair: "Never go through a dictionary.", for: [.repeatedFields]) { bench in
            let sent: HTTPFields = ["X-Many": "1", "X-Other": "x", "X-Many": "2"]
            bench.server.enqueue(
                StubAnswer.status(200, headers: [.setCookie: "a=1", "X-Many": "1", .setCookie: "b=2", "X-Many": "2"])
            )
            let response = try await bench.send(try bench.request(fields: sent))
            let received = try await bench.firstReceived()
            try expect(received.headers[values: "X-Many"], is: ["1", "2"], "X-Many at the server")
            try expect(response.headers[values: "X-Many"], is: ["1", "2"], "X-Many of the response")
            try expect(response.headers[values: .setCookie], is: ["a=1", "b=2"], "Set-Cookie")
            try expect(
                received.headers.contains { $0.name.rawName == "X-Other" },
                "The spelling of a field's name changed."
            )
        },
        // The content of responses.
        Law("chunkedContentIsPutTogether", repair: "Remove the framing, and append each chunk's bytes.") { bench in
            try await bench.inEachMode { mode in
                bench.server.enqueue(.stream([Data("one ".utf8), Data("two ".utf8), Data("three".utf8)]))
                try await bench.send(try bench.request(mode: mode), expecting: "one two three")
            }
        },
        Law(
            "everyRequestedCodingIsDecoded",
            repair: "Ask only for codings that you decode, and remove both fields when you decode.",
            for: [.connections]
        ) { bench in
            bench.server.on(.get, "/ask", .status(200))
            _ = try await bench.send(try bench.request("/ask"))
            let asked = try await bench.firstReceived().headers[.acceptEncoding] ?? ""
            for (coding, bytes) in codings where asked.contains(coding) {
                try await bench.inEachMode { mode in
                    bench.server.enqueue(.status(200, headers: [.contentEncoding: coding, "X-A": "b"], body: bytes))
                    let response = try await bench.send(try bench.request(mode: mode))
                    try expect(try await bench.text(response), is: "hello hello hello", "The content in \(coding)")
                    try expect(response.headers[.contentEncoding], is: nil, "Content-Encoding")
                    try expect(response.headers[.contentLength], is: nil, "Content-Length")
                    try expect(response.headers["X-A"], is: "b", "The field X-A")
                }
            }
        },
        Law("aPartIsAskedForWithoutCoding", repair: "Ask for no coding with Range.", for: [.connections]) { bench in
            bench.server.on(.get, "/", .status(206, headers: [.contentRange: "bytes 1-2/9"], body: "ar"))
            let fields: HTTPFields = [.range: "bytes=1-2"]
            try await bench.send(try bench.request(fields: fields), expecting: "ar")
            let asked = try await bench.firstReceived().headers
            try expect(asked[.acceptEncoding], is: "identity", "Accept-Encoding")
            try expect(asked[.range], is: "bytes=1-2", "Range")
        },
        Law(
            "contentMayEndWithItsConnection",
            repair: "Treat the end of the connection as the end of such content (RFC 9112 §6.3).",
            for: [.connections]
        ) { bench in
            try await bench.inEachMode { mode in
                bench.server.enqueue(.untilClose(Data("to the end".utf8)))
                try await bench.send(try bench.request(mode: mode), expecting: "to the end")
            }
        },
        Law(
            "aHeadThatTellsOfContentElsewhereHasNone",
            repair: "Decode and count content only where content follows.",
            for: [.connections]
        ) { bench in
            let fields = "Content-Length: 5000\r\nContent-Encoding: gzip\r\n\r\n"
            let heads: [(HTTPRequest.Method, String)] = [(.head, "200 OK"), (.get, "304 Not Modified")]
            try await bench.inEachMode { mode in
                for (method, status) in heads {
                    bench.server.enqueue(.raw(Data("HTTP/1.1 \(status)\r\n\(fields)".utf8)))
                    let limited = mode == .streamed ? mode : .buffered(upTo: 1000)
                    let response = try await bench.send(try bench.request("/", method, mode: limited))
                    try expect(response.body.length, is: 0, "The length of the content")
                    try expect(try await bench.text(response), is: "", "The content")
                    try expect(response.headers[.contentLength], is: "5000", "Content-Length")
                    try expect(response.headers[.contentEncoding], is: "gzip", "Content-Encoding")
                }
            }
        },
        Law("aStreamBeginsBeforeItsEnd", repair: "Return the response at its head.", for: [.responseStreams]) { bench in
            bench.server.enqueue(.stallInBody(after: Data("first".utf8), of: 10))
            let response = try await bench.send(try bench.request(mode: .streamed))
            var iterator = response.body.makeAsyncIterator()
            var beginning = Data()
            while beginning.count < 5, let chunk = try await bench.next(&iterator) { beginning += chunk }
            try expect(String(decoding: beginning, as: UTF8.self), is: "first", "The beginning of the content")
        },
        Law("progressIsReported", repair: "Report all bytes at the end too.", for: [.progress]) { bench in
            for (up, down) in [(150_000, 200_000), (5, 7)] {
                let (lastUp, lastDown) = (Guarded<TransferProgress?>(nil), Guarded<TransferProgress?>(nil))
                bench.server.on(.put, "/", .status(200, body: String(repeating: "a", count: down)))
                var request = try bench.request("/", .put, body: HTTPBody(Data(count: up)))
                request.context.uploadProgress = { progress in lastUp.change { $0 = progress } }
                request.context.downloadProgress = { progress in lastDown.change { $0 = progress } }
                _ = try await bench.send(request)
                try expect(lastUp.value, is: whole(up), "The last progress of the upload")
                try expect(lastDown.value, is: whole(down), "The last progress of the download")
            }
        },
        // The parts of a response before and after its head and content.
        Law(
            "trailersAreKnownWithTheContent",
            repair: "Keep the fields after the content apart, and set HTTPContext.trailers, to empty fields too.",
            for: [.connections, .trailers]
        ) { bench in
            let sent: HTTPFields = ["X-Trailer": "1", "Server-Timing": "db;dur=53", "x-trailer": "2"]
            bench.server.enqueue(.stream([Data("ok".utf8)], trailers: sent), .stream([Data("ok".utf8)]), .text("ok"))
            let expected: [HTTPFields] = [sent, [:], [:]]
            for fields in expected {
                let response = try await bench.send(try bench.request(), expecting: "ok")
                try expect(trailers(of: response), is: fields, "The fields of the trailers")
            }
        },
        Law(
            "theTrailersOfAStreamComeWithItsEnd",
            repair: "Set HTTPContext.trailers to pending ones with the head, and receive the fields before the end.",
            for: [.connections, .trailers, .responseStreams]
        ) { bench in
            let sent: HTTPFields = ["X-Trailer": "1"]
            bench.server.enqueue(.stream([Data("one".utf8), Data("two".utf8)], trailers: sent))
            let response = try await bench.send(try bench.request(mode: .streamed))
            try expect(trailers(of: response), is: nil, "The trailers before the content")
            var iterator = response.body.makeAsyncIterator()
            var count = 0
            while count < 6, let chunk = try await bench.next(&iterator) { count += chunk.count }
            try expect(trailers(of: response), is: nil, "The trailers before the end")
            try await bench.drain(&iterator)
            try expect(trailers(of: response), is: sent, "The trailers at the end")
        },
        Law(
            "fieldsThatATrailerMustNotHoldAreDropped",
            repair: "Pass the fields through HTTPTrailers, and never merge them into the head (RFC 9110 §6.5.1).",
            for: [.connections, .trailers]
        ) { bench in
            let forbidden: HTTPFields = [.setCookie: "a=b", .contentType: "text/html", .contentLength: "9", "X-A": "1"]
            bench.server.enqueue(.stream([Data("ok".utf8)], trailers: forbidden))
            let response = try await bench.send(try bench.request(), expecting: "ok")
            try expect(trailers(of: response), is: ["X-A": "1"], "The trailers")
            for name in [HTTPField.Name.setCookie, .contentType, .contentLength] {
                try expect(response.headers[name], is: nil, "The field \(name)")
            }
        },
        Law(
            "interimResponsesAreTold",
            repair: "Call the closure of HTTPContext.interim with each head from 100 to 199, except 101.",
            for: [.connections, .interimResponses]
        ) { bench in
            try await bench.inEachMode { mode in
                bench.server.enqueue(
                    StubAnswer.text("ok")
                        .preceded(byInterim: 103, headers: [.link: "</b.css>"])
                        .preceded(byInterim: 103, headers: [.link: "</a.css>"])
                        .preceded(byInterim: 102)
                )
                let told = Guarded<[String]>([])
                var request = try bench.request(mode: mode)
                request.context.interim = { head in
                    let link = head.headers[.link].map { " \($0)" } ?? ""
                    told.change { $0.append("\(head.status.code)\(link)") }
                }
                let response = try await bench.send(request)
                let expected = ["102", "103 </a.css>", "103 </b.css>"]
                try expect(told.value, is: expected, "The list of interim responses")
                try expect(try await bench.text(response), is: "ok", "The content")
            }
        },
        Law(
            "endlessInterimResponsesAreAnError",
            repair: "Count the interim responses of an exchange, and end the exchange at a limit.",
            for: [.connections, .interimResponses]
        ) { bench in
            let steps = [MockServer.Step.send(Data("HTTP/1.1 102 Processing\r\n\r\n".utf8), times: 10_000)]
            bench.server.enqueue(.text("ok").preceded(by: steps))
            try await expectFailure([.invalidResponse]) {
                var request = try bench.request()
                request.context.interim = { _ in }
                _ = try await bench.send(request)
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

    /// The trailers; `nil` before they are known.
    private static func trailers(of response: HTTPResponse) throws -> HTTPFields? {
        do {
            return try response.trailers
        } catch let error as any HTTPError where error.code == .trailersNotReceived {
            return nil
        }
    }
}
