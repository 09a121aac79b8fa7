import Interceptors

@testable import InterceptorsMiddlewares

extension Scenario {
    private static func isFresh(_ lines: String..., age: Int = 1, status: HTTPResponse.Status = 200) -> Scenario {
        Scenario(
            "fresh: \(status.code) \(lines.joined(separator: " / ")) at \(age) s",
            .fetch(lines, status: status),
            .stored("\(status.code) hit one", wait: age)
        )
    }

    private static func isNotFresh(_ lines: String..., age: Int = 1, status: HTTPResponse.Status = 200) -> Scenario {
        Scenario(
            "not fresh: \(status.code) \(lines.joined(separator: " / ")) at \(age) s",
            .fetch(lines, status: status),
            .fetch(["Cache-Control: no-store"], "two", wait: age)
        )
    }

    /// RFC 9111 §4.2, §5.1, §5.2.2.1, §5.3.
    static let freshness: [Scenario] = [
        isNotFresh(), isFresh("Cache-Control: max-age=3600", age: 3_599),
        isNotFresh("Cache-Control: max-age=3600", age: 3_600), isNotFresh("Cache-Control: max-age=0", age: 0),
        isFresh("Cache-Control: max-age=2147483647"), isFresh("Cache-Control: max-age=2147483648"),
        isFresh("Cache-Control: max-age=2147483649"), isFresh("Cache-Control: max-age=99999999999"),
        isNotFresh("Cache-Control: max-age=3600", "Age: 7200"),
        isNotFresh("Cache-Control: max-age=3600", "Date: {-7200}"),
        isFresh("Cache-Control: max-age=3600", "Expires: {-7200}", "Date: {0}"),
        isFresh("Cache-Control: max-age=3600", "Expires: 0", "Date: {0}"),
        isNotFresh("Cache-Control: max-age=0", "Expires: {3600}", "Date: {0}", age: 0),
        isFresh("Cache-Control: foobar, max-age=3600"), isFresh("Cache-Control: MaX-aGe=3600"),
        isNotFresh("Cache-Control: max-age=-3600"), isNotFresh("Cache-Control: s-maxage=3600, max-age=1"),
        isNotFresh("Cache-Control: s-maxage=3600", "Cache-Control: max-age=1"),
        isFresh("Cache-Control: max-age=3600, s-maxage=1"), isFresh("Cache-Control: max-age=3600", "Pragma: no-cache"),
        isFresh("Expires: {30}", "Date: {0}"), isNotFresh("Expires: {30}", "Date: {0}", age: 30),
        isNotFresh("Expires: {0}", "Date: {0}", age: 0), isNotFresh("Expires: {-30}", "Date: {0}", age: 0),
        isNotFresh("Expires: {30}", "Date: {0}", "Age: 25", age: 5), isNotFresh("Expires: 0", age: 0),
        isNotFresh("Expires: Thu, 18 Aug 2050 02:01:18 UTC"), isNotFresh("Expires: Thu, 18 Aug 2050 2:01:18 GMT"),
        isNotFresh("Expires: Thu, 18 Aug 2050 02:01:18"), isNotFresh("Expires: Thu, 18 Aug 2050 02.01.18 GMT"),
        isNotFresh("Expires: Thu, 18  Aug  2050 02:01:18 GMT"), isNotFresh("Expires: Thu 18 Aug 2050 02:01:18 GMT"),
        isNotFresh("Expires: Thu, 18-Aug-2050 02:01:18 GMT"), isNotFresh("Expires: Thu, 18 Aug 50 02:01:18 GMT"),
        isNotFresh("Expires: Thu, 18 Foo 2050 02:01:18 GMT"), isNotFresh("Expires: Thu, 31 Feb 2050 02:01:18 GMT"),
        isNotFresh("Expires: Thu, 18 Aug 2050 24:01:18 GMT"), isNotFresh("Expires: 20500818T020118Z"),
        isNotFresh("Expires: Thu, 01 Jan 1900 00:00:00 GMT"), isFresh("Expires: Fri, 31 Dec 9999 23:59:59 GMT"),
        isFresh("Expires: thu, 18 AUG 2050 02:01:18 gmt"), isFresh("Expires: Thu Aug 18 02:01:18 2050"),
        isFresh("Expires: Thursday, 18-Aug-50 02:01:18 GMT"),
        isNotFresh("Age: 7200", "Cache-Control: max-age=3600"), isFresh("Age: abc", "Cache-Control: max-age=3600"),
        isFresh("Age: -7200", "Cache-Control: max-age=3600"), isFresh("Age: 7200.0", "Cache-Control: max-age=3600"),
        isNotFresh("Age: 7200, 0", "Cache-Control: max-age=3600"),
        isFresh("Age: 0, 7200", "Cache-Control: max-age=3600"),
        isNotFresh("Age: 7200", "Age: 0", "Cache-Control: max-age=3600"),
        isNotFresh("Age: 4294967296", "Cache-Control: max-age=99999999999"),
        isFresh("Last-Modified: {-86400}", "Date: {0}"), isFresh("Last-Modified: {-86400}", status: 404),
        isFresh("Last-Modified: {-86400}", status: 203), isFresh("Last-Modified: {-86400}", status: 405),
        isFresh("Last-Modified: {-86400}", status: 410), isFresh("Last-Modified: {-86400}", status: 414),
        isFresh("Last-Modified: {-86400}", status: 501), isNotFresh("Last-Modified: {-86400}", status: 201),
        isNotFresh("Last-Modified: {-86400}", status: 202), isNotFresh("Last-Modified: {-86400}", status: 403),
        isNotFresh("Last-Modified: {-86400}", status: 502), isNotFresh("Last-Modified: {-86400}", status: 503),
        isNotFresh("Last-Modified: {-86400}", status: 504), isNotFresh("Last-Modified: {-86400}", status: 599),
        isFresh("Last-Modified: {-86400}", "Cache-Control: public", status: 599),
        isNotFresh("Last-Modified: {-86400}", "Cache-Control: no-cache"),
        Scenario(
            "a heuristic time is a tenth of what has passed since the last modification",
            .fetch(["Last-Modified: {-86400}", "Date: {0}"]),
            .stored(wait: 8_639),
            .fetch(["Cache-Control: no-store"], "two", wait: 1)
        ),
        Scenario(
            "a heuristic time is a day at most",
            .fetch(["Last-Modified: {-8640000}", "Date: {0}"]),
            .stored(wait: 86_399),
            .fetch(["Cache-Control: no-store"], "two", wait: 1)
        ),
        Scenario(
            "an age is told, and goes on",
            .fetch(["Cache-Control: max-age=600", "Date: {0}", "Age: 30"], fields: ["Age": "30"]),
            .stored(wait: 5, fields: ["Age": "35", "Date": date(0)]),
            .stored(wait: 5, fields: ["Age": "40", "Date": date(0)])
        ),
        Scenario(
            "an age beyond what can be told is the greatest there is",
            .fetch(["Cache-Control: max-age=5", "Age: 99999999999"]),
            .stored("200 stale one", request: ["Cache-Control: max-stale"], wait: 9, fields: ["Age": "2147483648"])
        ),
    ]

