internal import Foundation
internal import InterceptorsArchives
internal import InterceptorsSyntax

/// A journal's calls as an HTTP Archive (HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/).
///
/// A call is a page, an attempt an entry. A call that sent nothing has one entry too, because browsers show entries only.
/// Members that HAR 1.2 doesn't define begin with an underscore, as it asks.
struct HARFile {
    let calls: [JournalCall]
    /// Whether the calls hold redacted text; if they don't, the file says so.
    let isRedacted: Bool

    static let warning = "Redaction was switched off. This file may contain passwords, tokens and personal data."

    var data: Data {
        let log: OrderedJSON = [
            "version": "1.2",
            "creator": ["name": "Interceptors", "version": "1"],
            "pages": .array(calls.map(page)),
            "entries": .array(calls.flatMap(entries)),
            "comment": isRedacted ? nil : .string(Self.warning),
            "_isRedacted": .bool(isRedacted),
        ]
        return (["log": log] as OrderedJSON).data()
    }

    private func page(_ call: JournalCall) -> OrderedJSON {
        let request = call.root?.request
        let end = call.duration.map { OrderedJSON.milliseconds(microseconds: max(0, $0.wholeMicroseconds)) }
        let decisions = call.root.map(Self.decisions(in:)) ?? []
        return [
            "startedDateTime": .string(HARDate.text(call.startedAt)),
            "id": .string(Self.pageID(call)),
            "title": .string([request?.method, request?.url].compactMap(\.self).joined(separator: " ")),
            "pageTimings": ["onContentLoad": -1, "onLoad": end ?? -1],
            "_decisions": decisions.isEmpty ? nil : .array(decisions),
            "_parent": call.parentID.map { .string("call_\($0)") },
            "_omitted": call.omittedCount == 0 ? nil : .integer(call.omittedCount),
        ]
    }

    private func entries(_ call: JournalCall) -> [OrderedJSON] {
        guard let root = call.root else { return [] }
        let attempts = Self.paths(to: root).enumerated().map { index, path in
            entry(path.last ?? root, path: path, number: index + 1, call)
        }
        return attempts.isEmpty ? [entry(root, path: [], number: 0, call)] : attempts
    }

    /// The steps from the outermost one to each attempt.
    private static func paths(to step: JournalCall.Step, after path: [JournalCall.Step] = []) -> [[JournalCall.Step]] {
        let path = path + [step]
        return step.isTransport ? [path] : step.steps.flatMap { paths(to: $0, after: path) }
    }

    /// - Parameters:
    ///   - path: the steps from the outermost one to the attempt; empty for a call that sent nothing.
    ///   - number: the attempt's number in its call, from 1; 0 for a call that sent nothing.
    private func entry(
        _ step: JournalCall.Step,
        path: [JournalCall.Step],
        number: Int,
        _ call: JournalCall
    ) -> OrderedJSON {
        let timings = HARTimings(duration: step.duration, step.timings)
        let isRunning = step.response == nil && step.error == nil
        // Chrome shows such an entry as one from its memory cache. If steps are missing, an attempt may be among them.
        let isAnsweredByChain = number == 0 && step.response != nil && call.omittedCount == 0
        return [
            "pageref": .string(Self.pageID(call)),
            "startedDateTime": .string(HARDate.text(call.startedAt, after: step.start)),
            "time": .milliseconds(microseconds: timings.time),
            "request": HARMessages.request(of: step),
            "response": HARMessages.response(of: step),
            "cache": [:],
            "timings": timings.json,
            "serverIPAddress": step.remoteAddress.map { .string($0) },
            // HAR asks for a number that identifies the connection, "such as a port". Browsers show this as the server's port.
            "connection": step.remotePort.map { .string(String($0)) },
            "comment": isRunning ? "Still running when this file was written" : nil,
            "_attempt": .integer(number),
            "_interceptors": path.isEmpty ? nil : .array(path.map { .string($0.name) }),
            "_fromCache": isAnsweredByChain ? "memory" : nil,
            "_resourceType": "fetch",
        ]
    }

    private static func pageID(_ call: JournalCall) -> String { "call_\(call.id)" }

    private static func decisions(in step: JournalCall.Step) -> [OrderedJSON] {
        let own: [OrderedJSON] = step.notes.map { note in
            [
                "interceptor": .string(step.name),
                "decision": .string(note.decision),
                "text": .string(note.text),
                "page": note.callID.map { .string("call_\($0)") },
            ]
        }
        return own + step.steps.flatMap(decisions)
    }
}

