package import Foundation
internal import InterceptorsSyntax

/// Parses `Retry-After` (RFC 9110 §10.2.3), which holds seconds or a date, and the similar fields that some servers send.
package enum RetryAfter {
    /// The longest wait that a call accepts, unless its policy says otherwise.
    package static let usualLimit: Duration = .seconds(60)

    private static let milliseconds: [HTTPField.Name] = ["Retry-After-Ms", "X-Ms-Retry-After-Ms"]
    private static let resets: [HTTPField.Name] = ["RateLimit-Reset", "X-RateLimit-Reset"]

    /// The wait that a response asks for, counted from `now`; `nil` if the response asks for none, or its fields are invalid.
    ///
    /// `Retry-After-Ms` wins over `Retry-After`, because it is more precise. `RateLimit-Reset` and `X-RateLimit-Reset` count
    /// only on a 429, which says that their limit was reached, and only without the other two fields.
    package static func wait(in response: HTTPResponse, now: @autoclosure () -> Date) -> Duration? {
        let fields = response.headers
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
    package static func wait(in fields: HTTPFields, now: @autoclosure () -> Date) -> Duration? {
        guard fields.contains(.retryAfter) else { return nil }
        let now = now()
        let second = CivilTime.seconds(now)
        let waits = fields[values: .retryAfter].compactMap { text -> Double? in
            seconds(text) ?? HTTPDate.parse(text, now: second).map { Double($0) - now.timeIntervalSince1970 }
        }
        return waits.max().map { .seconds(min(max(0, $0), 1e9)) }
    }

    private static func seconds(_ text: String) -> Double? {
        guard !text.isEmpty, text.utf8.allSatisfy(ASCII.isDigit) else { return nil }
        return Double(text)
    }
}
