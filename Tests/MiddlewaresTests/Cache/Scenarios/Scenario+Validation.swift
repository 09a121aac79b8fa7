import Interceptors

@testable import InterceptorsMiddlewares

extension Scenario {
    private static func condition(
        _ name: String,
        stored: [String],
        request: [String],
        isNotModified: Bool,
        status: HTTPResponse.Status = 200
    ) -> Scenario {
        Scenario(
            name,
            .fetch(["Cache-Control: max-age=60", "Date: {0}"] + stored, status: status),
            .stored(isNotModified ? "304 hit " : "\(status.code) hit one", request: request)
        )
    }

    /// RFC 9111 §4.3.1, §4.3.2; RFC 9110 §13.
    static let conditions: [Scenario] = [
        condition("a strong tag", stored: ["ETag: \"a\""], request: ["If-None-Match: \"a\""], isNotModified: true),
        condition("a weak tag", stored: ["ETag: W/\"a\""], request: ["If-None-Match: W/\"a\""], isNotModified: true),
        condition(
            "weak meets strong",
            stored: ["ETag: \"a\""],
            request: ["If-None-Match: W/\"a\""],
            isNotModified: true
        ),
        condition("any", stored: ["ETag: \"a\""], request: ["If-None-Match: *"], isNotModified: true),
        condition(
            "the first of several",
            stored: ["ETag: \"a\""],
            request: ["If-None-Match: \"a\", \"b\""],
            isNotModified: true
        ),
        condition(
            "the last of several",
            stored: ["ETag: \"a\""],
            request: ["If-None-Match: \"b\", \"a\""],
            isNotModified: true
        ),
        condition(
            "one on another line",
            stored: ["ETag: \"a\""],
            request: ["If-None-Match: \"b\"", "If-None-Match: \"a\""],
            isNotModified: true
        ),
        condition(
            "a tag of other bytes",
            stored: ["ETag: \"ü\""],
            request: ["If-None-Match: \"ü\""],
            isNotModified: true
        ),
        condition(
            "a comma in a tag",
            stored: ["ETag: \"a,b\""],
            request: ["If-None-Match: \"a,b\""],
            isNotModified: true
        ),
        condition("another tag", stored: ["ETag: \"a\""], request: ["If-None-Match: \"b\""], isNotModified: false),
        condition("no quotes", stored: ["ETag: \"a\""], request: ["If-None-Match: a"], isNotModified: false),
        condition(
            "a w in lower case",
            stored: ["ETag: w/\"a\""],
            request: ["If-None-Match: w/\"a\""],
            isNotModified: false
        ),
        condition(
            "a tag goes before a date",
            stored: ["ETag: \"a\"", "Last-Modified: {-9}"],
            request: ["If-None-Match: \"a\"", "If-Modified-Since: {-99}"],
            isNotModified: true
        ),
        condition(
            "also where it doesn't match",
            stored: ["ETag: \"a\"", "Last-Modified: {-9}"],
            request: ["If-None-Match: \"b\"", "If-Modified-Since: {0}"],
            isNotModified: false
        ),
        condition(
            "the same date",
            stored: ["Last-Modified: {-9}"],
            request: ["If-Modified-Since: {-9}"],
            isNotModified: true
        ),
        condition(
            "a later date",
            stored: ["Last-Modified: {-9}"],
            request: ["If-Modified-Since: {-5}"],
            isNotModified: true
        ),
        condition(
            "an earlier date",
            stored: ["Last-Modified: {-9}"],
            request: ["If-Modified-Since: {-10}"],
            isNotModified: false
        ),
        condition(
            "no date stored but of its making",
            stored: [],
            request: ["If-Modified-Since: {0}"],
            isNotModified: true
        ),
        condition(
            "two dates",
            stored: ["Last-Modified: {-9}"],
            request: ["If-Modified-Since: {-5}", "If-Modified-Since: {-99}"],
            isNotModified: false
        ),
        condition("and that is later", stored: [], request: ["If-Modified-Since: {-1}"], isNotModified: false),
        condition(
            "a date of the second form",
            stored: ["Last-Modified: Tue, 14 Nov 2023 22:13:11 GMT"],
            request: ["If-Modified-Since: Tuesday, 14-Nov-23 22:13:11 GMT"],
            isNotModified: true
        ),
        condition(
            "of the third",
            stored: ["Last-Modified: Tue, 14 Nov 2023 22:13:11 GMT"],
            request: ["If-Modified-Since: Tue Nov 14 22:13:11 2023"],
            isNotModified: true
        ),
        condition(
            "a condition means nothing where the answer isn't a 200",
            stored: ["ETag: \"a\""],
            request: ["If-None-Match: \"a\""],
            isNotModified: false,
            status: 404
        ),
        Scenario(
            "a 304 from the store has the tag and what tells of its use, and nothing of the content",
            .fetch(["Cache-Control: max-age=60", "ETag: \"a\"", "Content-Type: a/b", "Content-Location: /y", "Vary: A"]
            ),
            .stored(
                "304 hit ",
                request: ["If-None-Match: \"a\""],
                fields: [
                    "ETag": "\"a\"", "Cache-Control": "max-age=60", "Vary": "A", "Content-Type": "",
                    "Content-Location": "/y", "Date": date(0), "Age": "0",
                ]
            )
        ),
        Scenario(
            "the cache asks with all validators it has",
            .fetch(["Cache-Control: max-age=5", "ETag: W/\"a\"", "Last-Modified: {-9}"]),
            .fetch(
                ["Cache-Control: max-age=5"],
                "two",
                wait: 5,
                sent: ["If-None-Match": "W/\"a\"", "If-Modified-Since": date(-9)]
            ),
            .fetch(
                ["Cache-Control: max-age=5"],
                "three",
                wait: 5,
                sent: ["If-None-Match": "", "If-Modified-Since": ""]
            )
        ),
        Scenario(
            "the caller's condition goes on, together with the cache's own; a 304 to the latter is a 200 to the caller",
            .fetch(["Cache-Control: max-age=5", "ETag: \"a\""]),
            .fetch(
                ["ETag: \"a\"", "Cache-Control: max-age=5"],
                status: 304,
                request: ["If-None-Match: \"b\""],
                wait: 5,
                sent: ["If-None-Match": "\"b\", \"a\""],
                as: "200 revalidated one"
            ),
            .fetch(
                ["ETag: \"b\""],
                status: 304,
                request: ["If-None-Match: \"b\""],
                wait: 5,
                sent: ["If-None-Match": "\"b\", \"a\""]
            )
        ),
        Scenario(
            "a caller's condition without anything stored is the server's affair",
            .fetch(status: 304, request: ["If-None-Match: \"a\""], sent: ["If-None-Match": "\"a\""]),
            .fetch(status: 304, request: ["If-Modified-Since: {0}"], sent: ["If-Modified-Since": date(0)]),
            .fetch(["Cache-Control: max-age=60"])
        ),
        Scenario(
            "so are If-Match and If-Unmodified-Since, fresh or not",
            .fetch(["Cache-Control: max-age=60", "ETag: \"a\""]),
            .fetch(status: 412, request: ["If-Match: \"b\""], sent: ["If-Match": "\"b\""], as: "412 miss one"),
            .fetch(["ETag: \"a\""], "two", request: ["If-Unmodified-Since: {0}"]),
            .stored("200 stale two", request: ["Cache-Control: max-stale"])
        ),
    ]

