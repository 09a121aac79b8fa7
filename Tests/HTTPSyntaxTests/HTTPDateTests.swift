import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsSyntax

@Suite(.againstHanging) struct HTTPDateTests {
    private let now: Int64 = 1_700_000_000  // November 2023

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Wed, 31 Dec 1969 23:59:59 GMT", -1), ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799), ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
            ("Wed Nov 16 08:49:37 1994", 784_975_777),
            // RFC 9111 §4.2: case-insensitive
            ("SUN, 06 nov 1994 08:49:37 gmt", 784_111_777), ("sUnDaY, 06-NOV-94 08:49:37 gMT", 784_111_777),
            // A wrong weekday doesn't invalidate the date.
            ("Mon, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        ] as [(String, Int64)]
    )
    func theThreeFormsAreRead(text: String, expected: Int64) {
        #expect(HTTPDate.parse(text, now: now) == expected)
    }

    @Test(arguments: [
        "", "0", "-1", "soon", "Sun", "Sun,", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 EST", "Sun, 06 Nov 1994 08:49:37 +0000",
        "Sun, 06 Nov 1994 08:49:37 GMT ", " Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMTx",
        "Sun, 06 Nov 94 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT", "Sun, 06  Nov  1994 08:49:37 GMT",
        "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 06 Nov 1994 08.49.37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Wed, 31 Nov 1994 08:49:37 GMT",
        "Mon, 29 Feb 1900 00:00:00 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Xyz, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 94", "Sun Nov  6 08:49:37 1994 GMT", "Sun Nov 06 08:49:37",
        "Sun Nov  16 08:49:37 1994", "1994-11-06T08:49:37Z", "784111777",
    ])
    func whatIsNoDate(text: String) {
        #expect(HTTPDate.parse(text, now: now) == nil)
    }

    @Test(arguments: [("23", 2023), ("73", 2073), ("74", 1974), ("99", 1999), ("00", 2000)] as [(String, Int)])
    func twoDigitsOfAYearAreNotMoreThanFiftyYearsAhead(digits: String, year: Int) {
        #expect(
            HTTPDate.parse("Friday, 01-Jan-\(digits) 00:00:00 GMT", now: now)
                == HTTPDate.parse("Fri, 01 Jan \(year) 00:00:00 GMT", now: now)
        )
    }

    @Test func whatIsWrittenIsReadBack() {
        var generator = SeededGenerator(seed: 9111)
        for _ in 0..<5_000 {
            let seconds = Int64.random(in: -62_135_596_800...253_402_300_799, using: &generator)
            #expect(HTTPDate.parse(HTTPDate.format(seconds), now: now) == seconds)
        }
        #expect(HTTPDate.format(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.format(.max) == "Fri, 31 Dec 9999 23:59:59 GMT")
        #expect(HTTPDate.format(.min) == "Sat, 01 Jan 0000 00:00:00 GMT")
    }

    @Test func exactlyFiftyYearsAheadIsNotMoreThanFiftyYears() {
        // Sun, 06 Nov 1994 08:49:37 GMT
        let now: Int64 = 784_111_777
        #expect(HTTPDate.parse("Sunday, 06-Nov-44 08:49:37 GMT", now: now) == 2_362_034_977)
        #expect(HTTPDate.parse("Sunday, 06-Nov-44 08:49:38 GMT", now: now) == -793_725_022)
        #expect(HTTPDate.parse("Sunday, 06-Nov-45 08:49:37 GMT", now: now) == -762_189_023)
        // The clock reads 2090.
        #expect(HTTPDate.parse("Thursday, 06-Nov-10 08:49:37 GMT", now: 3_800_000_000) == 4_444_706_977)
    }

    @Test(arguments: [Int64.min, .max, 0]) func absurdClockDecidesSomeCentury(now: Int64) {
        #expect(HTTPDate.parse("Sunday, 06-Nov-44 08:49:37 GMT", now: now) != nil)
    }

    @Test func datesAgreeWithFoundation() {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<200 {
            let seconds = Int64.random(in: 0..<8_000_000_000, using: &generator)
            let text = formatter.string(from: Date(timeIntervalSince1970: Double(seconds)))
            #expect(HTTPDate.parse(text, now: 0) == seconds, "\(text)")
            #expect(HTTPDate.format(seconds) == text)
        }
    }
}
