import Foundation
import Interceptors

@testable import InterceptorsInsight

/// Calls as a journal might hold them, made by hand or at random from a seed.
enum JournalSamples {
    typealias Step = JournalCall.Step
    typealias Message = JournalCall.Message
    typealias Field = HTTPField

    static let start = Date(timeIntervalSince1970: 1_790_000_000.123)

    /// A chain's steps around runs of its last element, all with the same request and response.
    static func chain(
        _ names: [String],
        around runs: [Step],
        _ request: Message,
        after: Duration = .microseconds(80)
    ) -> Step {
        let end = runs.map { $0.start + ($0.duration ?? .zero) }.max() ?? .zero
        let last = runs.last
        return names.reversed().enumerated().reduce(runs) { inner, element in
            let (depth, name) = element
            let start = after * (names.count - 1 - depth)
            var step = Step(name: name, start: start, request: request)
            step.duration = end + after * (depth + 1) - start
            step.response = last?.response
            step.error = last?.error
            step.steps = inner
            return [step]
        }[0]
    }

    static func attempt(
        _ request: Message,
        start: Duration,
        duration: Duration,
        response: Message? = nil,
        error: String? = nil,
        reused: Bool = true
    ) -> Step {
        var step = Step(name: "CurlTransport", isTransport: true, start: start, request: request)
        step.duration = duration
        step.response = response
        step.error = error
        if response != nil {
            step.httpVersion = "HTTP/2"
            step.remoteAddress = "192.0.2.7"
            step.remotePort = 443
            step.timings = .init(
                nameLookup: reused ? .microseconds(20) : duration * 0.04,
                connect: reused ? .microseconds(20) : duration * 0.12,
                tls: reused ? .zero : duration * 0.35,
                firstByte: duration * 0.8,
                total: duration * 0.96,
                reusedConnection: reused
            )
        }
        return step
    }

    static func json(_ status: Int, _ text: String, _ fields: [Field] = []) -> Message {
        Message(
            status: status,
            fields: HTTPFields(
                [
                    Field(name: "Content-Type", value: "application/json; charset=utf-8"),
                    Field(name: "Date", value: "Mon, 21 Sep 2026 14:13:20 GMT"),
                    Field(name: "Server", value: "nginx"),
                ] + fields
            ),
            body: .init(size: Int64(text.utf8.count), text: text)
        )
    }

