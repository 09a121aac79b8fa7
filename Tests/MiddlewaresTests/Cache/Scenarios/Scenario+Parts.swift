import Interceptors

@testable import InterceptorsMiddlewares

// Parts of the text 0123456789. Steps without `fetch` must not reach the server.
extension Scenario {
    private static func part(
        _ place: String,
        _ body: String,
        of range: String,
        tag: String? = "\"a\"",
        _ more: [String] = [],
        age: Int = 60,
        wait: Int = 0,
        sent: [String: String] = [:]
    ) -> Step {
        let lines =
            ["Cache-Control: max-age=\(age)", "Content-Range: bytes \(place)"] + (tag.map { ["ETag: \($0)"] } ?? [])
        return .fetch(lines + more, body, status: 206, request: ["Range: bytes=\(range)"], wait: wait, sent: sent)
    }

    private static func stored(_ body: String, of range: String, _ place: String, wait: Int = 0) -> Step {
        .stored(
            "206 hit \(body)",
            request: ["Range: bytes=\(range)"],
            wait: wait,
            fields: ["Content-Range": "bytes \(place)", "Content-Length": "\(body.utf8.count)"]
        )
    }

    /// The request for the rest must ask for it alone, and the caller gets everything.
    private static func completed(
        _ asked: String,
        _ place: String,
        _ body: String,
        tag: String = "\"a\"",
        _ more: [String] = [],
        wait: Int = 0,
        fields: [String: String] = [:]
    ) -> Step {
        .fetch(
            ["Cache-Control: max-age=60", "Content-Range: bytes \(place)", "ETag: \(tag)"] + more,
            body,
            status: 206,
            wait: wait,
            sent: ["Range": "bytes=\(asked)", "If-Range": tag, "If-None-Match": ""],
            as: "200 miss 0123456789",
            fields: fields.merging(["Content-Range": "", "Content-Length": "10"]) { own, _ in own }
        )
    }

    private static let all = Step.stored("200 hit 0123456789", fields: ["Content-Range": "", "Content-Length": "10"])

