import Interceptors
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct CachePolicyDecisionTests {
    private func check(_ row: Row) throws {
        let entry = try stored(row.response, status: row.status, for: row.storedRequest)
        let decision = CachePolicy().decide(try row.httpRequest(), stored: [entry], now: start + row.age)
        #expect(describe(decision) == row.expected)
    }

    // Section numbers refer to RFC 9111 unless the row names another RFC.
    @Test(arguments: [
        // response_is_fresh = (freshness_lifetime > current_age)
        Row("4.2", ["Cache-Control: max-age=60"], age: 59, "fresh"),
        Row("4.2", ["Cache-Control: max-age=60"], age: 60, "stale"),
        Row("4.2", ["Cache-Control: max-age=0"], age: 0, "stale"),
        Row("4.2.1", ["Cache-Control: max-age=60", "Expires: {-1}"], "fresh"),
        Row("4.2.1", ["Cache-Control: max-age=1", "Expires: {3600}"], "stale"),
        Row("4.2.1", ["Date: {0}", "Expires: {60}"], age: 59, "fresh"),
        Row("4.2.1", ["Date: {0}", "Expires: {60}"], age: 60, "stale"),
        Row("4.2.1", ["Date: {-30}", "Expires: {30}"], age: 29, "fresh"),
        Row("4.2.1", ["Date: {-30}", "Expires: {30}"], age: 30, "stale"),
        Row("4.2.1", ["Cache-Control: s-maxage=3600"], "stale"),
        Row("4.2.1", ["Cache-Control: s-maxage=1, max-age=60"], "fresh"),
        Row("4.2.1", ["Cache-Control: max-age=60, max-age=90"], "stale"),
        Row("4.2.1", ["Cache-Control: max-age=abc"], "stale"),
        Row("4.2.1", ["Cache-Control: max-age=abc", "Expires: {3600}"], "stale"),
        Row("4.2.1", ["Expires: {60}", "Expires: {90}"], "stale"),
        Row("5.3", ["Expires: 0", "Last-Modified: {-999999}"], "stale If-Modified-Since=\(date(-999999))"),
        Row("5.3", ["Expires: \(date(3600).replacing("GMT", with: "UTC"))"], "stale"),
        Row("1.2.2", ["Cache-Control: max-age=99999999999999999999"], age: 2_000_000_000, "fresh"),
        Row("1.2.2", ["Cache-Control: max-age=99999999999999999999"], age: 2_147_483_648, "stale"),
        // Age
        Row("4.2.3", ["Age: 50", "Cache-Control: max-age=60"], age: 9, "fresh"),
        Row("4.2.3", ["Age: 50", "Cache-Control: max-age=60"], age: 10, "stale"),
        Row("4.2.3", ["Date: {-50}", "Cache-Control: max-age=60"], age: 9, "fresh"),
        Row("4.2.3", ["Date: {-50}", "Cache-Control: max-age=60"], age: 10, "stale"),
        Row("4.2.3", ["Date: {-50}", "Age: 55", "Cache-Control: max-age=60"], age: 4, "fresh"),
        Row("4.2.3", ["Date: {-50}", "Age: 55", "Cache-Control: max-age=60"], age: 5, "stale"),
        Row("4.2.3", ["Date: {500}", "Cache-Control: max-age=60"], age: 59, "fresh"),
        Row("5.1", ["Age: abc", "Cache-Control: max-age=60"], "fresh"),
        Row("5.1", ["Age: 99999999999999999999", "Cache-Control: max-age=99999999999999999999"], "stale"),
        // heuristics
        Row("4.2.2", ["Date: {0}", "Last-Modified: {-1000}"], age: 99, "fresh"),
        Row("4.2.2", ["Date: {0}", "Last-Modified: {-1000}"], age: 100, "stale If-Modified-Since=\(date(-1000))"),
        Row("4.2.2", ["Last-Modified: {-1000000000}"], age: 86_399, "fresh"),
        Row("4.2.2", ["Last-Modified: {10}"], age: 0, "stale If-Modified-Since=\(date(10))"),
        Row("4.2.2", ["Last-Modified: {-1000}"], status: 404, "fresh"),
        Row("4.2.2", ["Last-Modified: {-1000}"], status: 302, "stale"),
        Row("4.2.2", ["Last-Modified: {-1000}", "Cache-Control: public"], status: 302, "fresh"),
        Row("4.2.2", ["X: no validator, no time"], age: 0, "stale"),
    ])
    func freshness(row: Row) throws { try check(row) }

    @Test(arguments: [
        Row("5.2.2.4", ["Cache-Control: max-age=60, no-cache", "ETag: \"a\""], "request If-None-Match=\"a\""),
        Row("5.2.2.4", ["Cache-Control: max-age=60, no-cache"], request: ["Cache-Control: max-stale"], "request"),
        Row("5.2.2.4", ["Cache-Control: max-age=60, no-cache=\"Set-Cookie\""], "request"),
        Row("5.2.2.4", ["Cache-Control: max-age=60, no-cache=\"a b\""], "request"),
        Row("5.2.2.2", ["Cache-Control: max-age=60, must-revalidate"], age: 59, "fresh"),
        Row("5.2.2.2", ["Cache-Control: max-age=5, must-revalidate"], request: ["Cache-Control: max-stale"], "stale"),
        Row("5.2.2.2", ["Cache-Control: max-age=5, must-revalidate, stale-while-revalidate=60"], "stale"),
        Row(
            "5.2.2.8",
            ["Cache-Control: max-age=5, proxy-revalidate"],
            request: ["Cache-Control: max-stale"],
            "max-stale"
        ),
        Row("5.2.2.7", ["Cache-Control: private, max-age=60"], "fresh"),
        Row("5.2.1.1", ["Cache-Control: max-age=60"], request: ["Cache-Control: max-age=10"], "fresh"),
        Row("5.2.1.1", ["Cache-Control: max-age=60"], request: ["Cache-Control: max-age=9"], "request"),
        Row("5.2.1.1", ["Cache-Control: max-age=60"], request: ["Cache-Control: max-age=x"], "request"),
        Row("5.2.1.1", ["Cache-Control: max-age=60"], age: 0, request: ["Cache-Control: max-age=0"], "request"),
        Row("5.2.1.1", ["Cache-Control: max-age=60"], request: ["Cache-Control: max-age=0, max-stale"], "request"),
        Row("5.2.1.2", ["Cache-Control: max-age=5"], request: ["Cache-Control: max-stale"], "max-stale"),
        Row("5.2.1.2", ["Cache-Control: max-age=5"], request: ["Cache-Control: max-stale=5"], "max-stale"),
        Row("5.2.1.2", ["Cache-Control: max-age=5"], request: ["Cache-Control: max-stale=4"], "stale"),
        Row("5.2.1.2", ["Cache-Control: max-age=5"], request: ["Cache-Control: max-stale=x"], "stale"),
        Row("5.2.1.3", ["Cache-Control: max-age=60"], request: ["Cache-Control: min-fresh=50"], "fresh"),
        Row("5.2.1.3", ["Cache-Control: max-age=60"], request: ["Cache-Control: min-fresh=51"], "request"),
        Row(
            "5.2.1.4",
            ["Cache-Control: max-age=60", "ETag: \"a\""],
            request: ["Cache-Control: no-cache"],
            "request If-None-Match=\"a\""
        ),
        Row("5.2.1.5", ["Cache-Control: max-age=60"], request: ["Cache-Control: no-store"], "fresh"),
        Row("5.2.1.7", ["Cache-Control: max-age=60"], request: ["Cache-Control: only-if-cached"], "fresh"),
        Row("5.2.1.7", ["Cache-Control: max-age=5"], request: ["Cache-Control: only-if-cached"], "504"),
        Row(
            "5.2.1.7",
            ["Cache-Control: max-age=5"],
            request: ["Cache-Control: only-if-cached, max-stale"],
            "max-stale"
        ),
        Row("5.4", ["Cache-Control: max-age=60"], request: ["Pragma: no-cache"], "request"),
        Row("5.4", ["Cache-Control: max-age=60"], request: ["Pragma: no-cache", "Cache-Control: max-age=30"], "fresh"),
        Row("5.4", ["Cache-Control: max-age=60", "Pragma: no-cache"], "fresh"),
        Row("RFC 5861 3", ["Cache-Control: max-age=5, stale-while-revalidate=5"], "stale-while-revalidate"),
        Row("RFC 5861 3", ["Cache-Control: max-age=5, stale-while-revalidate=4"], "stale"),
        Row(
            "RFC 5861 3",
            ["Cache-Control: max-age=5, stale-while-revalidate=60"],
            request: ["Cache-Control: max-age=30"],
            "stale"
        ),
        Row("RFC 5861 3", ["Cache-Control: max-age=5, stale-while-revalidate=x"], "stale"),
        Row("RFC 5861 4", ["Cache-Control: max-age=5, stale-if-error=60"], "stale"),
        Row("RFC 8246 2", ["Cache-Control: max-age=60, immutable"], mode: .revalidate, "fresh"),
        Row("RFC 8246 2", ["Cache-Control: max-age=5, immutable"], mode: .revalidate, "stale Cache-Control=max-age=0"),
        Row("RFC 8246 2", ["Cache-Control: max-age=60, immutable"], request: ["Cache-Control: no-cache"], "request"),
        Row("RFC 8246 2", ["Cache-Control: max-age=60, immutable"], request: ["Cache-Control: max-age=0"], "request"),
        Row(
            "mode",
            ["Cache-Control: max-age=60", "ETag: \"a\""],
            mode: .revalidate,
            "request If-None-Match=\"a\";Cache-Control=max-age=0"
        ),
        Row(
            "mode",
            ["Cache-Control: max-age=60"],
            request: ["Cache-Control: max-stale"],
            mode: .revalidate,
            "request"
        ),
        Row(
            "mode",
            ["Cache-Control: max-age=60"],
            request: ["Range: bytes=0-1,4-5"],
            mode: .revalidate,
            "bypass Cache-Control=max-age=0"
        ),
        Row("mode", ["Cache-Control: max-age=60"], method: .post, mode: .revalidate, "method"),
        Row(
            "mode",
            ["Cache-Control: max-age=60", "ETag: \"a\""],
            mode: .reload,
            "request Cache-Control=no-cache;Pragma=no-cache"
        ),
        Row("mode", ["Cache-Control: max-age=60"], mode: .onlyIfCached, "fresh"),
        Row("mode", ["Cache-Control: max-age=5"], mode: .onlyIfCached, "504"),
        Row("mode", ["Cache-Control: max-age=60, immutable"], mode: .doNotStore, "fresh"),
        Row("6", ["Cache-Control: max-age=5, must-revalidate, no-cache"], age: 99_999, mode: .offline, "offline"),
        Row("6", ["Cache-Control: max-age=60"], mode: .offline, "fresh"),
    ])
    func directivesAndModes(row: Row) throws { try check(row) }

    @Test(arguments: [
        Row("4", ["Cache-Control: max-age=60"], method: .head, "fresh head"),
        Row("4", ["Cache-Control: max-age=60"], method: .post, "method"),
        Row("4", ["Cache-Control: max-age=60"], method: .options, "method"),
        Row("4", ["Cache-Control: max-age=60"], method: .query, "method"),
        Row("4", ["Cache-Control: max-age=60"], method: "UNKNOWN", "method"),
        Row("4", ["Cache-Control: max-age=5", "ETag: \"a\""], method: .head, "stale"),
        // Vary
        Row("4.1", ["Cache-Control: max-age=60", "Vary: Foo"], request: ["Foo: 1"], was: ["Foo: 1"], "fresh"),
        Row("4.1", ["Cache-Control: max-age=60", "Vary: Foo"], request: ["Foo: 2"], was: ["Foo: 1"], "vary-miss"),
        Row("4.1", ["Cache-Control: max-age=60", "Vary: Foo"], request: [], was: ["Foo: 1"], "vary-miss"),
        Row("4.1", ["Cache-Control: max-age=60", "Vary: Foo"], request: ["Foo: 1"], was: [], "vary-miss"),
        Row("4.1", ["Cache-Control: max-age=60", "Vary: Foo"], request: [], was: [], "fresh"),
        Row("4.1", ["Cache-Control: max-age=60", "Vary: Foo"], request: ["Foo:"], was: [], "vary-miss"),
        Row(
            "4.1",
            ["Cache-Control: max-age=60", "Vary: Foo"],
            request: ["foo: 1", "FOO: 2"],
            was: ["Foo: 1,2"],
            "vary-miss"
        ),
        Row(
            "4.1",
            ["Cache-Control: max-age=60", "Vary: Foo"],
            request: ["Foo: 1 ,  2"],
            was: ["Foo: 1,2"],
            "vary-miss"
        ),
        Row(
            "4.1",
            ["Cache-Control: max-age=60", "Vary: Foo"],
            request: ["Foo: 2, 1"],
            was: ["Foo: 1, 2"],
            "vary-miss"
        ),
        Row(
            "4.1",
            ["Cache-Control: max-age=60", "Vary: Foo"],
            request: ["Foo: \"a , b\""],
            was: ["Foo: \"a,b\""],
            "vary-miss"
        ),
        Row("4.1", ["Cache-Control: max-age=60", "Vary: Foo"], request: ["Foo: A"], was: ["Foo: a"], "vary-miss"),
        Row(
            "4.1",
            ["Cache-Control: max-age=60", "Vary: Foo, Bar"],
            request: ["Foo: 1", "Bar: 2"],
            was: ["Foo: 1", "Bar: 3"],
            "vary-miss"
        ),
        Row(
            "4.1",
            ["Cache-Control: max-age=60", "Vary: Foo", "Vary: Bar"],
            request: ["Foo: 1", "Bar: 2"],
            was: ["Bar: 2", "Foo: 1"],
            "fresh"
        ),
        Row("4.1", ["Cache-Control: max-age=60", "Vary: *"], "vary-miss"),
        Row("4.1", ["Cache-Control: max-age=60", "Vary: Foo, *"], "vary-miss"),
        Row(
            "4.1",
            ["Cache-Control: max-age=60", "Vary: Accept-Language"],
            request: ["Accept-Language: en, de"],
            was: ["Accept-Language: de, en"],
            "vary-miss"
        ),
        // the cache's own conditions
        Row(
            "4.3.1",
            ["Cache-Control: max-age=5", "ETag: W/\"a\"", "Last-Modified: {-9}"],
            "stale If-None-Match=W/\"a\";If-Modified-Since=\(date(-9))"
        ),
        Row("4.3.1", ["Cache-Control: max-age=5", "ETag: unquoted"], "stale"),
        Row("4.3.1", ["Cache-Control: max-age=5", "Last-Modified: yesterday"], "stale"),
        Row("4.3.1", ["Cache-Control: max-age=5", "ETag: \"a\""], status: 404, "stale"),
        // the caller's conditions
        Row("4.3.2", ["Cache-Control: max-age=60", "ETag: \"a\""], request: ["If-None-Match: \"a\""], "fresh 304"),
        Row(
            "4.3.2",
            ["Cache-Control: max-age=60", "ETag: \"a\""],
            request: ["If-None-Match: \"b\", W/\"a\""],
            "fresh 304"
        ),
        Row("4.3.2", ["Cache-Control: max-age=60", "ETag: \"a\""], request: ["If-None-Match: *"], "fresh 304"),
        Row("4.3.2", ["Cache-Control: max-age=60", "ETag: \"a\""], request: ["If-None-Match: \"b\""], "fresh"),
        Row("4.3.2", ["Cache-Control: max-age=60"], request: ["If-None-Match: \"b\""], "fresh"),
        Row(
            "4.3.2",
            ["Cache-Control: max-age=60", "ETag: \"a\""],
            request: ["If-None-Match: \"a\""],
            method: .head,
            "fresh 304"
        ),
        Row(
            "4.3.2",
            ["Cache-Control: max-age=60", "ETag: \"a\""],
            request: ["If-None-Match: \"a\""],
            status: 404,
            "fresh"
        ),
        Row(
            "4.3.2",
            ["Cache-Control: max-age=60", "ETag: \"a\"", "Last-Modified: {-99}"],
            request: ["If-None-Match: \"b\"", "If-Modified-Since: {0}"],
            "fresh"
        ),
        Row(
            "4.3.2",
            ["Cache-Control: max-age=60", "Last-Modified: {-99}"],
            request: ["If-Modified-Since: {-99}"],
            "fresh 304"
        ),
        Row(
            "4.3.2",
            ["Cache-Control: max-age=60", "Last-Modified: {-99}"],
            request: ["If-Modified-Since: {-100}"],
            "fresh"
        ),
        Row("4.3.2", ["Cache-Control: max-age=60", "Date: {0}"], request: ["If-Modified-Since: {0}"], "fresh 304"),
        Row("4.3.2", ["Cache-Control: max-age=60", "Date: {0}"], request: ["If-Modified-Since: {-1}"], "fresh"),
        Row(
            "4.3.2",
            ["Cache-Control: max-age=60", "Last-Modified: {-99}"],
            request: ["If-Modified-Since: soon"],
            "fresh"
        ),
        Row("4.3.2", ["Cache-Control: max-age=60", "ETag: \"a\""], request: ["If-Match: \"a\""], "bypass"),
        Row("4.3.2", ["Cache-Control: max-age=60"], request: ["If-Unmodified-Since: {0}"], "bypass"),
        Row(
            "4.3.2",
            ["Cache-Control: max-age=5", "ETag: \"a\""],
            request: ["If-None-Match: \"b\""],
            "stale If-None-Match=\"b\", \"a\""
        ),
        Row("4.3.2", ["Cache-Control: max-age=5", "ETag: \"a\""], request: ["If-None-Match: \"a\""], "stale"),
        Row("4.3.2", ["Cache-Control: max-age=5", "ETag: \"a\""], request: ["If-None-Match: *"], "stale"),
        Row("4.3.2", ["Cache-Control: max-age=5", "ETag: \"a\""], request: ["If-Modified-Since: {0}"], "stale"),
        // ranges
        Row("RFC 9110 14.2", ["Cache-Control: max-age=60"], request: ["Range: bytes=0-1"], "fresh 0..<2"),
        Row("RFC 9110 14.2", ["Cache-Control: max-age=60"], request: ["Range: bytes=-1"], "fresh 9..<10"),
        Row("RFC 9110 14.2", ["Cache-Control: max-age=60"], request: ["Range: bytes=0-1"], method: .head, "fresh head"),
        Row("RFC 9110 14.2", ["Cache-Control: max-age=60"], request: ["Range: bytes=0-1"], status: 404, "fresh"),
        Row("RFC 9110 14.2", ["Cache-Control: max-age=60"], request: ["Range: bytes=0-1,4-5"], "bypass"),
        Row("RFC 9110 14.2", ["Cache-Control: max-age=60"], request: ["Range: pages=1"], "bypass"),
        Row("RFC 9110 15.5.17", ["Cache-Control: max-age=60"], request: ["Range: bytes=10-"], "fresh 416"),
        Row(
            "RFC 9110 13.2.2",
            ["Cache-Control: max-age=60", "ETag: \"a\""],
            request: ["Range: bytes=0-1", "If-None-Match: \"a\""],
            "fresh 304"
        ),
        Row(
            "RFC 9110 13.1.5",
            ["Cache-Control: max-age=60", "ETag: \"a\""],
            request: ["Range: bytes=0-1", "If-Range: \"a\""],
            "fresh 0..<2"
        ),
        Row(
            "RFC 9110 13.1.5",
            ["Cache-Control: max-age=60", "ETag: \"a\""],
            request: ["Range: bytes=0-1", "If-Range: \"b\""],
            "fresh"
        ),
        Row(
            "RFC 9110 13.1.5",
            ["Cache-Control: max-age=60", "ETag: W/\"a\""],
            request: ["Range: bytes=0-1", "If-Range: W/\"a\""],
            "fresh"
        ),
        Row(
            "RFC 9110 13.1.5",
            ["Cache-Control: max-age=60", "Last-Modified: {-9}"],
            request: ["Range: bytes=0-1", "If-Range: {-9}"],
            "fresh 0..<2"
        ),
        Row(
            "RFC 9110 13.1.5",
            ["Cache-Control: max-age=60", "Last-Modified: {0}"],
            request: ["Range: bytes=0-1", "If-Range: {0}"],
            "fresh"
        ),
        Row(
            "RFC 9110 13.1.5",
            ["Cache-Control: max-age=60", "Last-Modified: {-9}"],
            request: ["Range: bytes=0-1", "If-Range: {-8}"],
            "fresh"
        ),
        Row(
            "RFC 9110 13.1.5",
            ["Cache-Control: max-age=5", "ETag: \"a\""],
            request: ["Range: bytes=0-1", "If-Range: \"a\""],
            "stale"
        ),
    ])
    func selectionConditionsAndRanges(row: Row) throws { try check(row) }

    @Test func nothingStoredIsAMissOr504() throws {
        #expect(
            describe(CachePolicy().decide(try Row("4", [], "").httpRequest(), stored: [], now: start)) == "uri-miss"
        )
        for row in [
            Row("5.2.1.7", [], request: ["Cache-Control: only-if-cached"], ""),
            Row("mode", [], mode: .onlyIfCached, ""),
            Row("mode", [], mode: .offline, ""),
        ] {
            #expect(CachePolicy().decide(try row.httpRequest(), stored: [], now: start) == .unsatisfiable)
        }
    }

    @Test func aRequestWithContentIsNotAnsweredFromTheStore() throws {
        var request = try Row("4", [], "").httpRequest()
        request.body = "content"
        #expect(
            describe(CachePolicy().decide(request, stored: [try stored(["Cache-Control: max-age=60"])], now: start))
                == "bypass"
        )
    }
}