/// The members `request` and `response` of an entry in an HTTP Archive.
///
/// Sizes and the HTTP version are HAR's "unknown", −1 and an empty text, where a journal doesn't know them. Cookies are among the headers.
enum HARMessages {
    static func request(of step: JournalCall.Step) -> OrderedJSON {
        let request = step.request
        let url = request.url ?? ""
        return [
            "method": .string(request.method ?? ""),
            "url": .string(url),
            "httpVersion": .string(step.httpVersion ?? ""),
            "cookies": [],
            "headers": headers(request.fields),
            "queryString": HARParts.queryString(of: url),
            "postData": postData(of: request),
            "headersSize": -1,
            "bodySize": .integer(request.body.size ?? -1),
        ]
    }

    /// The status is 0, as in browsers, if the attempt failed or still runs.
    static func response(of step: JournalCall.Step) -> OrderedJSON {
        let response = step.response
        let status = response?.status ?? 0
        let fields = response?.fields ?? [:]
        return [
            "status": .integer(status),
            "statusText": .string(HTTPResponse.Status(code: status)?.reasonPhrase ?? ""),
            "httpVersion": .string(step.httpVersion ?? ""),
            "cookies": [],
            "headers": headers(fields),
            "content": content(of: response),
            "redirectURL": .string((300..<400).contains(status) ? fields.first(.location) ?? "" : ""),
            "headersSize": -1,
            // The transport may have decoded the content, so that its size isn't that of the bytes received.
            "bodySize": response?.body.size == 0 ? 0 : -1,
            "_error": step.error.map { .string($0) },
        ]
    }

    private static func headers(_ fields: HTTPFields) -> OrderedJSON {
        .array(fields.map { HARParts.record($0.name.rawName, $0.value) })
    }

    private static func mimeType(of message: JournalCall.Message) -> OrderedJSON {
        .string(message.fields.first(.contentType) ?? "")
    }

    private static func postData(of request: JournalCall.Message) -> OrderedJSON? {
        guard request.body.isStream || request.body.size != 0 || request.body.text != nil else { return nil }
        return [
            "mimeType": mimeType(of: request),
            "text": .string(request.body.text ?? ""),
            "comment": comment(on: request.body),
        ]
    }

    private static func content(of response: JournalCall.Message?) -> OrderedJSON {
        guard let response else { return ["size": 0, "mimeType": ""] }
        if response.isCut { return ["size": -1, "mimeType": "", "comment": "The journal kept only the status"] }
        return [
            "size": .integer(response.body.size ?? -1),
            "mimeType": mimeType(of: response),
            "text": response.body.text.map { .string($0) },
            "comment": comment(on: response.body),
        ]
    }

    private static func comment(on body: JournalCall.Body) -> OrderedJSON? {
        if body.isStream { return "A stream, whose content a journal doesn't read" }
        if body.text == nil, body.size != 0 { return "The journal kept no text of this content" }
        return body.isCut ? .string(HARParts.cutContent) : nil
    }
}

/// The `timings` of an entry in an HTTP Archive, in microseconds. `nil` is HAR's −1: unknown, or not part of this attempt.
///
/// `connect` includes `ssl`, as HAR 1.2 says, so that `time` is the sum of all others.
struct HARTimings: Equatable {
    var blocked, dns, connect, ssl: Int64?
    var send: Int64 = 0
    var wait: Int64 = 0
    var receive: Int64 = 0

    /// The sum, which is the entry's `time`.
    var time: Int64 { (blocked ?? 0) + (dns ?? 0) + (connect ?? 0) + send + wait + receive }

    /// The timings of an attempt.
    ///
    /// - Parameters:
    ///   - duration: the attempt's duration as its caller measured it; `nil` while it runs.
    ///   - timings: the transport's cumulative durations, if it measured them. The rest of `duration`, such as waiting for a
    ///     connection, counts as `blocked`.
    init(duration: Duration?, _ timings: TransferTimings?) {
        let whole = max(0, duration?.wholeMicroseconds ?? 0)
        guard let timings else {
            wait = whole
            return
        }
        let lookup = max(0, timings.nameLookup.wholeMicroseconds)
        let connected = max(lookup, timings.connect.wholeMicroseconds)
        let ready = max(connected, timings.tls.wholeMicroseconds)
        let first = max(ready, timings.firstByte.wholeMicroseconds)
        let total = max(first, timings.total.wholeMicroseconds)
        if timings.reusedConnection {
            blocked = ready
        } else {
            dns = lookup
            connect = ready - lookup
            ssl = timings.tls > .zero ? ready - connected : nil
        }
        wait = first - ready
        receive = total - first
        if whole > total { blocked = (blocked ?? 0) + whole - total }
    }

    var json: OrderedJSON {
        func optional(_ value: Int64?) -> OrderedJSON { value.map { .milliseconds(microseconds: $0) } ?? -1 }
        return [
            "blocked": optional(blocked), "dns": optional(dns), "connect": optional(connect),
            "send": .milliseconds(microseconds: send), "wait": .milliseconds(microseconds: wait),
            "receive": .milliseconds(microseconds: receive), "ssl": optional(ssl),
        ]
    }
}
