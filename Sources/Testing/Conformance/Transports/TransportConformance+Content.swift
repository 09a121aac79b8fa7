internal import Foundation
internal import InterceptorsCore

// The content of responses.
extension TransportConformance {
    static let contentLaws: [Law] = [
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
            let asked = try await bench.firstReceived().headerFields[.acceptEncoding] ?? ""
            for (coding, bytes) in codings where asked.contains(coding) {
                try await bench.inEachMode { mode in
                    bench.server.enqueue(.status(200, headers: [.contentEncoding: coding, "X-A": "b"], body: bytes))
                    let response = try await bench.send(try bench.request(mode: mode))
                    try expect(try await bench.text(response), is: "hello hello hello", "The content in \(coding)")
                    try expect(response.headerFields[.contentEncoding], is: nil, "Content-Encoding")
                    try expect(response.headerFields[.contentLength], is: nil, "Content-Length")
                    try expect(response.headerFields["X-A"], is: "b", "The field X-A")
                }
            }
        },
        Law("aPartIsAskedForWithoutCoding", repair: "Ask for no coding with Range.", for: [.connections]) { bench in
            bench.server.on(.get, "/", .status(206, headers: [.contentRange: "bytes 1-2/9"], body: "ar"))
            let fields: HTTPFields = [.range: "bytes=1-2"]
            try await bench.send(try bench.request(fields: fields), expecting: "ar")
            let asked = try await bench.firstReceived().headerFields
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
                    try expect(response.headerFields[.contentLength], is: "5000", "Content-Length")
                    try expect(response.headerFields[.contentEncoding], is: "gzip", "Content-Encoding")
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
}
