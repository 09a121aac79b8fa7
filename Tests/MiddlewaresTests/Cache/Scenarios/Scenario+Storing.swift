import Interceptors

@testable import InterceptorsMiddlewares

extension Scenario {
    private static let statuses = [
        200, 203, 204, 299, 301, 302, 303, 307, 308, 400, 404, 410, 499, 500, 502, 503, 504, 599,
    ]

    private static func status(_ code: Int) -> Scenario {
        let status = HTTPResponse.Status(code: code) ?? 500
        return Scenario(
            "\(code) with explicit freshness",
            .fetch(["Cache-Control: max-age=60"], status: status),
            .stored("\(code) hit \(code == 204 ? "" : "one")", wait: 59),
            .fetch(["Cache-Control: no-store"], "two", wait: 1)
        )
    }

    private static func field(_ line: String, isStored: Bool = true) -> Scenario {
        let parts = line.split(separator: ":", maxSplits: 1).map { $0.drop { $0 == " " } }
        let value = isStored ? String(parts[1]) : ""
        return Scenario(
            "\(line) is \(isStored ? "" : "not ")stored",
            .fetch(["Cache-Control: max-age=60", line]),
            .stored(fields: [String(parts[0]): value])
        )
    }

    /// RFC 9111 §3, §3.1; RFC 9110 §15.1.
    static let statusesAndFields: [Scenario] =
        statuses.map { status($0) } + [
            field("Test-Header: a"), field("X-Test-Header: a"), field("Content-Foo: a"), field("Content-Encoding: br"),
            field("Content-Language: de"), field("Content-Location: /y"), field("Content-MD5: a"),
            field("Content-Range: bytes 0-2/3"), field("Content-Type: text/plain"), field("Content-Security-Policy: a"),
            field("Clear-Site-Data: cookies"), field("ETag: \"a\""), field("Expires: Thu, 18 Aug 2050 02:01:18 GMT"),
            field("Set-Cookie: a=b"),
            field("Set-Cookie2: a=b"), field("X-Frame-Options: deny"), field("X-XSS-Protection: 1"),
            field("Strict-Transport-Security: a"), field("WWW-Authenticate: Basic"), field("Server-Timing: a"),
            field("Connection: close", isStored: false), field("Keep-Alive: a", isStored: false),
            field("Proxy-Authenticate: a", isStored: false), field("Proxy-Authentication-Info: a", isStored: false),
            field("Proxy-Authorization: a", isStored: false), field("Proxy-Connection: a", isStored: false),
            field("TE: a", isStored: false), field("Trailer: a", isStored: false),
            field("Transfer-Encoding: a", isStored: false), field("Upgrade: a", isStored: false),
            Scenario(
                "what Connection names is not stored",
                .fetch([
                    "Cache-Control: max-age=60", "Connection: a, b", "Connection: ,c", "A: 1", "B: 2", "C: 3", "D: 4",
                ]),
                .stored(fields: ["A": "", "B": "", "C": "", "D": "4", "Connection": ""])
            ),
            Scenario(
                "but what limits the use of a response is",
                .fetch(
                    ["Connection: Vary, Expires", "Vary: A", "Expires: {60}"],
                    request: ["A: 1"]
                ),
                .stored(request: ["A: 1"], wait: 59),
                .fetch(["Cache-Control: no-store"], "two", request: ["A: 2"])
            ),
            Scenario(
                "several fields of a name stay several, in their order",
                .fetch(["Cache-Control: max-age=60", "A: 1", "Link: </a>", "A: 2", "Link: </b>"]),
                .stored(fields: ["A": "1|2", "Link": "</a>|</b>"])
            ),
            Scenario(
                "nothing is stored of a POST",
                .fetch(["Cache-Control: max-age=60"], method: .post),
                .fetch(["Cache-Control: max-age=60"])
            ),
            Scenario(
                "nor of a HEAD; and a HEAD is answered from a GET",
                .fetch(["Cache-Control: max-age=60"], method: .head),
                .fetch(["Cache-Control: max-age=60", "A: 1"]),
                .stored("200 hit ", method: .head, fields: ["A": "1"])
            ),
            Scenario(
                "the query is part of the key, the fragment isn't",
                .fetch(["Cache-Control: max-age=60"], path: "x?a=1"),
                .fetch(["Cache-Control: max-age=60"], "two", path: "x?a=2"),
                .fetch(["Cache-Control: max-age=60"], "three", path: "x?"),
                .stored("200 hit one", path: "x?a=1#top"),
                .stored("200 hit two", path: "x?a=2"),
                .stored("200 hit three", path: "x?")
            ),
            Scenario(
                "what is to be kept as a file is cached as all else",
                .fetch(["Cache-Control: max-age=60", "Content-Disposition: attachment; filename=a.txt"]),
                .stored()
            ),
        ]

