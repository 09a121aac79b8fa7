import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsSyntax

/// RFC 6265 §5.1.1.
@Suite(.againstHanging) struct CookieDateTests {
    @Test(arguments: [
        "Wed, 09 Jun 2021 10:18:14 GMT", "Wednesday, 09-Jun-21 10:18:14 GMT", "Wed Jun  9 10:18:14 2021",
        "09 June 2021 10:18:14", "2021 10:18:14 9 jun", "Wed, 9-Jun-2021 10:18:14 UTC; junk",
        "10:18:14x Jun/9th/2021",
    ])
    func everyFormOfDateIsRead(text: String) {
        #expect(CookieDate.parse(text) == Date(timeIntervalSince1970: 1_623_233_894))
    }

    @Test(arguments: [
        "", "Wed, 09 Jun 2021", "10:18:14 Jun 2021", "Wed, 09 2021 10:18:14", "Wed, 32 Jun 2021 10:18:14",
        "Wed, 00 Jun 2021 10:18:14", "Wed, 09 Jun 1600 10:18:14", "Wed, 09 Jun 2021 24:18:14",
        "Wed, 09 Jun 2021 10:60:14", "Wed, 09 Jun 2021 10:18:60", "Wed, 30 Feb 2021 10:18:14",
        "Wed, 09 Jun 20211 10:18:14", "Wed, 09 Jun 2021 010:18:14",
    ])
    func incompleteAndImpossibleDatesAreRefused(text: String) {
        #expect(CookieDate.parse(text) == nil)
    }

    @Test func yearsBegin1601() {
        #expect(CookieDate.parse("01 Jan 1601 00:00:00") == Date(timeIntervalSince1970: -11_644_473_600))
        #expect(CookieDate.parse("31 Dec 1600 23:59:59") == nil)
        #expect(CookieDate.parse("01 Jan 100 00:00:00") == nil)
    }

    @Test func twoDigitYearsFrom70AreOfThe1900s() {
        #expect(CookieDate.parse("01 Jan 70 00:00:00") == Date(timeIntervalSince1970: 0))
        #expect(CookieDate.parse("01 Jan 99 00:00:00").map { CivilTime($0).year } == 1999)
        #expect(CookieDate.parse("01 Jan 69 00:00:00").map { CivilTime($0).year } == 2069)
        #expect(CookieDate.parse("01 Jan 00 00:00:00").map { CivilTime($0).year } == 2000)
    }
}
