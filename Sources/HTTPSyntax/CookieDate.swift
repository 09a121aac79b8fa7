package import Foundation

/// Parses the many date formats that servers write into cookies (RFC 6265 §5.1.1).
package enum CookieDate {
    package static func parse(_ text: String) -> Date? {
        var time: [Int]?
        var day: Int?
        var month: Int?
        var year: Int?
        for token in text.utf8.split(whereSeparator: isDelimiter) {
            if time == nil, let found = clock(token) {
                time = found
            } else if day == nil, let found = number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = monthNumber(token) {
                month = found
            } else if year == nil, let found = number(token, digits: 2...4) {
                year = found
            }
        }
        guard let time, let day, let month, var year else { return nil }
        if 70...99 ~= year { year += 1900 } else if 0...69 ~= year { year += 2000 }
        guard 1...31 ~= day, year >= 1601, time[0] <= 23, time[1] <= 59, time[2] <= 59 else { return nil }
        let civil = CivilTime(year: year, month: month, day: day, hour: time[0], minute: time[1], second: time[2])
        // Rejects impossible dates, such as the 30th of February.
        return civil.isInCalendar ? civil.date : nil
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// The number at the start of the token, if it has this count of digits.
    private static func number(_ token: Substring.UTF8View, digits: ClosedRange<Int>) -> Int? {
        let text = token.prefix(while: ASCII.isDigit)
        guard digits ~= text.count else { return nil }
        return text.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    private static func clock(_ token: Substring.UTF8View) -> [Int]? {
        let parts = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0...1].allSatisfy({ $0.allSatisfy(ASCII.isDigit) }) else { return nil }
        let numbers = parts.compactMap { number($0, digits: 1...2) }
        return numbers.count == 3 ? numbers : nil
    }

    private static func monthNumber(_ token: Substring.UTF8View) -> Int? {
        let names = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        let start = String(decoding: token.prefix(3), as: UTF8.self).lowercased()
        return names.firstIndex(of: start).map { $0 + 1 }
    }
}