    /// A call with a stale token: 401, a refresh, and a second attempt.
    static func unauthorized(id: Int, at date: Date, path: String, refresh: Int?) -> JournalCall {
        let bare = Message(
            method: "GET",
            url: "https://api.example.com/v1\(path)",
            fields: [Field(name: "Accept", value: "application/json")]
        )
        var signed = bare
        signed.fields.append("Accept-Language", "en")
        signed.fields.append("TransactionId", "7B9F\(id)")
        signed.fields.append(.authorization, "Bearer <redacted>")
        let first = attempt(
            signed,
            start: .milliseconds(1),
            duration: .milliseconds(74),
            response: json(401, #"{"error":"expired"}"#, [Field(name: "WWW-Authenticate", value: "Bearer")]),
            reused: false
        )
        let second = attempt(
            signed,
            start: .milliseconds(140),
            duration: .milliseconds(38),
            response: json(
                200,
                #"{"id":\#(id),"name":"Jane Doe","tags":["a","b"],"limits":{"daily":12345678901234567890}}"#
            )
        )
        var identity = signed
        identity.fields.remove(.authorization)
        let runs = [first, second].enumerated().map { index, run in
            var bearer = chain(["bearerAuth"], around: [run], identity, after: .microseconds(40))
            bearer = Step(name: "bearerAuth", start: run.start - .microseconds(50), request: identity).with {
                $0.duration = (run.duration ?? .zero) + .microseconds(90)
                $0.response = run.response
                $0.steps = [run]
                $0.notes = [CallNote("credentials", index == 0 ? "the held token" : "the refreshed token")]
            }
            return bearer
        }
        var root = chain(["validateStatus", "headers", "transactionID", "retryOnUnauthorized"], around: runs, identity)
        root = root.replacingRequests([bare, bare, bare.adding("Accept-Language", "en"), identity])
        root.edit(named: "retryOnUnauthorized") {
            $0.notes = [
                CallNote(
                    "refresh",
                    refresh == nil ? "began, because the status was 401" : "waited for the refresh of",
                    callID: refresh
                )
            ]
        }
        return JournalCall(id: id, startedAt: date, root: root)
    }

    /// A call whose attempts fail, but for the last one.
    static func retried(id: Int, at date: Date, path: String, fails: Bool) -> JournalCall {
        let request = Message(
            method: "POST",
            url: "https://api.example.com/v1\(path)",
            fields: [
                Field(name: "Content-Type", value: "application/json"),
                Field(name: "Idempotency-Key", value: "k-\(id)"),
            ],
            body: .init(size: 27, text: #"{"amount":12,"token":"<redacted>"}"#)
        )
        var runs = [
            attempt(
                request,
                start: .milliseconds(1),
                duration: .milliseconds(120),
                response: json(503, #"{"error":"busy"}"#, [Field(name: "Retry-After", value: "1")])
            ),
            attempt(
                request,
                start: .milliseconds(1121),
                duration: .milliseconds(31),
                error: "TransportError.connectionLost: The connection was lost before any byte of the response."
            ),
        ]
        if !fails {
            runs.append(
                attempt(
                    request,
                    start: .milliseconds(1600),
                    duration: .milliseconds(95),
                    response: json(201, #"{"id":"o-\#(id)"}"#)
                )
            )
        }
        var root = chain(["validateStatus", "retry"], around: runs, request)
        root.edit(named: "retry") {
            $0.notes = [
                CallNote("retry", "again after 1 s, because the status was 503"),
                CallNote("retry", "again after 0.4 s, because the connection was lost"),
            ]
            if fails { $0.notes[1] = CallNote("noRetry", "the attempts are used up") }
        }
        return JournalCall(id: id, startedAt: date, root: root)
    }

    static func cached(id: Int, at date: Date, path: String) -> JournalCall {
        let request = Message(
            method: "GET",
            url: "https://images.example.com\(path)",
            fields: [Field(name: "Accept", value: "image/*")]
        )
        var cache = Step(name: "cache", start: .microseconds(60), request: request)
        cache.duration = .microseconds(310)
        cache.response = Message(
            status: 200,
            fields: [Field(name: "Content-Type", value: "image/png"), Field(name: "Age", value: "12")],
            body: .init(size: 48_213)
        )
        cache.notes = [CallNote("cacheHit", "fresh for 3,588 s")]
        return JournalCall(id: id, startedAt: date, root: chain(["validateStatus"], around: [cache], request))
    }

    static func plain(
        id: Int,
        at date: Date,
        path: String,
        status: Int,
        duration: Duration,
        text: String
    ) -> JournalCall {
        let request = Message(
            method: "GET",
            url: "https://api.example.com/v1\(path)",
            fields: [Field(name: "Accept", value: "application/json")]
        )
        let run = attempt(request, start: .microseconds(240), duration: duration, response: json(status, text))
        var root = chain(["validateStatus", "headers", "transactionID"], around: [run], request)
        if status >= 400 {
            root.response = nil
            root.error = "StatusError.clientError: The server answered 404 Not Found to GET \(path)."
        }
        return JournalCall(id: id, startedAt: date, root: root)
    }

    static func running(id: Int, at date: Date) -> JournalCall {
        let request = Message(
            method: "GET",
            url: "https://api.example.com/v1/events",
            fields: [Field(name: "Accept", value: "text/event-stream")]
        )
        let run = Step(name: "CurlTransport", isTransport: true, start: .microseconds(100), request: request)
        var root = Step(name: "validateStatus", start: .zero, request: request)
        root.steps = [run]
        return JournalCall(id: id, startedAt: date, root: root)
    }

    /// A session of an app: bursts of calls with all kinds of outcomes.
    static func session(_ count: Int) -> [JournalCall] {
        var date = start
        return (1...max(1, count)).map { id in
            date += id % 12 == 0 ? 1.7 : 0.013 * Double(id % 5)
            switch id % 9 {
            case 1:
                return unauthorized(
                    id: id,
                    at: date,
                    path: "/users/\(id)",
                    refresh: id > 9 && id % 2 == 0 ? id - 1 : nil
                )
            case 4: return cached(id: id, at: date, path: "/avatars/\(id % 40).png?size=64")
            case 6 where id % 18 == 6: return retried(id: id, at: date, path: "/orders", fails: id % 4 == 0)
            case 7 where id % 27 == 7:
                return plain(
                    id: id,
                    at: date,
                    path: "/missing/\(id)",
                    status: 404,
                    duration: .milliseconds(21),
                    text: #"{"error":"not found"}"#
                )
            case 8 where id % 99 == 8: return running(id: id, at: date)
            default:
                return plain(
                    id: id,
                    at: date,
                    path: "/items?page=\(id)&filter=open",
                    status: 200,
                    duration: .microseconds(9_000 + id * 7_919 % 140_000),
                    text:
                        #"{"items":[{"id":\#(id),"title":"Item number \#(id)"},{"id":\#(id + 1),"done":true}],"next":null}"#
                )
            }
        }
    }
}

extension HTTPField {
    init(name: String, value: String) { self.init(unchecked: Name(stringLiteral: name), value) }
}

extension JournalCall.Step {
    func with(_ change: (inout Self) -> Void) -> Self {
        var copy = self
        change(&copy)
        return copy
    }

    /// Changes the steps with a name.
    mutating func edit(named name: String, _ change: (inout Self) -> Void) {
        if self.name == name { change(&self) }
        for index in steps.indices { steps[index].edit(named: name, change) }
    }

    /// The chain with other requests for its outermost steps.
    func replacingRequests(_ requests: [JournalCall.Message]) -> Self {
        guard let request = requests.first else { return self }
        var copy = Self(name: name, isTransport: isTransport, start: start, request: request)
        copy.duration = duration
        copy.response = response
        copy.error = error
        copy.notes = notes
        copy.steps = requests.count > 1 ? steps.map { $0.replacingRequests(Array(requests.dropFirst())) } : steps
        return copy
    }
}

extension JournalCall.Message {
    func adding(_ name: String, _ value: String) -> Self {
        var copy = self
        copy.fields.append(HTTPField(name: name, value: value))
        return copy
    }
}

extension JournalSamples {
    /// Texts that try to end an element, to run, to break JSON, and to turn or hide what is around them.
    static let hostileTexts = [
        "</script><script>hostile = 1</script>", "<!--<script>", "]]>", "<img src=x onerror=\"hostile = 1\">",
        "\u{202E}gpj.exe\u{2066}\u{0}\u{7}", "\u{2028}hostile = 1\u{2029}", "\"}];hostile=1;[{\"",
        "javascript:hostile=1", "\\u003c/script>",
        "</style><style>*{display:none}</style>", "&lt;script&gt;", "{{constructor}}",
    ]

    /// Calls all of whose texts are hostile; one content is a line of a megabyte.
    static var hostile: [JournalCall] {
        let text = hostileTexts.joined(separator: " ")
        return (1...4).map { id in
            let request = Message(
                method: text,
                url: "https://evil.example/\(text)?\(text)",
                fields: [Field(name: text, value: text), Field(name: "Content-Type", value: "application/json")],
                body: .init(
                    size: 9,
                    text: id == 2 ? String(repeating: "x", count: 1 << 20) + text : text,
                    isCut: id == 3
                )
            )
            var run = attempt(
                request,
                start: .milliseconds(1),
                duration: .milliseconds(9),
                response: Message(status: 200, fields: request.fields, body: request.body)
            )
            run.notes = [CallNote(text, text, callID: 1)]
            var root = Step(name: text, start: .zero, request: request)
            root.duration = .milliseconds(11)
            root.error = "\(text).\(text): \(text)"
            root.steps = [run]
            return JournalCall(id: id, startedAt: start, parentID: id == 4 ? 1 : nil, root: root, omittedCount: id)
        }
    }
}
