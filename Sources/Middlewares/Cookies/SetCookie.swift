internal import Foundation

/// What a `Set-Cookie` field says (RFC 6265 §5.2), before it is held against the host that says it.
struct SetCookie: Sendable, Hashable {
    var name: String
    var value: String
    var maxAge: Double?
    var expires: Date?
    /// In lower case, without a leading dot; `nil` for the host that says it.
    var domain: String?
    /// `nil` for the default of the request's path.
    var path: String?
    var isSecure = false
    var isHTTPOnly = false

    // RFC 6265 §6.1 asks for at least so much; what is longer would be sent with each request.
    private static let limit = 4096
    private static let attributeLimit = 1024

    /// The cookie, or `nil` if the field holds none.
    init?(_ field: String) {
        // Controls are what separates fields elsewhere: such a cookie could not be sent back.
        guard !field.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else { return nil }
        let parts = field.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        let pair = Self.pair(parts[0])
        guard let value = pair.value else { return nil }
        name = pair.name
        self.value = value
        guard !name.isEmpty, name.utf8.count + value.utf8.count <= Self.limit else { return nil }
        for part in parts.dropFirst() { apply(part) }
    }

    // The last of several attributes of one name counts; one with an unusable value doesn't.
    private mutating func apply(_ attribute: Substring.UTF8View) {
        let pair = Self.pair(attribute)
        let value = pair.value ?? ""
        guard value.utf8.count <= Self.attributeLimit else { return }
        switch pair.name.lowercased() {
        case "max-age": if let seconds = Self.seconds(value) { maxAge = seconds }
        case "expires": if let date = CookieDate.parse(value) { expires = date }
        case "domain": domain = value.isEmpty ? nil : Cookie.canonical(value)
        case "path": path = value.hasPrefix("/") ? value : nil
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        default: break
        }
    }

    private static func seconds(_ text: String) -> Double? {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else {
            return nil
        }
        return Double(text)
    }

    // Over bytes: to a search by characters, a semicolon followed by a combining accent is none.
    private static func pair(_ bytes: Substring.UTF8View) -> (name: String, value: String?) {
        let parts = bytes.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        return (trimmed(parts[0]), parts.count == 2 ? trimmed(parts[1]) : nil)
    }

    private static func trimmed(_ bytes: Substring.UTF8View) -> String {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        let start = bytes.drop(while: isSpace)
        guard let last = start.lastIndex(where: { !isSpace($0) }) else { return "" }
        return String(Substring(start[...last]))
    }
}

/// Dates as servers have written them into cookies for thirty years (RFC 6265 §5.1.1).
enum CookieDate {
    static func parse(_ text: String) -> Date? {
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
        // The 30th of February is no date.
        return CivilTime(civil.date) == civil ? civil.date : nil
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    /// A number at the beginning, which no further digit follows.
    private static func number(_ token: Substring.UTF8View, digits: ClosedRange<Int>) -> Int? {
        let text = token.prefix(while: isDigit)
        guard digits ~= text.count else { return nil }
        return text.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    private static func clock(_ token: Substring.UTF8View) -> [Int]? {
        let parts = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].allSatisfy(isDigit), parts[1].allSatisfy(isDigit) else { return nil }
        let numbers = parts.compactMap { number($0, digits: 1...2) }
        return numbers.count == 3 ? numbers : nil
    }

    private static func monthNumber(_ token: Substring.UTF8View) -> Int? {
        let names = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        let start = String(decoding: token.prefix(3), as: UTF8.self).lowercased()
        return names.firstIndex(of: start).map { $0 + 1 }
    }
}
