internal import Synchronization

/// Dates in HTTP fields (RFC 9110 §5.6.7), as seconds since 1970, UTC.
package enum HTTPDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    private static let days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
    private static let longDays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]

    /// Parses a date in any of the three formats; `nil` for anything else.
    ///
    /// Letters are compared case-insensitively, as RFC 9111 §4.2 asks of a cache. The zone must be GMT. The day of the week
    /// must be present, but may be wrong.
    ///
    /// - Parameter now: seconds since 1970. A date with a two-digit year is at most 50 years later.
    package static func parse(_ text: String, now: Int64) -> Int64? {
        // The format that nearly every server sends takes 0.08 instead of 0.26 µs, and a response to store has up to three dates.
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
        // "More than 50 years in the future" is a matter of the calendar (RFC 9110 §5.6.7).
        var latest = CivilTime(secondsSince1970: min(max(now, firstSecond), lastSecond))
        latest.year += 50
        let latestYear = Int64(latest.year)
        var year = latestYear - ((latestYear - shortYear) % 100 + 100) % 100
        if let found = seconds(year, month, day, time), found > latest.secondsSince1970 { year -= 100 }
        return seconds(year, month, day, time)
    }

    private static func digits(_ count: Int, _ cursor: inout FieldCursor) -> Int64? {
        var number: Int64 = 0
        for _ in 0..<count {
            guard let byte = cursor.peek, ASCII.isDigit(byte) else { return nil }
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
        let date = CivilTime(year: Int(year), month: Int(month), day: Int(day))
        return date.isInCalendar ? date.secondsSince1970 + time : nil
    }

    /// Formats a date as `Sun, 06 Nov 1994 08:49:37 GMT`. A date outside the years 0 to 9999 becomes the nearest within them.
    package static func format(_ seconds: Int64) -> String {
        // Responses that arrive within the same second share a text.
        latest.withLock { latest in
            if latest.seconds != seconds { latest = (seconds, text(of: seconds)) }
            return latest.text
        }
    }

    private static let latest = Mutex((seconds: Int64(0), text: text(of: 0)))

    private static func text(of seconds: Int64) -> String {
        let seconds = min(max(seconds, firstSecond), lastSecond)
        let time = CivilTime(secondsSince1970: seconds)
        return String(unsafeUninitializedCapacity: 29) { text in
            _ = text.initialize(fromContentsOf: UnsafeBufferPointer(start: form.utf8Start, count: 29))
            copy(dayNames, CivilTime.weekday(ofSecondsSince1970: seconds), to: text, at: 0)
            write(time.day, to: text, at: 5)
            copy(monthNames, time.month - 1, to: text, at: 8)
            write(time.year / 100, to: text, at: 12)
            write(time.year % 100, to: text, at: 14)
            write(time.hour, to: text, at: 17)
            write(time.minute, to: text, at: 20)
            write(time.second, to: text, at: 23)
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

    private static func write(_ number: Int, to text: UnsafeMutableBufferPointer<UInt8>, at place: Int) {
        text[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10)
        text[place + 1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10)
    }

    /// Parses exactly the form `Sun, 06 Nov 1994 08:49:37 GMT`, with this case; `nil` for anything else, even another valid
    /// date.
    private static func usualForm(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        func number(_ place: Int) -> Int64? {
            guard ASCII.isDigit(text[place]), ASCII.isDigit(text[place + 1]) else { return nil }
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
}
