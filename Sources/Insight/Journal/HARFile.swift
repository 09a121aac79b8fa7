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
