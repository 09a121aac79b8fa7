import Foundation
import Testing

@testable import InterceptorsSyntax

@Suite(.againstHanging) struct CivilTimeTests {
    @Test func knownMoments() {
        let epoch = CivilTime(Date(timeIntervalSince1970: 0))
        #expect(epoch == CivilTime(year: 1970, month: 1, day: 1, hour: 0, minute: 0, second: 0))
        let leap = CivilTime(year: 2000, month: 2, day: 29, hour: 23, minute: 59, second: 59)
        #expect(leap.date == Date(timeIntervalSince1970: 951_868_799))
        #expect(CivilTime(leap.date.addingTimeInterval(1)).month == 3)
        #expect(CivilTime(Date(timeIntervalSince1970: -1)).year == 1969)
        #expect(CivilTime(.distantFuture).year == 4001)
        #expect(CivilTime(Date(timeIntervalSince1970: .greatestFiniteMagnitude)).year == 9999)
        #expect(CivilTime(Date(timeIntervalSince1970: 0.999)).second == 0)
    }

    @Test func everyDayOfFourCenturiesGoesThereAndBack() {
        for day in stride(from: -146_097 / 2, to: 146_097 / 2, by: 1) {
            let date = Date(timeIntervalSince1970: Double(day * 86_400 + 43_200))
            #expect(CivilTime(date).date == date)
        }
    }

    @Test func dateThatIsNoNumberIsTheStartOf1970() {
        #expect(CivilTime(Date(timeIntervalSince1970: .nan)).year == 1970)
        let earliest = Date(timeIntervalSince1970: -253_402_300_799)
        #expect(CivilTime(Date(timeIntervalSince1970: -.infinity)) == CivilTime(earliest))
    }

    @Test func calendarHasNo30thOfFebruary() {
        #expect(!CivilTime(year: 2024, month: 2, day: 30).isInCalendar)
        #expect(CivilTime(year: 2024, month: 2, day: 29).isInCalendar)
        #expect(!CivilTime(year: 1900, month: 2, day: 29).isInCalendar)
        #expect(!CivilTime(year: 2024, month: 4, day: 0).isInCalendar)
    }

    @Test func weekdaysFollowEachOtherAcrossTheEpoch() {
        // January 1, 1970 was a Thursday.
        for day in Int64(-1_000)...1_000 {
            let expected = Int(((day + 4) % 7 + 7) % 7)
            #expect(CivilTime.weekday(ofSecondsSince1970: day * 86_400) == expected)
            #expect(CivilTime.weekday(ofSecondsSince1970: day * 86_400 + 86_399) == expected)
        }
    }
}