    /// RFC 9111 §3.3, §3.4; RFC 9110 §15.3.7.3. The first five are those of the public cache tests, with ranges that fit the
    /// content, and a validator.
    static let parts: [Scenario] =
        [
            Scenario(
                "a part answers the same request",
                part("5-9/10", "56789", of: "-5"),
                stored("56789", of: "-5", "5-9/10")
            ),
            Scenario(
                "a part answers a smaller range",
                part("5-9/10", "56789", of: "-5"),
                stored("678", of: "6-8", "6-8/10")
            ),
            Scenario(
                "a part answers a range to the end",
                part("5-9/10", "56789", of: "-5"),
                stored("6789", of: "6-", "6-9/10")
            ),
            Scenario(
                "a part answers the last byte",
                part("5-9/10", "56789", of: "-5"),
                stored("9", of: "-1", "9-9/10")
            ),
            Scenario(
                "a part is completed by a request for the rest",
                part("0-4/10", "01234", of: "0-4"),
                completed(
                    "5-",
                    "5-9/10",
                    "56789",
                    ["X: new"],
                    fields: ["X": "new", "Cache-Status": "Interceptors; fwd=partial; fwd-status=206; stored"]
                ),
                all,
                stored("345", of: "3-5", "3-5/10")
            ),
            Scenario(
                "a missing beginning is requested",
                part("6-9/10", "6789", of: "-4"),
                completed("0-5", "0-5/10", "012345"),
                all
            ),
            Scenario(
                "a gap is requested",
                part("0-2/10", "012", of: "0-2"),
                part("7-9/10", "789", of: "7-", sent: ["Range": "bytes=7-", "If-Range": ""]),
                completed("3-6", "3-6/10", "3456"),
                all
            ),
            Scenario(
                "parts side by side answer a range across them",
                part("0-4/10", "01234", of: "0-4"),
                part("5-7/10", "567", of: "5-7"),
                stored("34567", of: "3-7", "3-7/10"),
                part("7-9/10", "789", of: "6-9"),
                all
            ),
            Scenario(
                "a range that isn't stored goes to the server as it is",
                part("0-4/10", "01234", of: "0-4"),
                part("3-6/10", "3456", of: "3-6", sent: ["Range": "bytes=3-6", "If-Range": "", "If-None-Match": ""]),
                stored("0123456", of: "0-6", "0-6/10")
            ),
            Scenario(
                "a range behind the end is refused like that of a complete response",
                part("0-4/10", "01234", of: "0-4"),
                .stored("416 hit ", request: ["Range: bytes=10-"], fields: ["Content-Range": "bytes */10"])
            ),
            Scenario(
                "a stale part is validated, and then served",
                part("0-4/10", "01234", of: "0-4", age: 5),
                .fetch(
                    ["ETag: \"a\"", "Cache-Control: max-age=60"],
                    status: 304,
                    request: ["Range: bytes=1-2"],
                    wait: 5,
                    sent: ["If-None-Match": "\"a\"", "Range": "bytes=1-2"],
                    as: "206 revalidated 12"
                ),
                stored("01234", of: "0-4", "0-4/10", wait: 59)
            ),
            Scenario(
                "a stale part is completed, which validates it",
                part("0-4/10", "01234", of: "0-4", age: 5),
                completed("5-", "5-9/10", "56789", wait: 50),
                all
            ),
            Scenario(
                "a part of another version replaces the parts",
                part("0-4/10", "01234", of: "0-4"),
                part("0-4/12", "abcde", of: "3-9", tag: "\"b\""),
                stored("abc", of: "0-2", "0-2/12"),
                part("5-11/12", "fghijkl", of: "5-", tag: "\"b\""),
                .stored("200 hit abcdefghijkl")
            ),
            Scenario(
                "a server that sends the whole replaces the parts",
                part("0-4/10", "01234", of: "0-4"),
                .fetch(
                    ["Cache-Control: max-age=60", "ETag: \"b\""],
                    "abc",
                    sent: ["Range": "bytes=5-", "If-Range": "\"a\""]
                ),
                .stored("200 hit abc"),
                .stored("206 hit ab", request: ["Range: bytes=0-1"])
            ),
            Scenario(
                "a part with the validator of a complete response updates it",
                .fetch(["Cache-Control: max-age=5", "ETag: \"a\"", "X: old", "Y: kept"], "0123456789"),
                part("0-0/10", "0", of: "0-0", ["X: new"], wait: 5),
                .stored("200 hit 0123456789", wait: 59, fields: ["X": "new", "Y": "kept", "Content-Range": ""])
            ),
            Scenario(
                "a part of another version leaves a complete response, which serves without a connection",
                .fetch(["Cache-Control: max-age=5", "ETag: \"a\""], "0123456789"),
                part("0-0/3", "a", of: "0-0", tag: "\"b\"", wait: 5),
                .disconnected("200 stale 0123456789")
            ),
            Scenario(
                "without a strong validator, parts aren't put together",
                part("0-4/10", "01234", of: "0-4", tag: "W/\"a\""),
                stored("123", of: "1-3", "1-3/10"),
                .fetch(["Cache-Control: max-age=60", "ETag: W/\"a\""], "0123456789", sent: ["Range": ""])
            ),
            Scenario(
                "without a validator, the newest part stays",
                part("0-4/10", "01234", of: "0-4", tag: nil),
                part("5-9/10", "fghij", of: "5-", tag: nil),
                stored("fgh", of: "5-7", "5-7/10"),
                part("0-4/10", "abcde", of: "0-4", tag: nil)
            ),
            Scenario(
                "an answer to the caller's If-Range, which may lack fields, isn't stored by itself",
                .fetch(
                    ["Cache-Control: max-age=60", "Content-Range: bytes 0-4/10", "ETag: \"a\""],
                    "01234",
                    status: 206,
                    request: ["Range: bytes=0-4", "If-Range: \"a\""]
                ),
                part("0-4/10", "01234", of: "0-4", ["Content-Type: a/b"]),
                .fetch(
                    ["Cache-Control: max-age=60", "Content-Range: bytes 5-9/10", "ETag: \"a\""],
                    "56789",
                    status: 206,
                    request: ["Range: bytes=5-", "If-Range: \"a\""]
                ),
                .stored("200 hit 0123456789", fields: ["Content-Type": "a/b"])
            ),
            Scenario(
                "the caller's condition that names the stored version gets a 304",
                part("0-4/10", "01234", of: "0-4"),
                .stored("304 hit ", request: ["If-None-Match: \"a\""])
            ),
            Scenario(
                "the caller's other condition goes to the server as it is",
                part("0-4/10", "01234", of: "0-4"),
                .fetch(
                    status: 304,
                    request: ["If-None-Match: \"b\""],
                    sent: ["If-None-Match": "\"b\"", "Range": ""]
                )
            ),
            Scenario(
                "a HEAD goes to the server",
                part("0-4/10", "01234", of: "0-4"),
                .fetch(["ETag: \"a\"", "Content-Length: 10"], method: .head),
                stored("01234", of: "0-4", "0-4/10")
            ),
            Scenario(
                "a HEAD that tells of another version makes the parts be validated",
                part("0-4/10", "01234", of: "0-4"),
                .fetch(["ETag: \"b\"", "Content-Length: 10"], method: .head),
                .fetch(
                    ["ETag: \"a\""],
                    status: 304,
                    request: ["Range: bytes=0-1"],
                    sent: ["If-None-Match": "\"a\""],
                    as: "206 revalidated 01"
                )
            ),
            Scenario(
                "offline, a part answers its bytes and nothing else",
                part("0-4/10", "01234", of: "0-4"),
                .stored("206 stale 12", request: ["Range: bytes=1-2"], mode: .offline, wait: 99),
                .stored("504 unsatisfiable ", mode: .offline)
            ),
            Scenario(
                "without a connection, a request for the whole fails as if nothing were stored",
                part("0-4/10", "01234", of: "0-4", ["Cache-Control: must-revalidate"]),
                .disconnected("connectionLost")
            ),
            Scenario(
                "an unsafe request removes the parts",
                part("0-4/10", "01234", of: "0-4"),
                .fetch(status: 204, method: .post),
                part("0-4/10", "01234", of: "0-4")
            ),
            Scenario(
                "variants have their own parts",
                .fetch(
                    ["Cache-Control: max-age=60", "Content-Range: bytes 0-1/3", "ETag: \"a\"", "Vary: A"],
                    "on",
                    status: 206,
                    request: ["Range: bytes=0-1", "A: 1"]
                ),
                .fetch(
                    ["Cache-Control: max-age=60", "Content-Range: bytes 0-1/3", "ETag: \"a\"", "Vary: A"],
                    "tw",
                    status: 206,
                    request: ["Range: bytes=0-1", "A: 2"]
                ),
                .stored("206 hit on", request: ["Range: bytes=0-1", "A: 1"]),
                .stored("206 hit tw", request: ["Range: bytes=0-1", "A: 2"]),
                .fetch(
                    ["Content-Range: bytes 2-2/3", "ETag: \"a\"", "Vary: A"],
                    "e",
                    status: 206,
                    request: ["A: 1"],
                    sent: ["Range": "bytes=2-"],
                    as: "200 miss one"
                )
            ),
        ] + refused

