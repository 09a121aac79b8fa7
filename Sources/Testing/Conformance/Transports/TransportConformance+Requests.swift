internal import Foundation
internal import InterceptorsCore

// The rules about the requests that a server gets.
extension TransportConformance {
    static let requestLaws: [Law] = [
        Law("sendsMethodTargetFieldsAndBody", repair: "Copy the request as it is; set HTTPResponse.url.") { bench in
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
        Law("aFragmentIsNotSent", repair: "Build the target from path and query.", for: [.connections]) { bench in
            bench.server.on(.get, "/**", .status(200))
            _ = try await bench.send(try bench.request("/a?b=c#secret"))
            try expect(try await bench.firstReceived().target, is: "/a?b=c", "The target")
        },
        Law("aForbiddenRequestIsNotSent", repair: "Call request.validate() first.") { bench in
            try await bench.inEachMode { mode in
                var request = try bench.request("/", .post, body: "content", mode: mode)
                request.context.sendingForbidden = "The program is offline."
                try await expectFailure(.sendingForbidden) { _ = try await bench.send(request) }
            }
            try expect(bench.server.requests.count, is: 0, "The number of requests at the server")
            try expect(bench.server.connectionsOpened, is: 0, "The number of connections")
        },
        Law("injectedFieldsAreRefusedBeforeAnythingIsSent", repair: "Call request.validate() first.") { bench in
            for fields in [["X-A": "1\r\nEvil: 1"], ["X-A": "a\0b"], ["X A": "1"], ["": "1"]] as [HTTPFields] {
                try await expectFailure(.invalidRequest) { _ = try await bench.send(try bench.request(fields: fields)) }
            }
            try expect(bench.server.connectionsOpened, is: 0, "The number of connections")
            try expect(bench.server.requests.count, is: 0, "The number of requests at the server")
        },
        Law("onlyHTTPIsSpoken", repair: "Call request.validate(), and allow HTTP and HTTPS only.") { bench in
            for text in ["ftp://127.0.0.1/x", "file:///etc/hostname", "/relative", "gopher://127.0.0.1", "http:///x"] {
                guard let url = URL(string: text) else { continue }
                try await expectFailure(.unsupportedURL) { _ = try await bench.send(HTTPRequest(url: url)) }
            }
        },
        Law("refusalsNameTheRequestWithoutItsSecrets", repair: "Make the error with request.summary.") { bench in
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
        throw RuleObservation("The call succeeded.")
    }
}
