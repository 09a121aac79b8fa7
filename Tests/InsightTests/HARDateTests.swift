import Foundation
import InterceptorsArchives
import Testing

@testable import InterceptorsSyntax

@Suite(.againstHanging) struct HARDateTests {
    @Test(arguments: [
        ("2026-03-01T10:00:00Z", 1_772_359_200), ("2026-03-01T10:00:00.25Z", 1_772_359_200.25),
        ("2026-03-01T10:00:00.123456789Z", 1_772_359_200.123456), ("2026-03-01t11:30:00.000+01:30", 1_772_359_200),
        ("2026-03-01T02:00:00-0800", 1_772_359_200), ("2026-03-01T12:00:00+02", 1_772_359_200),
        ("2026-03-01 10:00:00", 1_772_359_200), ("2026-03-01T10:00Z", 1_772_359_200),
        ("1969-12-31T23:59:59.5Z", -0.5), ("2016-12-31T23:59:60Z", 1_483_228_800),
    ])
    func timesHaveManySpellings(_ text: String, _ seconds: Double) {
        #expect(HARDate.parse(text) == Date(timeIntervalSince1970: seconds))
    }

    @Test(arguments: [
        "", "2026", "2026-02-30T10:00:00Z", "2026-03-01T24:00:00Z", "2026-03-01T10:60:00Z", "2026-03-01T10:00:00.Z",
        "2026-03-01T10:00:00Zz", "2026-03-01T10:00:00+1", "2026-03-01T10:00:00+25:00", "Sun, 06 Nov 1994 08:49:37 GMT",
        "２026-03-01T10:00:00Z",
    ])
    func anythingElseIsNoTime(_ text: String) { #expect(HARDate.parse(text) == nil) }
}
