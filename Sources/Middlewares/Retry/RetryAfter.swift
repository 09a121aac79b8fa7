internal import Foundation

/// Parses `Retry-After` (RFC 9110 §10.2.3), which holds seconds or a date, and the similar fields that some servers send.
enum RetryAfter {
    private static let milliseconds: [HTTPField.Name] = ["Retry-After-Ms", "X-Ms-Retry-After-Ms"]
    private static let resets: [HTTPField.Name] = ["RateLimit-Reset", "X-RateLimit-Reset"]

    /// The wait that a response asks for, counted from `now`; `nil` if the response asks for none, or its fields are invalid.
    ///
    /// `Retry-After-Ms` wins over `Retry-After`, because it is more precise. `RateLimit-Reset` and `X-RateLimit-Reset` count
    /// only on a 429, which says that their limit was reached, and only without the other two fields.
    static func wait(in response: HTTPResponse, now: @autoclosure () -> Date) -> Duration? {
        let fields = response.headerFields
        if let wait = milliseconds.lazy.compactMap({ fields[$0].flatMap(seconds) }).first {
            return .milliseconds(min(wait, 1e12))
        }
        if let wait = wait(in: fields, now: now()) { return wait }
        guard response.status == 429, let text = resets.lazy.compactMap({ fields[$0] }).first else { return nil }
        return reset(text, now: now())
    }

    /// Seconds from now, or, from a billion upwards, seconds since 1970. A fraction is rounded up to a whole second.
    private static func reset(_ text: String, now: @autoclosure () -> Date) -> Duration? {
        let whole = text.prefix { $0 != "." }
        guard text.count - whole.count != 1, text.dropFirst(whole.count + 1).allSatisfy(\.isNumber),
            var wait = seconds(String(whole))
        else { return nil }
        if whole.count < text.count { wait += 1 }
        if wait >= 1e9 { wait -= now().timeIntervalSince1970 }
        return .seconds(min(max(0, wait), 1e9))
    }

    /// The wait that `Retry-After` asks for, counted from `now`; `nil` if the field is missing or invalid.
    ///
    /// A date in the past is zero. If the field occurs several times, the longest wait counts. Waits are limited to a billion
    /// seconds, however large the number.
    static func wait(in fields: HTTPFields, now: @autoclosure () -> Date) -> Duration? {
        guard fields.contains(.retryAfter) else { return nil }
        let now = now().timeIntervalSince1970
        let waits = fields[values: .retryAfter].compactMap { text -> Double? in
            seconds(text) ?? date(text, now: now).map { $0 - now }
        }
        return waits.max().map { .seconds(min(max(0, $0), 1e9)) }
    }

    private static func seconds(_ text: String) -> Double? {
        guard !text.isEmpty, text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else { return nil }
        return Double(text)
    }

    /// Parses an HTTP date in any of its three forms (RFC 9110 §5.6.7), as seconds since 1970.
    ///
    /// The day's name is ignored, because the date implies it.
    static func date(_ text: String, now: Double) -> Double? {
        let words = text.split { $0 == " " || $0 == "," || $0 == "-" }
        let day: Substring, month: Substring, year: Substring, time: Substring
        switch (words.count, words.last) {
        case (6, "GMT"): (day, month, year, time) = (words[1], words[2], words[3], words[4])
        case (5, _): (month, day, time, year) = (words[1], words[2], words[3], words[4])
        default: return nil
        }
        guard let month = months.firstIndex(of: month), let day = number(day, 1...31),
            let written = number(year, 0...9999), year.count == 4 || year.count == 2 && words.count == 6
        else { return nil }
        let clock = time.split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, clock.allSatisfy({ $0.count == 2 }), let hour = number(clock[0], 0...23),
            let minute = number(clock[1], 0...59), let second = number(clock[2], 0...60)
        else { return nil }
        let fullYear = year.count == 2 ? century(of: written, now: now) : written
        guard day <= length(ofMonth: month, fullYear) else { return nil }
        return Double(days(fullYear, month + 1, day) * 86_400 + hour * 3_600 + minute * 60 + second)
    }

    private static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func number(_ text: Substring, _ range: ClosedRange<Int>) -> Int? {
        guard text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let number = Int(text),
            range.contains(number)
        else { return nil }
        return number
    }

    /// The latest year with these last two digits that is at most 50 years ahead (RFC 9110 §5.6.7).
    private static func century(of year: Int, now: Double) -> Int {
        let latest = 1970 + Int(min(max(0, now), 1e12) / 31_556_952) + 50
        return latest - (latest - year) % 100
    }

    private static func length(ofMonth month: Int, _ year: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return month == 1 ? (isLeap ? 29 : 28) : [3, 5, 8, 10].contains(month) ? 30 : 31
    }

    /// The days from 1970 to a Gregorian date. Years begin in March, so that leap days come last.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month < 3 ? year - 1 : year
        let leapDays = year / 4 - year / 100 + year / 400
        return 365 * year + leapDays + (153 * (month < 3 ? month + 9 : month - 3) + 2) / 5 + day - 719_469
    }
}