    private static func range(_ range: String, _ expected: String, _ contentRange: String) -> Scenario {
        Scenario(
            "\(range) of ten bytes: \(expected)",
            .fetch(["Cache-Control: max-age=60", "ETag: \"a\"", "Content-Length: 10", "X: kept"], "0123456789"),
            .stored(expected, request: ["Range: \(range)"], fields: ["Content-Range": contentRange]),
            .stored(
                expected,
                request: ["Range: \(range)", "If-Range: \"a\""],
                fields: ["Content-Range": contentRange]
            ),
            .stored(
                "200 hit 0123456789",
                request: ["Range: \(range)", "If-Range: \"b\""],
                fields: ["Content-Range": ""]
            ),
            .stored("200 hit ", method: .head, request: ["Range: \(range)"])
        )
    }

    /// RFC 9111 §3.3, §3.4; RFC 9110 §14.
    static let ranges: [Scenario] = [
        range("bytes=0-1", "206 hit 01", "bytes 0-1/10"), range("bytes=1-", "206 hit 123456789", "bytes 1-9/10"),
        range("bytes=-1", "206 hit 9", "bytes 9-9/10"), range("bytes=-99", "206 hit 0123456789", "bytes 0-9/10"),
        range("bytes=4-999", "206 hit 456789", "bytes 4-9/10"), range("bytes=10-", "416 hit ", "bytes */10"),
        range("bytes=-0", "416 hit ", "bytes */10"),
        Scenario(
            "a part from the store has its own length and all other fields",
            .fetch(["Cache-Control: max-age=60", "Content-Length: 10", "Content-Type: a/b"], "0123456789"),
            .stored(
                "206 hit 234",
                request: ["Range: bytes=2-4"],
                fields: ["Content-Length": "3", "Content-Type": "a/b", "Age": "0"]
            )
        ),
        Scenario(
            "a whole answer to a request for a part is stored",
            .fetch(["Cache-Control: max-age=60"], "0123456789", request: ["Range: bytes=0-1"]),
            .stored("206 hit 01", request: ["Range: bytes=0-1"]),
            .stored("200 hit 0123456789")
        ),
        Scenario(
            "a stale part is validated, and then served",
            .fetch(["Cache-Control: max-age=5", "ETag: \"a\""], "0123456789"),
            .fetch(
                ["ETag: \"a\"", "Cache-Control: max-age=60"],
                status: 304,
                request: ["Range: bytes=2-3"],
                wait: 5,
                sent: ["If-None-Match": "\"a\"", "Range": "bytes=2-3"],
                as: "206 revalidated 23"
            ),
            .stored("200 hit 0123456789")
        ),
        Scenario(
            "several ranges and other units are the server's affair",
            .fetch(["Cache-Control: max-age=60"], "0123456789"),
            .fetch(status: 206, request: ["Range: bytes=0-1, 4-5"]),
            .fetch(status: 206, request: ["Range: lines=0-1"]),
            .stored("200 hit 0123456789")
        ),
    ]

