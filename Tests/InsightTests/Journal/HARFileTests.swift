import Foundation
import InterceptorsArchives
import InterceptorsSyntax
import Testing

@testable import InterceptorsInsight

@Suite(.againstHanging) struct HARFileTests {
    private typealias Message = JournalCall.Message
    private typealias Field = HTTPField

    private func log(_ calls: [JournalCall], isRedacted: Bool = true) throws -> [String: Any] {
        let har = try JSONSerialization.jsonObject(with: HARFile(calls: calls, isRedacted: isRedacted).data)
        return try #require((har as? [String: [String: Any]])?["log"])
    }

    private func entries(_ calls: [JournalCall]) throws -> [[String: Any]] {
        try #require(log(calls)["entries"] as? [[String: Any]])
    }

    @Test func aCallIsWrittenToTheLetter() throws {
        let request = Message(
            method: "POST",
            url: "https://api.example.com/v1/orders?note=a+b%26c&x#part",
            fields: [
                Field(name: "Content-Type", value: "application/json"),
                Field(name: "Cookie", value: "a=<redacted>; b=2"),
                Field(name: "X-Twice", value: "1"), Field(name: "x-twice", value: "2"),
            ],
            body: .init(size: 12, text: #"{"amount":1}"#)
        )
        let created = Message(
            status: 201,
            fields: [
                Field(name: "Content-Type", value: "text/plain"), Field(name: "Location", value: "/orders/1"),
                Field(
                    name: "Set-Cookie",
                    value:
                        "a=<redacted>; Path=/; Domain=example.com; Expires=Wed, 21 Oct 2026 07:28:00 GMT; HttpOnly; Secure"
                ),
                Field(name: "Set-Cookie", value: "b=2"),
            ],
            body: .init(size: 4, text: "Fine")
        )
        var attempt = JournalCall.Step(
            name: "CurlTransport",
            isTransport: true,
            start: .microseconds(1_877),
            request: request
        )
        attempt.duration = .microseconds(12_345)
        attempt.response = created
        attempt.timings = .init(
            nameLookup: .microseconds(100),
            connect: .microseconds(1_100),
            tls: .microseconds(3_100),
            firstByte: .microseconds(9_000),
            total: .microseconds(12_000),
            reusedConnection: false
        )
        attempt.httpVersion = "HTTP/2"
        attempt.remoteAddress = "192.0.2.7"
        attempt.remotePort = 443
        var retry = JournalCall.Step(name: "retry", start: .zero, request: request)
        retry.duration = .microseconds(15_000)
        retry.response = created
        retry.notes = [CallNote("noRetry", "the status was 201", callID: 3)]
        retry.steps = [attempt]
        let call = JournalCall(id: 7, startedAt: JournalSamples.start, parentID: 3, root: retry, omittedCount: 2)

        let decisions = #"[{"interceptor":"retry","decision":"noRetry","text":"the status was 201","page":"call_3"}]"#
        let expected = [
            #"{"log":{"version":"1.2","creator":{"name":"Interceptors","version":"1"},"pages":["#,
            #"{"startedDateTime":"2026-09-21T14:13:20.123Z","id":"call_7","#,
            #""title":"POST https://api.example.com/v1/orders?note=a+b%26c&x#part","#,
            #""pageTimings":{"onContentLoad":-1,"onLoad":15},"_decisions":\#(decisions),"#,
            #""_parent":"call_3","_omitted":2}],"entries":["#,
            #"{"pageref":"call_7","startedDateTime":"2026-09-21T14:13:20.124Z","time":12.345,"request":"#,
            #"{"method":"POST","url":"https://api.example.com/v1/orders?note=a+b%26c&x#part","httpVersion":"HTTP/2","#,
            #""cookies":[],"headers":["#,
            #"{"name":"Content-Type","value":"application/json"},{"name":"Cookie","value":"a=<redacted>; b=2"},"#,
            #"{"name":"X-Twice","value":"1"},{"name":"x-twice","value":"2"}],"#,
            #""queryString":[{"name":"note","value":"a b&c"},{"name":"x","value":""}],"#,
            #""postData":{"mimeType":"application/json","text":"{\"amount\":1}"},"#,
            #""headersSize":-1,"bodySize":12},"response":{"status":201,"statusText":"Created","httpVersion":"HTTP/2","cookies":[],"headers":["#,
            #"{"name":"Content-Type","value":"text/plain"},{"name":"Location","value":"/orders/1"},"#,
            #"{"name":"Set-Cookie","value":"a=<redacted>; Path=/; Domain=example.com; "#,
            #"Expires=Wed, 21 Oct 2026 07:28:00 GMT; HttpOnly; Secure"},{"name":"Set-Cookie","value":"b=2"}],"#,
            #""content":{"size":4,"mimeType":"text/plain","text":"Fine"},"redirectURL":"","headersSize":-1,"bodySize":-1},"#,
            #""cache":{},"timings":{"blocked":0.345,"dns":0.1,"connect":3,"send":0,"wait":5.9,"receive":3,"ssl":2},"#,
            #""serverIPAddress":"192.0.2.7","connection":"443","#,
            #""_attempt":1,"_interceptors":["retry","CurlTransport"],"#,
            #""_resourceType":"fetch"}],"_isRedacted":true}}"#,
        ].joined()
        #expect(String(decoding: HARFile(calls: [call], isRedacted: true).data, as: UTF8.self) == expected)
    }

    @Test(
        arguments: [
            // Measured: duration, lookup, connect, TLS, first byte, total; whether reused.
            // Expected: blocked, dns, connect, ssl, wait, receive; −1 is unknown.
            ([100, 10, 20, 40, 70, 100], false, [-1, 10, 30, 20, 30, 30]),
            ([100, 10, 20, 0, 70, 100], false, [-1, 10, 10, -1, 50, 30]),
            ([100, 5, 5, 0, 70, 100], true, [5, -1, -1, -1, 65, 30]),
            ([150, 10, 20, 40, 70, 100], false, [50, 10, 30, 20, 30, 30]),
            // A clock that runs backwards, and a duration shorter than its parts, give no negative time.
            ([10, 50, 20, 10, 5, 0], false, [-1, 50, 0, 0, 0, 0]),
        ] as [([Int64], Bool, [Int64])]
    )
    func cumulativeTimingsBecomeParts(_ measured: [Int64], _ isReused: Bool, _ expected: [Int64]) {
        let times = measured.map { Duration.microseconds($0) }
        let timings = HARTimings(
            duration: times[0],
            .init(
                nameLookup: times[1],
                connect: times[2],
                tls: times[3],
                firstByte: times[4],
                total: times[5],
                reusedConnection: isReused
            )
        )
        let parts = [timings.blocked, timings.dns, timings.connect, timings.ssl, timings.wait, timings.receive]
        #expect(parts.map { $0 ?? -1 } == expected)
        #expect(timings.time == max(measured[0], parts[0, default: 0] + parts[1, default: 0] + parts[2, default: 0]))
    }

    @Test func withoutTimingsAnAttemptWaits() {
        let timings = HARTimings(duration: .milliseconds(3), nil)
        #expect(timings.wait == 3_000 && timings.time == 3_000 && timings.blocked == nil && timings.dns == nil)
        #expect(HARTimings(duration: nil, nil).time == 0)
    }

    @Test func aCallThatSentNothingIsAnEntryFromTheCache() throws {
        let call = JournalSamples.cached(id: 1, at: JournalSamples.start, path: "/a.png")
        let entry = try #require(entries([call]).first)
        #expect(entry["_fromCache"] as? String == "memory" && entry["_attempt"] as? Int == 0)
        let page = try #require((try log([call])["pages"] as? [[String: Any]])?.first)
        let decisions = try #require(page["_decisions"] as? [[String: Any]])
        #expect(decisions.map { $0["decision"] as? String } == ["cacheHit"])
    }

    @Test func withStepsOmittedNothingCameFromTheCache() throws {
        let call = JournalSamples.cached(id: 1, at: JournalSamples.start, path: "/a.png")
        let cut = JournalCall(id: 1, startedAt: call.startedAt, root: call.root, omittedCount: 1)
        #expect(try entries([cut]).first?["_fromCache"] == nil)
    }

    @Test func eachDecisionIsOnThePageOfItsCall() throws {
        let request = Message(method: "GET", url: "https://a.example/")
        var loop = JournalCall.Step(name: "retry", start: .zero, request: request)
        for number in 0..<1_000 {
            var attempt = JournalCall.Step(name: "Wire", isTransport: true, start: .zero, request: request)
            attempt.notes = [CallNote("body", "\(number)")]
            var inner = JournalCall.Step(name: "envelope", start: .zero, request: request)
            (inner.steps, inner.notes, inner.noteIndices) = ([attempt], [CallNote("opened", "\(number)")], [1])
            loop.steps.append(inner)
            loop.notes.append(CallNote("retry", "\(number)"))
            loop.noteIndices.append(number + 1)
        }
        let log = try log([JournalCall(id: 1, startedAt: JournalSamples.start, root: loop)])
        let page = try #require((log["pages"] as? [[String: Any]])?.first)
        let decisions = try #require(page["_decisions"] as? [[String: Any]])
        #expect(decisions.count == 3_000 && (log["entries"] as? [Any])?.count == 1_000)
        #expect(decisions.suffix(2).map { $0["decision"] as? String } == ["opened", "body"])
    }

    @Test func aFormIsText() throws {
        var step = JournalCall.Step(
            name: "Wire",
            isTransport: true,
            start: .zero,
            request: Message(
                method: "POST",
                url: "https://a.example/",
                fields: [Field(name: "content-type", value: "application/x-www-form-urlencoded; charset=utf-8")],
                body: .init(size: 11, text: "a=b+c&d=%26")
            )
        )
        step.response = Message(status: 204)
        let call = JournalCall(id: 1, startedAt: JournalSamples.start, root: step)
        let request = try #require(entries([call]).first?["request"] as? [String: Any])
        let form = try #require(request["postData"] as? [String: Any])
        #expect(form["text"] as? String == "a=b+c&d=%26" && form["params"] == nil)
    }

    @Test func aFailedAttemptHasStatusZeroAndItsError() throws {
        let call = JournalSamples.retried(id: 1, at: JournalSamples.start, path: "/a", fails: false)
        let responses = try entries([call]).compactMap { $0["response"] as? [String: Any] }
        #expect(responses.map { $0["status"] as? Int } == [503, 0, 201])
        let error = "TransportError.connectionLost: The connection was lost before any byte of the response."
        #expect(responses.map { $0["_error"] as? String } == [nil, error, nil])
    }

    @Test func aRunningAttemptSaysSo() throws {
        let entry = try #require(entries([JournalSamples.running(id: 1, at: JournalSamples.start)]).first)
        #expect(entry["comment"] as? String == "Still running when this file was written")
    }

    @Test func secretsAreAnnounced() throws {
        let secret = try log([], isRedacted: false)
        #expect(
            secret["_isRedacted"] as? Bool == false && (secret["comment"] as? String)?.contains("passwords") == true
        )
        let redacted = try log([])
        #expect(redacted["_isRedacted"] as? Bool == true && redacted["comment"] == nil)
    }

