internal import Interceptors
internal import Synchronization

/// Dates in HTTP fields (RFC 9110 §5.6.7), as seconds since 1970, UTC.
enum HTTPDate {
    private static let fiftyYears: Int64 = 50 * 31_556_952
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    private static let days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
    private static let longDays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]

    /// Parses a date in any of the three formats; `nil` for anything else.
    ///
    /// Letters are compared case-insensitively, as RFC 9111 §4.2 asks of a cache. The zone must be GMT. The day of the week
    /// must be present, but may be wrong.
    ///
    /// - Parameter now: decides the century of a two-digit year: the date is at most 50 years in the future.
    static func parse(_ text: String, now: Int64) -> Int64? {
        // A fast path for the format that nearly every server sends, without allocations.
        if let usual = text.utf8.withContiguousStorageIfAvailable({ usualForm($0) }), let usual { return usual }
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

    /// Formats a date as `Sun, 06 Nov 1994 08:49:37 GMT`. A date outside the years 0 to 9999 becomes the nearest within them.
    static func format(_ seconds: Int64) -> String {
        // Responses that arrive within the same second share a text.
        latest.withLock { latest in
            if latest.seconds != seconds { latest = (seconds, text(of: seconds)) }
            return latest.text
        }
    }

    private static let latest = Mutex((seconds: Int64(0), text: text(of: 0)))

    private static func text(of seconds: Int64) -> String {
        let seconds = min(max(seconds, firstSecond), lastSecond)
        let days = floorDivide(seconds, 86_400)
        let time = seconds - days * 86_400
        let date = civil(days: days)
        return String(unsafeUninitializedCapacity: 29) { text in
            _ = text.initialize(fromContentsOf: UnsafeBufferPointer(start: form.utf8Start, count: 29))
            copy(dayNames, Int(floorModulo(days + 4, 7)), to: text, at: 0)
            write(date.day, to: text, at: 5)
            copy(monthNames, Int(date.month - 1), to: text, at: 8)
            write(date.year / 100, to: text, at: 12)
            write(date.year % 100, to: text, at: 14)
            write(time / 3_600, to: text, at: 17)
            write(time / 60 % 60, to: text, at: 20)
            write(time % 60, to: text, at: 23)
            return 29
        }
    }

    private static let firstSecond: Int64 = -62_167_219_200
    private static let lastSecond: Int64 = 253_402_300_799
    private static let form: StaticString = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let dayNames: StaticString = "SunMonTueWedThuFriSat"
    private static let monthNames: StaticString = "JanFebMarAprMayJunJulAugSepOctNovDec"

    private static func copy(
        _ names: StaticString,
        _ index: Int,
        to text: UnsafeMutableBufferPointer<UInt8>,
        at place: Int
    ) {
        for offset in 0..<3 { text[place + offset] = names.utf8Start[3 * index + offset] }
    }

    private static func write(_ number: Int64, to text: UnsafeMutableBufferPointer<UInt8>, at place: Int) {
        text[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10)
        text[place + 1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10)
    }

    /// Parses exactly the form `Sun, 06 Nov 1994 08:49:37 GMT`, with this case; `nil` for anything else, even another valid
    /// date.
    private static func usualForm(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        func number(_ place: Int) -> Int64? {
            guard FieldCursor.isDigit(text[place]), FieldCursor.isDigit(text[place + 1]) else { return nil }
            return Int64(text[place] - UInt8(ascii: "0")) * 10 + Int64(text[place + 1] - UInt8(ascii: "0"))
        }
        func isAsInForm(_ places: Range<Int>) -> Bool { places.allSatisfy { text[$0] == form.utf8Start[$0] } }
        guard text.count == 29, isAsInForm(3..<5), isAsInForm(7..<8), isAsInForm(11..<12), isAsInForm(16..<17),
            isAsInForm(19..<20), isAsInForm(22..<23), isAsInForm(25..<29), index(of: text, at: 0, in: dayNames) != nil,
            let month = index(of: text, at: 8, in: monthNames), let day = number(5), let century = number(12),
            let year = number(14), let hour = number(17), hour < 24, let minute = number(20), minute < 60,
            let second = number(23), second <= 60
        else { return nil }
        return seconds(century * 100 + year, Int64(month + 1), day, hour * 3_600 + minute * 60 + second)
    }

    private static func index(of text: UnsafeBufferPointer<UInt8>, at place: Int, in names: StaticString) -> Int? {
        (0..<names.utf8CodeUnitCount / 3).first { index in
            (0..<3).allSatisfy { names.utf8Start[3 * index + $0] == text[place + $0] }
        }
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
