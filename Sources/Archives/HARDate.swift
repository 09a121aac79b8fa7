package import Foundation

/// The times in an HTTP Archive, in ISO 8601.
package enum HARDate {
    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// A time with milliseconds, rounded down, in UTC. A year has four digits.
    package static func text(_ date: Date, after duration: Duration = .zero) -> String {
        // In this order, a date that is no number is the first one.
        let seconds = min(max(0, date.timeIntervalSince1970 + duration / .seconds(1)), 253_402_300_799)
        // Half a microsecond, because a fraction that was read may be a little less than its digits.
        return Date(timeIntervalSince1970: seconds + 0.000_000_5).formatted(style)
    }

    /// Reads a time with or without a fraction of a second, in UTC or with an offset; `nil` for anything else.
    ///
    /// A fraction is rounded to milliseconds: Foundation's own result may be off by a microsecond.
    package static func parse(_ text: String) -> Date? {
        guard let date = (try? style.parse(text)) ?? (try? Date.ISO8601FormatStyle().parse(text)) else { return nil }
        return Date(timeIntervalSince1970: (date.timeIntervalSince1970 * 1_000).rounded() / 1_000)
    }
}