    private static func restricts(_ value: String) -> Scenario {
        Scenario(
            "restricts: \(value)",
            .fetch(["Cache-Control: \(value)"]),
            .fetch(["Cache-Control: no-store"], "two")
        )
    }

    private static func request(_ directive: String, _ answer: Step) -> Scenario {
        var answer = answer
        answer.request = ["Cache-Control: \(directive)"]
        return Scenario(
            "a request with \(directive)",
            .fetch(["Cache-Control: max-age=1500", "Age: 1000"]),
            answer
        )
    }

    /// RFC 9111 §5.2, §5.4; RFC 8246.
    static let directives: [Scenario] = [
        restricts("no-store"), restricts("No-StOrE"), restricts("max-age=10000, no-store"), restricts("no-cache"),
        restricts("max-age=10000, No-CaChE"), restricts("max-age=3600, no-store, foo=\"bar"),
        restricts("max-age=1800, max-age=1"), restricts("max-age=1, max-age=1800"), restricts("a=\"b\\\"\", no-store"),
        restricts("max-age=\"3600"), restricts("max-age = 3600"), restricts("max-age='3600'"),
        restricts("max-age=36 00"),
        Scenario(
            "a private cache stores what is private",
            .fetch(["Cache-Control: private, max-age=60"]),
            .stored()
        ),
        Scenario(
            "it stores the answers to requests with credentials, too",
            .fetch(["Cache-Control: max-age=60"], request: ["Authorization: Bearer a"]),
            .stored(request: ["Authorization: Bearer a"])
        ),
        Scenario(
            "no-cache is stored, and validated upon each use",
            .fetch(["Cache-Control: max-age=9999, no-cache", "ETag: \"a\""]),
            .fetch(["ETag: \"a\""], status: 304, sent: ["If-None-Match": "\"a\""], as: "200 revalidated one"),
            .fetch(["ETag: \"a\""], status: 304, sent: ["If-None-Match": "\"a\""], as: "200 revalidated one")
        ),
        Scenario(
            "no-cache that names fields is validated upon each use, too",
            .fetch(["Cache-Control: no-cache=\"a, b\"", "Cache-Control: max-age=60", "ETag: \"a\""]),
            .fetch(["ETag: \"a\""], status: 304, sent: ["If-None-Match": "\"a\""], as: "200 revalidated one")
        ),
        Scenario(
            "a newer response with no-store puts an end to the older one",
            .fetch(["Cache-Control: max-age=60"]),
            .fetch(["Cache-Control: no-store"], "two", wait: 60),
            .fetch(["Cache-Control: max-age=60"], "three")
        ),
        Scenario(
            "must-revalidate is served as long as it is fresh",
            .fetch(["Cache-Control: max-age=60, must-revalidate"]),
            .stored(wait: 59),
            .fetch(["Cache-Control: max-age=60"], "two", request: ["Cache-Control: max-stale"], wait: 1)
        ),
        Scenario(
            "must-understand allows a known status to be stored in spite of no-store",
            .fetch(["Cache-Control: max-age=3600, no-store, must-understand"]),
            .stored()
        ),
        Scenario(
            "and no unknown one",
            .fetch(["Cache-Control: max-age=3600, no-store, must-understand"], status: 599),
            .fetch()
        ),
        Scenario(
            "immutable needs no validation while it is fresh, whatever the mode",
            .fetch(["Cache-Control: max-age=60, immutable", "ETag: \"a\""]),
            .stored(mode: .revalidate, wait: 59),
            .fetch(status: 304, wait: 1, sent: ["If-None-Match": "\"a\""], as: "200 revalidated one")
        ),
        request("max-age=0", .fetch([], "two")), request("max-age=600", .fetch([], "two")),
        request("max-age=1000", .stored()), request("max-age=1100", .fetch([], "two", wait: 101)),
        request("min-fresh=500", .stored()), request("min-fresh=501", .fetch([], "two")),
        request("max-stale=100", .stored("200 stale one", wait: 600)),
        request("max-stale=99", .fetch([], "two", wait: 600)),
        request("max-stale", .stored("200 stale one", wait: 9_999)),
        request("no-cache", .fetch([], "two")), request("no-store", .stored()), request("only-if-cached", .stored()),
        request("only-if-cached", .stored("504 unsatisfiable ", wait: 600)),
        Scenario(
            "only-if-cached without anything",
            .stored("504 unsatisfiable ", request: ["Cache-Control: only-if-cached"])
        ),
        Scenario(
            "no-store in a request",
            .fetch(["Cache-Control: max-age=60"], request: ["Cache-Control: no-store"]),
            .fetch(["Cache-Control: max-age=60"])
        ),
        Scenario(
            "Pragma in a request, where there is no Cache-Control",
            .fetch(["Cache-Control: max-age=60", "Last-Modified: {-9}"]),
            .stored(request: ["Pragma: no-cache", "Cache-Control: max-age=9"]),
            .stored(request: ["Pragma: foo"]),
            .fetch(
                status: 304,
                request: ["Pragma: no-cache"],
                sent: ["If-Modified-Since": date(-9), "Pragma": "no-cache"],
                as: "200 revalidated one"
            )
        ),
    ]
}
