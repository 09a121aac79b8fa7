import Foundation
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct RetryAfterTests {
    // Sun, 06 Nov 1994 08:49:37 GMT
    private let now = Date(timeIntervalSince1970: 784_111_777)

    private func wait(_ values: String...) -> Duration? {
        var fields = HTTPFields()
        fields[values: .retryAfter] = values
        return RetryAfter.wait(in: fields, now: now)
    }

    @Test(arguments: [
        ("0", Duration.zero), ("1", .seconds(1)), ("120", .seconds(120)), ("007", .seconds(7)),
        ("Sun, 06 Nov 1994 08:49:37 GMT", .zero),
        ("Sun, 06 Nov 1994 08:50:07 GMT", .seconds(30)),
        ("Sunday, 06-Nov-94 08:50:07 GMT", .seconds(30)),
        ("Sun Nov  6 08:50:07 1994", .seconds(30)),
        ("Mon Nov 07 08:49:37 1994", .seconds(86_400)),
        ("Sat, 05 Nov 1994 08:49:37 GMT", .zero),
        ("Thu, 01 Jan 1970 00:00:00 GMT", .zero),
        ("Wed, 01 Mar 2000 00:00:00 GMT", .seconds(951_868_800 - 784_111_777)),
    ])
    func everyFormIsUnderstood(value: String, expected: Duration) {
        #expect(wait(value) == expected)
    }

    @Test(arguments: ["99999999999", "999999999999999999999999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"])
    func absurdlyLargeIsABillionSecondsAtMost(value: String) {
        #expect(wait(value) == .seconds(1_000_000_000))
    }

    @Test(arguments: [
        "", "-1", "1.5", "1s", "soon", "0x10", "\u{661}", "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994",
        "Sun, 29 Feb 1900 08:49:37 GMT",
        "1994-11-06T08:49:37Z", "Sun, 06 Nox 1994 08:49:37 GMT", "Sun, 6666666666666666666666 Nov 1994 08:49:37 GMT",
    ])
    func anythingElseIsNotThere(value: String) {
        #expect(wait(value) == nil)
    }

    @Test func ofSeveralFieldsTheLongestCounts() {
        #expect(wait("1", "soon", "3", "2") == .seconds(3))
        #expect(wait() == nil)
    }

    @Test(arguments: ["sun, 06 nov 1994 08:50:07 gmt", "SUNDAY, 06-NOV-94 08:50:07 GMT"])
    func letterCaseOfADateDoesNotMatter(value: String) {
        #expect(wait(value) == .seconds(30))
    }

    @Test(arguments: [
        "Xyz, 06 Nov 1994 08:50:07 GMT", "Sunday, 06-Nov-1994 08:50:07 GMT", "Sun 06 Nov 1994 08:50:07 GMT",
    ])
    func mixtureOfTheFormsIsNotThere(value: String) {
        #expect(wait(value) == nil)
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan, 1e300, -1e300])
    func absurdClockEndsNothing(now: Double) throws {
        var fields = HTTPFields()
        fields[.retryAfter] = "Sunday, 06-Nov-44 08:49:37 GMT"
        let wait = RetryAfter.wait(in: fields, now: Date(timeIntervalSince1970: now))
        #expect(try #require(wait) >= .zero)
    }
}
