import Foundation
import Testing

@testable import InterceptorsRecordings

@Suite(.againstHanging) struct RecordedAnswerTests {
    private static let recorded = Date(timeIntervalSince1970: 1_772_359_200.4)  // Sun, 01 Mar 2026 10:00:00 GMT
    private let day = Self.recorded.addingTimeInterval(86_400.2)

    private func exchange(
        _ fields: HTTPFields = [:],
        _ chunks: [String] = [],
        isStream: Bool = false
    ) -> RecordedExchange {
        RecordedExchange(
            startedAt: Self.recorded,
            wait: .seconds(2),
            request: .init(method: .get, url: "https://a.example/"),
            response: .init(
                status: 203,
                headers: fields,
                chunks: chunks.map { .init(Data($0.utf8), after: isStream ? .seconds(1) : .zero) },
                isStream: isStream
            )
        )
    }

    @Test(arguments: [
        ("Date", "Sun, 01 Mar 2026 10:00:00 GMT", "Mon, 02 Mar 2026 10:00:00 GMT"),
        ("expires", "Sunday, 01-Mar-26 11:00:00 GMT", "Mon, 02 Mar 2026 11:00:00 GMT"),
        ("Expires", "Sun Mar  1 10:00:00 2026", "Mon, 02 Mar 2026 10:00:00 GMT"),
        ("Expires", "0", "0"), ("Expires", "-1", "-1"),
        ("Date", "Sun, 31 Feb 2026 10:00:00 GMT", "Sun, 31 Feb 2026 10:00:00 GMT"),
        ("Retry-After", "120", "120"),
        ("Retry-After", "Sun, 01 Mar 2026 10:00:05 GMT", "Mon, 02 Mar 2026 10:00:05 GMT"),
        ("Age", "17", "17"), ("Last-Modified", "Sun, 01 Mar 2026 09:00:00 GMT", "Mon, 02 Mar 2026 09:00:00 GMT"),
        ("ETag", "\"Sun, 01 Mar 2026 09:00:00 GMT\"", "\"Sun, 01 Mar 2026 09:00:00 GMT\""),
        (
            "Set-Cookie", "a=Expires=x; Path=/; expires = Sun, 01 Mar 2026 10:00:00 GMT;Secure",
            "a=Expires=x; Path=/; expires =Mon, 02 Mar 2026 10:00:00 GMT;Secure"
        ),
        // The form that Netscape specified, and one that only the algorithm of RFC 6265 reads.
        ("Set-Cookie", "a=b; Expires=Sun, 01-Mar-2026 11:00:00 GMT", "a=b; Expires=Mon, 02 Mar 2026 11:00:00 GMT"),
        ("Set-Cookie", "a=b; Expires=01 March 2026 11:00:00", "a=b; Expires=Mon, 02 Mar 2026 11:00:00 GMT"),
        ("Set-Cookie", "a=b; Expires=0; Path=/", "a=b; Expires=0; Path=/"),
        ("Set-Cookie", "a=b; Expires=never; Max-Age=60", "a=b; Expires=never; Max-Age=60"),
        ("Expires", "Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"),
    ])
    func datesMoveByTheAgeOfTheRecording(_ name: String, _ value: String, _ expected: String) {
        let answer = exchange([.init(stringLiteral: name): value]).answer(now: day)
        #expect(answer.headers == [.init(stringLiteral: name): expected])
    }

    // As numbers, because Foundation can't print a date that is no number.
    @Test(arguments: [-1e300, 1e300, .infinity, .nan, 0]) func anyTimeOfPlayingIsAllowed(_ seconds: Double) {
        let now = Date(timeIntervalSince1970: seconds)
        let answer = exchange([.date: "Sun, 01 Mar 2026 10:00:00 GMT"]).answer(now: now)
        #expect(answer.headers[.date]?.hasSuffix("GMT") == true)
    }

    @Test func aContentInMemoryIsABody() async throws {
        let answer = exchange([.contentType: "text/plain"], ["abc"]).answer(now: day)
        guard case .body(let body) = answer.content else {
            Issue.record("\(answer)")
            return
        }
        #expect(body.data == Data("abc".utf8))
        #expect(answer.status == 203 && answer.delay == .zero)
        #expect(exchange().answer(now: day, delays: true).delay == .seconds(2))
    }

    @Test(arguments: [false, true]) func aStreamKeepsItsChunks(delays: Bool) {
        let answer = exchange([:], ["a", "", "bc"], isStream: true).answer(now: day, delays: delays)
        guard case .chunks(let chunks, let error) = answer.content else {
            Issue.record("\(answer)")
            return
        }
        #expect(error == nil)
        #expect(chunks.map(\.bytes) == [Data("a".utf8), Data(), Data("bc".utf8)])
        #expect(chunks.map(\.pause) == Array(repeating: delays ? .seconds(1) : .zero, count: 3))
    }

    @Test func aFailureHasItsCodeAndItsPlace() {
        var cut = exchange([:], ["abc"])
        cut.failure = .init(code: "truncated", message: "It ended.")
        guard case .chunks(let chunks, let error as TransportError) = cut.answer(now: day).content else {
            Issue.record("\(cut.answer(now: day))")
            return
        }
        #expect(chunks.map(\.bytes) == [Data("abc".utf8)])
        #expect(error.code == .truncated && error.message == "It ended.")
        cut.response = nil
        cut.failure?.code = "connectionLost"
        guard case .failure(let error as TransportError) = cut.answer(now: day).content else {
            Issue.record("\(cut.answer(now: day))")
            return
        }
        #expect(error.code == .connectionLost)
        cut.failure = nil
        guard case .failure = cut.answer(now: day).content else {
            Issue.record("An exchange without an outcome has an answer.")
            return
        }
    }

    @Test func aCacheSeesTheAgeThatWasRecorded() async throws {
        let fields: HTTPFields = [
            .date: "Sun, 01 Mar 2026 09:59:50 GMT", .expires: "Sun, 01 Mar 2026 10:59:50 GMT", .age: "10",
        ]
        for days in [0, 1, 400] {
            let now = Self.recorded.addingTimeInterval(Double(days) * 86_400)
            let answer = exchange(fields).answer(now: now)
            #expect(answer.headers[.age] == "10")
            let dates = [HTTPField.Name.date, .expires].compactMap { answer.headers[$0] }.compactMap(Self.date)
            #expect(dates.map { Int($0.timeIntervalSince(now).rounded()) } == [-10, 3_590])
        }
    }

    private static func date(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = .gmt
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.date(from: text)
    }
}
