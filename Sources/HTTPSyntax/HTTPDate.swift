internal import Synchronization

/// Dates in HTTP fields (RFC 9110 §5.6.7), as seconds since 1970, UTC.
package enum HTTPDate {
    private static let longDays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]

    /// Parses a date in any of the three formats; `nil` for anything else.
    ///
    /// Letters are compared case-insensitively, as RFC 9111 §4.2 asks of a cache. The zone must be GMT. The day of the week
    /// must be present, but may be wrong.
    ///
    /// - Parameter now: seconds since 1970. A date with a two-digit year is at most 50 years later.
    package static func parse(_ text: String, now: Int64) -> Int64? {
        var text = text
        return text.withUTF8 { parse($0, now: now) }
    }

    private static func parse(_ text: UnsafeBufferPointer<UInt8>, now: Int64) -> Int64? {
        let day = text.prefix { ASCII.lowercased($0) &- 0x61 < 26 }
        let rest = UnsafeBufferPointer(rebasing: text[day.count...])
        if day.count == 3 {
            guard index(of: text, at: 0, in: dayNames) != nil else { return nil }
            let date = read(rest, as: ", DD MMM YYYY HH:NN:SS gmt") ?? read(rest, as: " MMM ED HH:NN:SS YYYY")
            return date.flatMap(seconds)
        }
        guard var date = read(rest, as: ", DD-MMM-YY HH:NN:SS gmt"),
            longDays.contains(String(decoding: day, as: UTF8.self).lowercased())
        else { return nil }
        // "More than 50 years in the future" is a matter of the calendar (RFC 9110 §5.6.7).
        var latest = CivilTime(secondsSince1970: min(max(now, firstSecond), lastSecond))
        latest.year += 50
        date.year = latest.year - ((latest.year - date.year) % 100 + 100) % 100
        if let found = seconds(date), found > latest.secondsSince1970 { date.year -= 100 }
        return seconds(date)
    }

    private static func seconds(_ date: CivilTime) -> Int64? { date.isInCalendar ? date.secondsSince1970 : nil }

    /// Reads a date in a form: a `D` stands for a digit of the day, `E` for one or a space, `MMM` for the month, `Y`, `H`, `N` and `S`
    /// for digits of year, hour, minute and second. Any other byte stands for itself, in either case.
    private static func read(_ text: UnsafeBufferPointer<UInt8>, as form: StaticString) -> CivilTime? {
        guard text.count == form.utf8CodeUnitCount else { return nil }
        var date = CivilTime(year: 0, month: 0, day: 0)
        for (place, byte) in text.enumerated() {
            let isRight =
                switch form.utf8Start[place] {
                case UInt8(ascii: "D"): add(byte, to: &date.day)
                case UInt8(ascii: "E"): byte == 0x20 || add(byte, to: &date.day)
                case UInt8(ascii: "Y"): add(byte, to: &date.year)
                case UInt8(ascii: "H"): add(byte, to: &date.hour)
                case UInt8(ascii: "N"): add(byte, to: &date.minute)
                case UInt8(ascii: "S"): add(byte, to: &date.second)
                case UInt8(ascii: "M"): date.month > 0 || readMonth(text, at: place, into: &date.month)
                case let expected: ASCII.lowercased(byte) == expected
                }
            guard isRight else { return nil }
        }
        return date.hour < 24 && date.minute < 60 && date.second <= 60 ? date : nil
    }

    private static func add(_ digit: UInt8, to number: inout Int) -> Bool {
        guard ASCII.isDigit(digit) else { return false }
        number = number * 10 + Int(digit - UInt8(ascii: "0"))
        return true
    }

    private static func readMonth(_ text: UnsafeBufferPointer<UInt8>, at place: Int, into month: inout Int) -> Bool {
        guard let index = index(of: text, at: place, in: monthNames) else { return false }
        month = index + 1
        return true
    }

    /// The index of a name of three letters, in either case.
    private static func index(of text: UnsafeBufferPointer<UInt8>, at place: Int, in names: StaticString) -> Int? {
        (0..<names.utf8CodeUnitCount / 3).first { index in
            (0..<3).allSatisfy {
                ASCII.lowercased(names.utf8Start[3 * index + $0]) == ASCII.lowercased(text[place + $0])
            }
        }
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
}
