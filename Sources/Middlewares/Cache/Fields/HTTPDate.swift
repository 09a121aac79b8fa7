internal import Interceptors

/// A date as HTTP writes them (RFC 9110 §5.6.7), in seconds since 1970, UTC.
enum HTTPDate {
    private static let fiftyYears: Int64 = 50 * 31_556_952
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    private static let days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
    private static let longDays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]

    /// The seconds, or `nil` for anything but one of the three forms.
    ///
    /// Letters are compared without regard to case, as RFC 9111 §4.2 asks of a cache; a zone other than GMT is no date. A
    /// name of a day is needed, but not held against the date.
    ///
    /// - Parameter now: decides the century of a year with two digits: it isn't more than 50 years ahead.
    static func parse(_ text: String, now: Int64) -> Int64? {
        var cursor = FieldCursor(text)
        let day = cursor.takeWord()
        let seconds: Int64?
        if days.contains(day) {
            seconds = cursor.take(",") ? parseIMF(&cursor) : parseAsctime(&cursor)
        } else if longDays.contains(day), cursor.take(",") {
            seconds = parseRFC850(&cursor, now: now)
        } else {
            return nil
        }
        return cursor.isAtEnd ? seconds : nil
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    private static func parseIMF(_ cursor: inout FieldCursor) -> Int64? {
        guard cursor.take(" "), let day = digits(2, &cursor), cursor.take(" "), let month = month(&cursor),
            cursor.take(" "), let year = digits(4, &cursor), cursor.take(" "), let time = time(&cursor),
            cursor.take(" "), isGMT(&cursor)
        else { return nil }
        return seconds(year, month, day, time)
    }

    /// `Sun Nov  6 08:49:37 1994`
    private static func parseAsctime(_ cursor: inout FieldCursor) -> Int64? {
        guard cursor.take(" "), let month = month(&cursor), cursor.take(" ") else { return nil }
        guard let day = cursor.take(" ") ? digits(1, &cursor) : digits(2, &cursor), cursor.take(" "),
            let time = time(&cursor), cursor.take(" "), let year = digits(4, &cursor)
        else { return nil }
        return seconds(year, month, day, time)
    }

    /// `Sunday, 06-Nov-94 08:49:37 GMT`
    private static func parseRFC850(_ cursor: inout FieldCursor, now: Int64) -> Int64? {
        guard cursor.take(" "), let day = digits(2, &cursor), cursor.take("-"), let month = month(&cursor),
            cursor.take("-"), let shortYear = digits(2, &cursor), cursor.take(" "), let time = time(&cursor),
            cursor.take(" "), isGMT(&cursor)
        else { return nil }
        let thisYear = civil(days: floorDivide(now, 86_400)).year
        var year = thisYear - floorModulo(thisYear, 100) + shortYear + 100
        while year > thisYear + 50 || (seconds(year, month, day, time) ?? now) > now + fiftyYears { year -= 100 }
        return seconds(year, month, day, time)
    }

    private static func digits(_ count: Int, _ cursor: inout FieldCursor) -> Int64? {
        var number: Int64 = 0
        for _ in 0..<count {
            guard let byte = cursor.peek, FieldCursor.isDigit(byte) else { return nil }
            number = number * 10 + Int64(byte - UInt8(ascii: "0"))
            cursor.advance()
        }
        return number
    }

    private static func month(_ cursor: inout FieldCursor) -> Int64? {
        let name = cursor.takeWord()
        return months.firstIndex(of: name).map { Int64($0 + 1) }
    }

    private static func time(_ cursor: inout FieldCursor) -> Int64? {
        guard let hour = digits(2, &cursor), hour < 24, cursor.take(":"), let minute = digits(2, &cursor), minute < 60,
            cursor.take(":"), let second = digits(2, &cursor), second <= 60
        else { return nil }
        return hour * 3_600 + minute * 60 + second
    }

    private static func isGMT(_ cursor: inout FieldCursor) -> Bool {
        cursor.takeWord() == "gmt"
    }

    private static func seconds(_ year: Int64, _ month: Int64, _ day: Int64, _ time: Int64) -> Int64? {
        let date = daysFromCivil(year, month, day)
        let back = civil(days: date)
        guard back.month == month, back.day == day else { return nil }
        return date * 86_400 + time
    }

    /// The date as `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func format(_ seconds: Int64) -> String {
        let days = floorDivide(seconds, 86_400)
        let time = floorModulo(seconds, 86_400)
        let date = civil(days: days)
        let weekday = capitalized(Self.days[Int(floorModulo(days + 4, 7))])
        let month = capitalized(months[Int(date.month - 1)])
        let clock = [time / 3_600, time / 60 % 60, time % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(weekday), \(padded(date.day, 2)) \(month) \(padded(date.year, 4)) \(clock) GMT"
    }

    private static func capitalized(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }

    // Days since 1970-01-01 in the proleptic Gregorian calendar, with years that begin in March.
    private static func daysFromCivil(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = floorDivide(shifted, 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func floorDivide(_ number: Int64, _ divisor: Int64) -> Int64 {
        number >= 0 ? number / divisor : (number - divisor + 1) / divisor
    }

    private static func floorModulo(_ number: Int64, _ divisor: Int64) -> Int64 {
        number - floorDivide(number, divisor) * divisor
    }
}
