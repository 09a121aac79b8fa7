package import Foundation
internal import InterceptorsSyntax

/// The times in an HTTP Archive, in ISO 8601.
package enum HARDate {
    /// A time with milliseconds, rounded down, in UTC.
    package static func text(_ date: Date, after duration: Duration = .zero) -> String {
        // Beyond this the year would have more than four digits.
        let seconds = CivilTime.seconds(date)
        let fraction = date.timeIntervalSince1970 - Double(seconds)
        let rest = (0..<1).contains(fraction) ? Int64((fraction * 1_000_000).rounded()) : 0
        return text(microseconds: seconds * 1_000_000 + rest + max(0, duration.wholeMicroseconds))
    }

    package static func text(microseconds: Int64) -> String {
        let limit: Int64 = 253_402_300_799_000
        let milliseconds = min(max(microseconds / 1_000, 0), limit)
        let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1_000)
        let time = CivilTime(secondsSince1970: seconds)
        let day = String(format: "%04d-%02d-%02d", time.year, time.month, time.day)
        return day + String(format: "T%02d:%02d:%02d.%03dZ", time.hour, time.minute, time.second, Int(rest))
    }

    /// Reads a time with or without a fraction of a second, in UTC or with an offset; `nil` for anything else.
    ///
    /// A fraction is rounded down to microseconds. A time without a zone counts as UTC.
    package static func parse(_ text: String) -> Date? {
        var rest = Array(text.utf8)[...]
        guard let year = number(4, &rest), take("-", &rest), let month = number(2, &rest), take("-", &rest),
            let day = number(2, &rest), take("Tt ", &rest), let hour = number(2, &rest), hour < 24, take(":", &rest),
            let minute = number(2, &rest), minute < 60
        else { return nil }
        var second = 0
        if take(":", &rest) {
            guard let given = number(2, &rest), given <= 60 else { return nil }
            second = given
        }
        guard let microseconds = fraction(&rest), let offset = offset(&rest), rest.isEmpty else { return nil }
        let time = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        guard time.isInCalendar else { return nil }
        let whole = (time.secondsSince1970 - Int64(offset) * 60) * 1_000_000 + microseconds
        return Date(timeIntervalSince1970: Double(whole) / 1_000_000)
    }

    private static func fraction(_ rest: inout ArraySlice<UInt8>) -> Int64? {
        guard take(".,", &rest) else { return 0 }
        let digits = rest.prefix(while: ASCII.isDigit)
        guard !digits.isEmpty else { return nil }
        rest = rest.dropFirst(digits.count)
        let used = Array(digits.prefix(6)) + repeatElement(UInt8(ascii: "0"), count: max(0, 6 - digits.count))
        return used.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }

    /// The minutes that the zone is ahead of UTC.
    private static func offset(_ rest: inout ArraySlice<UInt8>) -> Int? {
        if rest.isEmpty || take("Zz", &rest) { return 0 }
        let isBehind = rest.first == UInt8(ascii: "-")
        guard take("+-", &rest), let hours = number(2, &rest), hours < 24 else { return nil }
        _ = take(":", &rest)
        guard let minutes = rest.isEmpty ? 0 : number(2, &rest), minutes < 60 else { return nil }
        return (hours * 60 + minutes) * (isBehind ? -1 : 1)
    }

    private static func number(_ count: Int, _ rest: inout ArraySlice<UInt8>) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy(ASCII.isDigit) else { return nil }
        rest = rest.dropFirst(count)
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    private static func take(_ bytes: StaticString, _ rest: inout ArraySlice<UInt8>) -> Bool {
        guard let first = rest.first, bytes.withUTF8Buffer({ $0.contains(first) }) else { return false }
        rest = rest.dropFirst()
        return true
    }
}
