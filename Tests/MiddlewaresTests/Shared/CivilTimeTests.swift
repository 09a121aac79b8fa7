import Foundation
import Testing

@testable import Middlewares

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
}
