internal import Foundation
internal import InterceptorsCore

// The heads of responses.
extension TransportConformance {
    static let responseLaws: [Law] = [
        Law(
            "everyStatusIsAResponseWithItsContent",
            expected: "Every three-digit status must be returned as a response with its content.",
            harm: "Otherwise the message of a failed request is lost, and its callers can't react to the status.",
            repair: "Throw for failures of the transfer only, and leave the status to interceptors."
        ) { bench in
            for code in [200, 299, 300, 400, 401, 404, 407, 418, 500, 503, 599, 799, 999] {
                guard let status = HTTPResponse.Status(code: code) else { continue }
                bench.server.on(.get, "/status", .status(status, body: "content"))
                let response = try await bench.send(try bench.request("/status"))
                try expect(response.status.code, is: code, "The status")
                if code != 300 { try expect(try await bench.text(response), is: "content", "The content of \(code)") }
            }
        },
        Law(
            "statusesWithoutContentHaveNone",
            expected: "A response with 204, 205 or 304 must be returned with an empty body.",
            harm: "Otherwise the call waits for content that never comes.",
            repair: "Decide by the method and the status whether content follows (RFC 9112 §6.3)."
        ) { bench in
            for status in [HTTPResponse.Status(integerLiteral: 204), 205, 304] {
                try await bench.inEachMode { mode in
                    bench.server.enqueue(.status(status))
                    let response = try await bench.send(try bench.request(mode: mode))
                    try expect(response.status, is: status, "The status")
                    try expect(try await bench.text(response), is: "", "The content of \(status)")
                }
            }
        },
        Law(
            "headHasFieldsButNoContent",
            expected: "A response to HEAD must keep its fields, Content-Length too, and have an empty body.",
            harm: "Otherwise a program that asks for a file's size waits for ever or gets 0.",
            repair: "Read no content after HEAD, and don't treat the missing bytes as truncation."
        ) { bench in
            bench.server.enqueue(.status(200, headers: ["X-A": "b"], body: "1234567"))
            let response = try await bench.send(try bench.request("/", .head))
            try expect(response.headerFields["X-A"], is: "b", "The field X-A")
            try expect(response.headerFields[.contentLength], is: "7", "Content-Length")
            try expect(try await bench.text(response), is: "", "The content")
        },
        Law(
            "interimResponsesAreNotTakenForTheFinalOne",
            expected: "Responses 100 to 199 must be skipped, and their fields must not appear on the final response.",
            harm: "Otherwise the caller gets an empty 103 in place of the answer.",
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
            try expect(response.headerFields["X-A"], is: "final", "The field X-A")
            try expect(!response.headerFields.contains(.link), "The final response has a field of an interim response.")
        },
        Law(
            "trailersAreNotTakenForFields",
            expected: "Fields after chunked content must not appear among the response's fields (RFC 9110 §6.5.1).",
            harm: "Otherwise a server behind a proxy can change fields that were already acted on.",
            repair: "Drop trailer fields, or keep them apart.",
            for: [.connections]
        ) { bench in
            bench.server.enqueue(.stream([Data("ok".utf8)], trailers: ["X-Trailer": "1"], headers: ["X-A": "b"]))
            let response = try await bench.send(try bench.request())
            try expect(try await bench.text(response), is: "ok", "The content")
            try expect(response.headerFields["X-A"], is: "b", "The field X-A")
            try expect(response.headerFields["X-Trailer"], is: nil, "The trailer among the fields")
        },
        Law(
            "repeatedFieldsStayApart",
            expected: "Fields with the same name must stay separate and in order, on the request and on the response.",
            harm: "Otherwise two Set-Cookie fields become one broken cookie.",
            repair: "Add each field as a separate line; never go through a dictionary.",
            for: [.repeatedFields]
        ) { bench in
            let sent: HTTPFields = ["X-Many": "1", "X-Other": "x", "X-Many": "2"]
            bench.server.enqueue(
                StubAnswer.status(200, headers: [.setCookie: "a=1", "X-Many": "1", .setCookie: "b=2", "X-Many": "2"])
            )
            let response = try await bench.send(try bench.request(fields: sent))
            let received = try await bench.firstReceived()
            try expect(received.headerFields[values: "X-Many"], is: ["1", "2"], "X-Many at the server")
            try expect(response.headerFields[values: "X-Many"], is: ["1", "2"], "X-Many of the response")
            try expect(response.headerFields[values: .setCookie], is: ["a=1", "b=2"], "Set-Cookie")
            try expect(
                received.headerFields.contains { $0.name.rawName == "X-Other" },
                "The spelling of a field's name changed."
            )
        },
    ]
}
