import Foundation
import Testing

@testable import Middlewares

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

    @Test func yearsOfTwoDigitsAreNeverMoreThanFiftyYearsAhead() {
        #expect(RetryAfter.date("Sunday, 06-Nov-44 08:49:37 GMT", now: 784_111_777) == 2_362_034_977)
        #expect(RetryAfter.date("Sunday, 06-Nov-45 08:49:37 GMT", now: 784_111_777) == -762_189_023)
        // 2090, and absurd clocks.
        #expect(RetryAfter.date("Thursday, 06-Nov-10 08:49:37 GMT", now: 3_800_000_000) == 4_444_706_977)
        for now in [Double.infinity, -.infinity, .nan, 1e300] {
            #expect(RetryAfter.date("Sunday, 06-Nov-44 08:49:37 GMT", now: now) != nil)
        }
    }

    @Test func datesAgreeWithFoundation() {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        let random = RandomSource.seeded(3)
        for _ in 0..<200 {
            let seconds = Double(random.next() % 8_000_000_000)
            let text = formatter.string(from: Date(timeIntervalSince1970: seconds))
            #expect(RetryAfter.date(text, now: 0) == seconds, "\(text)")
        }
    }
}