    @Test func aCallThatDidNotFitIsAPage() throws {
        let log = try log([JournalCall(id: 1, startedAt: JournalSamples.start, root: nil, omittedCount: 9)])
        #expect((log["pages"] as? [Any])?.count == 1 && (log["entries"] as? [Any])?.isEmpty == true)
    }

    @Test(arguments: [
        (0.0, "1970-01-01T00:00:00.000Z"), (1_790_000_000.9999, "2026-09-21T14:13:20.999Z"),
        (-5, "1970-01-01T00:00:00.000Z"), (.nan, "1970-01-01T00:00:00.000Z"),
        (.infinity, "9999-12-31T23:59:59.000Z"), (951_782_400.001, "2000-02-29T00:00:00.001Z"),
    ])
    func datesAreISO8601WithMilliseconds(_ seconds: Double, _ text: String) {
        #expect(HARDate.text(Date(timeIntervalSince1970: seconds)) == text)
    }

    @Test func everyAttemptOfRandomCallsIsAnEntryWhoseTimingsAddUp() throws {
        var source = RandomCalls(seed: 19)
        let calls = (1...300).map { source.call(id: $0) }
        let log = try log(calls)
        #expect((log["pages"] as? [Any])?.count == calls.count)
        let entries = try #require(log["entries"] as? [[String: Any]])
        let numbers = entries.compactMap { $0["_attempt"] as? Int }
        #expect(numbers.count { $0 > 0 } == calls.reduce(0) { $0 + $1.attempts.count })
        #expect(numbers.count { $0 == 0 } == calls.count { $0.root != nil && $0.attempts.isEmpty })
        for entry in entries {
            let timings = try #require(entry["timings"] as? [String: Double])
            let sum = timings.filter { $0.key != "ssl" && $0.value != -1 }.values.reduce(0, +)
            let time = try #require(entry["time"] as? Double)
            #expect(abs(sum - time) <= 1e-9 * max(1, time))
        }
    }
}

extension [Int64?] {
    fileprivate subscript(index: Int, default value: Int64) -> Int64 { self[index] ?? value }
}