    private static func updates(_ line: String, isUpdated: Bool = true) -> Scenario {
        let parts = line.split(separator: ":", maxSplits: 1).map { $0.drop { $0 == " " } }
        let (name, new) = (String(parts[0]), String(parts[1]))
        let value = isUpdated ? new : "old"
        return Scenario(
            "a 304 \(isUpdated ? "updates" : "leaves") \(name)",
            .fetch(["Cache-Control: max-age=5", "ETag: \"a\"", "\(name): old"]),
            .fetch(
                ["Cache-Control: max-age=60", "ETag: \"a\"", line],
                status: 304,
                wait: 5,
                as: "200 revalidated one",
                fields: [name: value]
            ),
            .stored(wait: 59, fields: [name: value, "Cache-Control": "max-age=60"])
        )
    }

    private static func head(_ lines: [String], status: HTTPResponse.Status = 200, _ after: Step...) -> [Step] {
        let before: [Step] = [
            .fetch(["Cache-Control: max-age=5", "ETag: \"a\"", "A: 1"]),
            .fetch(lines, status: status, method: .head, wait: 5),
        ]
        return before + after
    }

    /// RFC 9111 §3.2, §4.3.3 to §4.3.5.
    static let updates: [Scenario] = [
        updates("Test-Header: new"), updates("X-Test-Header: new"), updates("Content-Foo: new"),
        updates("X-Content-Foo: new"), updates("Content-Language: new"), updates("Content-Location: new"),
        updates("Content-MD5: new"), updates("Content-Security-Policy: new"), updates("Content-Type: new"),
        updates("Expires: new"), updates("X-Frame-Options: new"),
        updates("Content-Encoding: new", isUpdated: false), updates("Content-Length: 99", isUpdated: false),
        updates("Content-Range: bytes 0-1/2", isUpdated: false),
        Scenario(
            "the cookies of a 304 take the place of those that are stored",
            .fetch(["Cache-Control: max-age=5", "ETag: \"a\"", "Set-Cookie: a=1"]),
            .fetch(
                ["Cache-Control: max-age=60", "ETag: \"a\"", "Set-Cookie: a=2", "Set-Cookie: b=2"],
                status: 304,
                wait: 5,
                as: "200 revalidated one",
                fields: ["Set-Cookie": "a=2|b=2"]
            ),
            .stored(fields: ["Set-Cookie": "a=2|b=2"])
        ),
        Scenario(
            "a 304 that omits a field leaves it",
            .fetch(["Cache-Control: max-age=5", "Last-Modified: {-9}", "A: 1"]),
            .fetch(["Last-Modified: {-9}"], status: 304, wait: 5, as: "200 revalidated one", fields: ["A": "1"]),
            .stored(fields: ["A": "1"])
        ),
        Scenario(
            "a 304 that forbids to store changes nothing that is stored",
            .fetch(["Cache-Control: max-age=5", "ETag: \"a\"", "A: 1"]),
            .fetch(
                ["Cache-Control: no-store", "ETag: \"a\"", "A: 2"],
                status: 304,
                wait: 5,
                as: "200 revalidated one"
            ),
            .fetch(["ETag: \"a\""], status: 304, as: "200 revalidated one", fields: ["A": "1"])
        ),
        Scenario(
            "a 304 that says Vary: * leaves nothing that another request could get",
            .fetch(["Cache-Control: max-age=5", "ETag: \"a\""]),
            .fetch(
                ["Cache-Control: max-age=60", "ETag: \"a\"", "Vary: *"],
                status: 304,
                wait: 5,
                as: "200 revalidated one"
            ),
            .fetch([], "two")
        ),
        Scenario(
            "a 304 that begins to vary tells other requests apart from then on",
            .fetch(["Cache-Control: max-age=5", "ETag: \"a\""]),
            .fetch(
                ["Cache-Control: max-age=60", "ETag: \"a\"", "Vary: Foo"],
                status: 304,
                request: ["Foo: 1"],
                wait: 5,
                as: "200 revalidated one"
            ),
            .stored(request: ["Foo: 1"]),
            .fetch(["Vary: Foo"], "two", request: ["Foo: 2"])
        ),
        Scenario("a HEAD is sent where what is stored is stale", steps: head([])),
        Scenario("and updates it", steps: head(["Cache-Control: max-age=60", "A: 2"], .stored(fields: ["A": "2"]))),
        Scenario("and leaves what it omits", steps: head(["Cache-Control: max-age=60"], .stored(fields: ["A": "1"]))),
        Scenario(
            "another length makes it invalid",
            steps: head(
                ["Cache-Control: max-age=60", "Content-Length: 99"],
                .fetch(status: 304, as: "200 revalidated one")
            )
        ),
        Scenario(
            "so does another tag",
            steps: head(["Cache-Control: max-age=60", "ETag: \"b\""], .fetch(["ETag: \"b\""], "two"))
        ),
        Scenario(
            "a HEAD that tells of an error changes nothing",
            steps: head(
                ["Cache-Control: max-age=60", "A: 2"],
                status: 410,
                .fetch(status: 304, as: "200 revalidated one", fields: ["A": "1"])
            )
        ),
    ]
}
