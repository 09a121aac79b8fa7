internal import Foundation
internal import InterceptorsCore

// The heads of responses.
extension TransportConformance {
    static let responseLaws: [Law] = [
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
            try expect(response.headerFields["X-A"], is: "b", "The field X-A")
            try expect(response.headerFields[.contentLength], is: "7", "Content-Length")
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
            try expect(response.headerFields["X-A"], is: "final", "The field X-A")
            try expect(!response.headerFields.contains(.link), "The final response has a field of an interim response.")
        },
        Law("trailersAreNotTakenForFields", repair: "Keep trailer fields apart.", for: [.connections]) { bench in
            bench.server.enqueue(.stream([Data("ok".utf8)], trailers: ["X-Trailer": "1"], headers: ["X-A": "b"]))
            let response = try await bench.send(try bench.request(), expecting: "ok")
            try expect(response.headerFields["X-A"], is: "b", "The field X-A")
            try expect(response.headerFields["X-Trailer"], is: nil, "The trailer among the fields")
        },
        Law("repeatedFieldsStayApart", repair: "Never go through a dictionary.", for: [.repeatedFields]) { bench in
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