    /// Partial responses that aren't stored, because they contradict themselves or forbid it.
    private static var refused: [Scenario] {
        let cases: [(String, [String], String)] = [
            ("has another length than its range", ["Content-Range: bytes 4-9/10"], "01234"),
            ("has no range", [], "01234"),
            ("has two ranges", ["Content-Range: bytes 0-4/10", "Content-Range: bytes 0-4/11"], "01234"),
            ("has no total", ["Content-Range: bytes 0-4/*"], "01234"),
            ("has a range outside of the total", ["Content-Range: bytes 6-10/10"], "01234"),
            ("has other units", ["Content-Range: lines 0-4/10"], "01234"),
            ("has several ranges in its content", ["Content-Type: multipart/byteranges; boundary=a"], "01234"),
            ("is coded", ["Content-Range: bytes 0-4/10", "Content-Encoding: gzip"], "01234"),
            ("contradicts its Content-Length", ["Content-Range: bytes 0-4/10", "Content-Length: 6"], "01234"),
            ("forbids storing", ["Content-Range: bytes 0-4/10", "Cache-Control: no-store"], "01234"),
            ("varies by everything", ["Content-Range: bytes 0-4/10", "Vary: *"], "01234"),
        ]
        return cases.map { name, lines, body in
            let lines = ["Cache-Control: max-age=60", "ETag: \"a\""] + lines
            let step = Step.fetch(lines, body, status: 206, request: ["Range: bytes=0-4"])
            return Scenario("a part that \(name) isn't stored", step, step)
        }
    }

    /// Answers to the request for missing bytes that can't complete them: the cache asks for everything.
    static let misfits: [(HTTPResponse.Status, [String], String)] = [
        (206, ["Content-Range: bytes 5-9/10", "ETag: \"b\""], "56789"),
        (206, ["Content-Range: bytes 5-9/10"], "56789"),
        (206, ["Content-Range: bytes 5-9/10", "ETag: W/\"a\""], "56789"),
        (206, ["Content-Range: bytes 4-9/10", "ETag: \"a\""], "456789"),
        (206, ["Content-Range: bytes 6-9/10", "ETag: \"a\""], "6789"),
        (206, ["Content-Range: bytes 5-8/10", "ETag: \"a\""], "5678"),
        (206, ["Content-Range: bytes 5-9/11", "ETag: \"a\""], "56789"),
        (206, ["Content-Range: bytes 5-9/10", "ETag: \"a\"", "Content-Encoding: gzip"], "56789"),
        (206, ["Content-Range: bytes 5-9/10", "ETag: \"a\""], "5678"),
        (206, ["ETag: \"a\"", "Content-Type: multipart/byteranges; boundary=a"], "56789"),
        (416, ["Content-Range: bytes */5"], ""),
        (304, ["ETag: \"a\""], ""),
    ]
}