    private static func varies(_ vary: [String], _ first: [String], _ second: [String], isSame: Bool) -> Scenario {
        let lines = ["Cache-Control: max-age=60"] + vary.map { "Vary: \($0)" }
        return Scenario(
            "\(vary) tells \(first) from \(second): \(!isSame)",
            .fetch(lines, request: first),
            isSame ? .stored(request: second) : .fetch(lines, "two", request: second)
        )
    }

    /// RFC 9111 §4.1; RFC 9110 §12.5.5.
    static let vary: [Scenario] = [
        varies(["Foo"], ["Foo: 1"], ["Foo: 1"], isSame: true), varies(["Foo"], ["Foo: 1"], ["Foo: 2"], isSame: false),
        varies(["Foo"], ["Foo: 1"], [], isSame: false), varies(["Foo"], [], ["Foo: 1"], isSame: false),
        varies(["Foo"], ["Foo: 1", "Other: 2"], ["Foo: 1", "Other: 3"], isSame: true),
        varies(["Foo, Bar"], ["Foo: 1", "Bar: abc"], ["Bar: abc", "Foo: 1"], isSame: true),
        varies(["Foo, Bar"], ["Foo: 1", "Bar: abc"], ["Foo: 2", "Bar: abc"], isSame: false),
        varies(["Foo, Bar, Baz"], ["Foo: 1", "Baz: 789"], ["Foo: 1", "Baz: 789"], isSame: true),
        varies(
            ["Foo, Bar, Baz"],
            ["Foo: 1", "Bar: abc4", "Baz: 789"],
            ["Foo: 1", "Bar: abc", "Baz: 789"],
            isSame: false
        ),
        varies(["Foo", "Bar"], ["Foo: 1", "Bar: 2"], ["Foo: 1", "Bar: 3"], isSame: false),
        varies(["FOO"], ["foo: 1"], ["Foo: 1"], isSame: true), varies([""], ["Foo: 1"], ["Foo: 2"], isSame: true),
        varies(["Foo"], ["Foo: 1,2"], ["Foo:  1,2 "], isSame: true),
        varies(["Foo"], ["Foo: 1, 2"], ["Foo: 1", "Foo: 2"], isSame: true),
        varies(["Foo"], ["Foo: 1, 2"], ["Foo: 2, 1"], isSame: false),
        varies(["Foo"], ["Foo: 1,2"], ["Foo: 1, 2"], isSame: false),
        varies(["*"], ["Foo: 1"], ["Foo: 1"], isSame: false), varies(["*, *"], ["Foo: 1"], ["Foo: 1"], isSame: false),
        varies(["*", "*"], ["Foo: 1"], ["Foo: 1"], isSame: false),
        varies([", *"], ["Foo: 1"], ["Foo: 1"], isSame: false),
        varies(["", "*"], ["Foo: 1"], ["Foo: 1"], isSame: false),
        varies(["*, Foo"], ["Foo: 1"], ["Foo: 1"], isSame: false),
        varies(["Foo, *"], ["Foo: 1"], ["Foo: 1"], isSame: false),
        varies(["*"], ["*: 1"], ["*: 1"], isSame: false),
        Scenario(
            "variants don't drive each other out",
            .fetch(["Cache-Control: max-age=60", "Vary: Foo"], request: ["Foo: 1"]),
            .fetch(["Cache-Control: max-age=60", "Vary: Foo"], "two", request: ["Foo: 2"]),
            .stored("200 hit one", request: ["Foo: 1"]),
            .stored("200 hit two", request: ["Foo: 2"])
        ),
        Scenario(
            "a variant is validated with the fields that it was selected by, and by no other's tag",
            .fetch(["Cache-Control: max-age=5", "Vary: Foo", "ETag: \"1\""], request: ["Foo: 1"]),
            .fetch(
                status: 304,
                request: ["Foo: 1"],
                wait: 5,
                sent: ["Foo": "1", "If-None-Match": "\"1\""],
                as: "200 revalidated one"
            ),
            .fetch(["Cache-Control: max-age=5", "Vary: Foo"], "two", request: ["Foo: 2"], sent: ["If-None-Match": ""])
        ),
    ]
}
