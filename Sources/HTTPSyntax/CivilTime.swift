package import Foundation

/// A Gregorian date and time in UTC, in whole seconds, computed without a calendar object or a locale.
///
/// The arithmetic is in 64 bits on every platform: on an Apple Watch an `Int` may have 32.
package struct CivilTime: Sendable, Hashable {
    package var year: Int
    package var month: Int
    package var day: Int
    package var hour: Int
    package var minute: Int
    package var second: Int

    package init(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
    }

    /// Some 31 million years: the arithmetic can't overflow within it, and the year fits into 32 bits.
    private static let limit: Int64 = 1_000_000_000_000_000

    /// The time a number of seconds after the start of 1970, limited to some 31 million years on either side.
    ///
    /// Howard Hinnant, chrono-Compatible Low-Level Date Algorithms. Years begin in March, so that leap days come last.
    package init(secondsSince1970 seconds: Int64) {
        let seconds = min(max(seconds, -Self.limit), Self.limit)
        let days = Self.days(in: seconds)
        let rest = Int(seconds - days * 86_400)
        let shifted = days + 719_468
        let era = Self.floor(shifted, 146_097)
        let dayOfEra = Int(shifted - era * 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + Int(era) * 400 + (month <= 2 ? 1 : 0)
        hour = rest / 3_600
        minute = rest / 60 % 60
        second = rest % 60
    }

    /// The time of a date, rounded down to a second and limited to the years before 10000. A date that is no number counts as
    /// the start of 1970.
    package init(_ date: Date) { self.init(secondsSince1970: Self.seconds(date)) }

    /// Whole seconds since the start of 1970, rounded down and limited to the years before 10000, whatever the date holds.
    package static func seconds(_ date: Date) -> Int64 {
        let limit = 253_402_300_799.0
        let seconds = date.timeIntervalSince1970
        return seconds.isNaN ? 0 : Int64(min(max(seconds, -limit), limit).rounded(.down))
    }

    /// Seconds since the start of 1970. Days and months that don't exist overflow into the next month or year.
    package var secondsSince1970: Int64 {
        let shiftedYear = Int64(month <= 2 ? year - 1 : year)
        let era = Self.floor(shiftedYear, 400)
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = Int64((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1)
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * 146_097 + dayOfEra - 719_468
        return days * 86_400 + Int64(hour * 3_600 + minute * 60 + second)
    }

    /// The same moment as a `Date`. Days and months that don't exist overflow into the next month or year.
    package var date: Date { Date(timeIntervalSince1970: Double(secondsSince1970)) }

    /// Whether the calendar has such a day, as it has no 30th of February. The time of the day isn't checked.
    package var isInCalendar: Bool {
        let day = CivilTime(year: year, month: month, day: self.day)
        return CivilTime(secondsSince1970: day.secondsSince1970) == day
    }

    /// The day of the week of a moment, from 0 for Sunday.
    package static func weekday(ofSecondsSince1970 seconds: Int64) -> Int {
        let days = days(in: seconds) + 4
        return Int(days - floor(days, 7) * 7)
    }

    private static func days(in seconds: Int64) -> Int64 { floor(seconds, 86_400) }

    private static func floor(_ number: Int64, _ divisor: Int64) -> Int64 {
        number >= 0 ? number / divisor : (number - divisor + 1) / divisor
    }
}
