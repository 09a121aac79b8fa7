import Interceptors
import InterceptorsSyntax
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct CacheFieldsTests {
    private func control(_ lines: String...) -> CacheControl {
        var fields = HTTPFields()
        for line in lines { fields.append(.cacheControl, line) }
        return CacheControl(fields)
    }

    @Test(
        arguments: [
            // RFC 9111 §1.2.2: digits only
            ("max-age=0", .value(0)), ("max-age=003600", .value(3600)), ("MAX-AGE=5", .value(5)),
            ("max-age=2147483647", .value(2_147_483_647)),
            // §1.2.2: a number too large to represent counts as 2^31
            ("max-age=2147483649", .value(2_147_483_648)),
            ("max-age=99999999999999999999999999", .value(2_147_483_648)),
            // §5.2: both forms of the argument are accepted
            ("max-age=\"3600\"", .value(3600)), ("max-age=\"36\\00\"", .value(3600)),
            // §4.2.1: invalid freshness information makes the response stale
            ("max-age", .invalid), ("max-age=", .invalid), ("max-age=-1", .invalid), ("max-age=+1", .invalid),
            ("max-age='3600'", .invalid), ("max-age=3600.0", .invalid), ("max-age=a3600", .invalid),
            ("max-age=3600a", .invalid), ("max-age =3600", .invalid), ("max-age= 3600", .invalid),
            ("max-age=36 00", .invalid), ("max-age=\" 3600\"", .invalid), ("max-age=\"3600", .invalid),
            // §4.2.1: different values make the response stale, equal values don't
            ("max-age=1800, max-age=1", .invalid), ("max-age=1, max-age=1800", .invalid),
            ("max-age=60,max-age=60", .value(60)), ("max-age=60, max-age=x", .invalid),
            ("max-age=x, max-age=60", .invalid),
            // §5.2: inside another directive's argument, the text is no directive
            ("extension=\"max-age=3600\"", .absent), ("extension=\"a,max-age=3600\"", .absent),
            ("extension=\"max-age=3600\", max-age=1", .value(1)),
            ("max-age=1, extension=\"\\\"max-age=3600\"", .value(1)),
            // §5.2.3: unknown directives are ignored
            ("x-max-age=5", .absent), ("maxage=5", .absent), ("", .absent), (",,  ,", .absent),
            ("\u{E9}, max-age=5", .value(5)), ("foo bar, max-age=7", .value(7)),
        ] as [(String, CacheControl.Seconds)]
    )
    func maxAgeIsReadStrictly(value: String, expected: CacheControl.Seconds) {
        #expect(control(value).maxAge == expected)
    }

    @Test func directivesAreReadFromEveryLine() {
        let directives = control("public , Max-Age=5", "", "NO-STORE,must-revalidate;x", "immutable")
        #expect(directives.isPublic && directives.noStore && directives.immutable)
        #expect(directives.mustRevalidate, "what follows a known directive does not weaken it")
        #expect(directives.maxAge == .value(5))
    }

    @Test func aQuoteThatNeverEndsHidesNoDirective() {
        #expect(control("extension=\"abc, no-store").noStore)
        #expect(control("a \"b, no-store").noStore)
        #expect(!control("extension=\"abc, no-store\"").noStore)
        #expect(control("a=\"\\\"b\\\", no-store").noStore, "nor do the quotes in it")
        #expect(control("a=\"\\\\\"; \"b, no-store").noStore)
    }

    // With quadratic time, these lines would take hours.
    @Test(.againstHanging)
    func timeToReadALineGrowsNoFasterThanItsLength() throws {
        let count = 500_000
        let quotes = String(repeating: "\\\"", count: count)
        #expect(control("a=\"" + quotes + ", no-store").noStore)
        #expect(control("a \"" + quotes + ", no-store").noStore)
        let names = (0..<count / 10).map { "no-cache=\"f\($0)\"" }.joined(separator: ",")
        #expect(control(names).noCache)
    }

    @Test func argumentsWhereNoneBelongDoNotWeaken() {
        let directives = control(
            "no-store=5, must-revalidate=\"x\", private=\"set-cookie\", must-understand=, public=1"
        )
        #expect(directives.noStore && directives.mustRevalidate && directives.isPrivate)
        #expect(directives.mustUnderstand && directives.isPublic)
    }

    @Test(
        arguments: [
            ("no-cache", true), ("no-cache=\"Set-Cookie\"", true), ("no-cache=Set-Cookie", true),
            ("no-cache=\"\"", true), ("no-cache=\"a b\"", true), ("no-cache=\"a", true), ("no-cache =\"a\"", true),
            ("x=no-cache", false), ("x=\"no-cache\"", false),
        ] as [(String, Bool)]
    )
    func noCacheIsReadWithAndWithoutFieldNames(value: String, expected: Bool) {
        #expect(control(value).noCache == expected)
    }

    @Test func maxStaleNeedsNoNumber() {
        #expect(control("max-stale").acceptsAnyStale)
        #expect(control("max-stale=10").maxStale == .value(10) && !control("max-stale=10").acceptsAnyStale)
        #expect(control("max-stale=x").maxStale == .invalid && !control("max-stale=x").acceptsAnyStale)
    }

    @Test(
        arguments: [
            (["0"], 0), (["7200"], 7200), (["7200, 0"], 7200), (["0,7200"], 0), (["7200", "0"], 7200),
            (["4294967296"], 2_147_483_648), (["99999999999999999999"], 2_147_483_648), ([" 5 "], 5),
            (["abc"], nil), (["-7200"], nil), (["7200.0"], nil), (["", "5"], nil), (["\"5\""], nil), ([], nil),
            (["5 6"], nil),
        ] as [([String], Int64?)]
    )
    func ageIsTheFirstMemberOrIgnored(lines: [String], expected: Int64?) {
        var fields = HTTPFields()
        for line in lines { fields.append(.age, line) }
        #expect(DeltaSeconds.age(in: fields) == expected)
    }

    @Test(
        arguments: [
            (["Accept"], .names(["accept"])), (["Foo, bar ,,FOO", "baz"], .names(["bar", "baz", "foo"])),
            ([], .names([])),
            ([""], .names([])), (["*"], .everything), (["*, *"], .everything), ([", *"], .everything),
            (["", "*"], .everything), (["Foo, *"], .everything), (["*", "Foo"], .everything), (["a b"], .everything),
            (["\"a\""], .everything),
        ] as [([String], VaryField)]
    )
    func varyNamesFieldsOrEverything(lines: [String], expected: VaryField) {
        var fields = HTTPFields()
        for line in lines { fields.append(.vary, line) }
        #expect(VaryField(fields) == expected)
    }

    @Test(arguments: [
        ("\"a\"", false, "a"), ("W/\"a\"", true, "a"), ("\"\"", false, ""), ("\"a\\b\"", false, "a\\b"),
        ("\"a,b\"", false, "a,b"), (" \"x\" ", false, "x"), ("\"\u{E9}\"", false, "\u{E9}"),
    ])
    func entityTagsAreRead(text: String, isWeak: Bool, opaque: String) throws {
        let tag = try #require(EntityTag(text))
        #expect(tag.isWeak == isWeak && tag.opaque == Array(opaque.utf8))
    }

    @Test(arguments: [
        "", "a", "w/\"a\"", "W/a", "W \"a\"", "\"a", "a\"", "\"a\"b", "\"a\", \"b\"", "\"a b\"", "\"a\u{1}\"", "*",
    ])
    func whatIsNoEntityTag(text: String) {
        #expect(EntityTag(text) == nil)
    }

    @Test func weakAndStrongComparisonFollowTheTableOfTheRFC() throws {
        let weak1 = try #require(EntityTag("W/\"1\"")), weak2 = try #require(EntityTag("W/\"2\""))
        let strong1 = try #require(EntityTag("\"1\""))
        #expect(!weak1.matchesStrongly(weak1) && weak1.matchesWeakly(weak1))  // RFC 9110 §8.8.3.2
        #expect(!weak1.matchesStrongly(weak2) && !weak1.matchesWeakly(weak2))
        #expect(!weak1.matchesStrongly(strong1) && weak1.matchesWeakly(strong1))
        #expect(strong1.matchesStrongly(strong1) && strong1.matchesWeakly(strong1))
    }

    @Test(
        arguments: [
            ("*", 1), ("\"a\"", 1), ("\"a\", W/\"b\"", 2), ("\"a\",,\"b,c\" ,", 2), ("\"a\" \"b\"", nil),
            ("* , \"a\"", nil),
            ("a", nil), ("", nil), (",", nil), ("\"a\", b", nil),
        ] as [(String, Int?)]
    )
    func listsOfEntityTagsAreRead(text: String, count: Int?) {
        let condition = EntityTagCondition([.ifNoneMatch: text])
        switch condition {
        case .any: #expect(text == "*")
        case .tags(let tags): #expect(tags.count == count)
        case nil: #expect(count == nil)
        }
    }

    @Test(
        arguments: [
            ("bytes=0-1", 0..<2), ("bytes=1-", 1..<10), ("bytes=-1", 9..<10), ("bytes=-50", 0..<10),
            ("BYTES=9-99", 9..<10),
            ("bytes= 2-3 ", 2..<4), ("bytes=0-9223372036854775807", 0..<10),
            ("bytes=0-99999999999999999999999", 0..<10),
            ("bytes=10-", nil), ("bytes=-0", nil), ("bytes=99999999999999999999999-", nil),
        ] as [(String, Range<Int64>?)]
    )
    func aSingleRangeSelectsBytes(text: String, expected: Range<Int64>?) {
        guard case .single(let range) = ByteRange.requested(in: [.range: text]) else {
            Issue.record("\(text) is a single range")
            return
        }
        #expect(range.bytes(of: 10) == expected)
        #expect(range.bytes(of: 0) == nil)
    }

    @Test(arguments: [
        "", "bytes", "bytes=", "bytes=-", "bytes=5-4", "bytes=0-1,3-4", "lines=0-1", "bytes 0-1", "bytes=a-b",
        "bytes=--1",
    ])
    func otherRangesAreForTheServerToJudge(text: String) {
        #expect(ByteRange.requested(in: [.range: text]) == .other)
    }

    @Test(
        arguments: [
            ("bytes 0-4/10", ContentRange(bytes: 0..<5, total: 10)),
            ("bytes 4-9/*", ContentRange(bytes: 4..<10, total: nil)),
            ("bytes */10", ContentRange(bytes: nil, total: 10)), ("Bytes 0-0/1", ContentRange(bytes: 0..<1, total: 1)),
            ("bytes 5-4/10", nil), ("bytes 0-10/10", nil), ("bytes */*", nil), ("bytes 0-4", nil), ("bytes 0-4/", nil),
            ("bytes=0-4/10", nil), ("lines 0-4/10", nil), ("bytes 0-4/10 ", nil),
            ("bytes 0-99999999999999999999/*", nil), ("", nil),
        ] as [(String, ContentRange?)]
    )
    func contentRangeIsReadAndWritten(text: String, expected: ContentRange?) {
        #expect(ContentRange(text) == expected)
        if let expected { #expect(ContentRange(expected.description) == expected) }
    }
}
