internal import Foundation
internal import Interceptors
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
        let attempts = Attempt.all(in: root).enumerated().map { index, attempt in
            entry(attempt.path.last ?? root, path: attempt.path, attempt.decisions, number: index + 1, call)
        }
        return attempts.isEmpty ? [entry(root, path: [], Self.decisions(in: root), number: 0, call)] : attempts
    }

    /// - Parameters:
    ///   - path: the steps from the outermost one to the attempt; empty for a call that sent nothing.
    ///   - number: the attempt's number in its call, from 1; 0 for a call that sent nothing.
    private func entry(
        _ step: JournalCall.Step,
        path: [JournalCall.Step],
        _ decisions: [OrderedJSON],
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
            "_decisions": decisions.isEmpty ? nil : .array(decisions),
            "_fromCache": isAnsweredByChain ? "memory" : nil,
            "_resourceType": "fetch",
        ]
    }

    private static func pageID(_ call: JournalCall) -> String { "call_\(call.id)" }

    /// An attempt of a call.
    private struct Attempt {
        /// The steps from the outermost one to the attempt.
        let path: [JournalCall.Step]
        /// The decisions since the attempt before, and those about this attempt's outcome.
        var decisions: [OrderedJSON]

        /// The attempts in their order. Each decision is in one of them.
        static func all(in root: JournalCall.Step) -> [Attempt] {
            var (attempts, pending): ([Attempt], [OrderedJSON]) = ([], [])
            func add(_ step: JournalCall.Step, after path: [JournalCall.Step]) {
                let path = path + [step]
                var decisions = HARFile.ownDecisions(of: step)[...]
                let count = attempts.count
                for (index, inner) in step.steps.enumerated() {
                    let noted = step.noteIndices.dropFirst(step.notes.count - decisions.count).prefix { $0 <= index }
                    pending += decisions.prefix(noted.count)
                    decisions = decisions.dropFirst(noted.count)
                    add(inner, after: path)
                }
                if step.isTransport { attempts.append(Attempt(path: path, decisions: pending)) }
                if attempts.count > count {
                    if step.isTransport { pending = [] }
                    attempts[attempts.count - 1].decisions += decisions
                } else {
                    pending += decisions
                }
            }
            add(root, after: [])
            if !attempts.isEmpty { attempts[attempts.count - 1].decisions += pending }
            return attempts
        }
    }

    private static func allSteps(in step: JournalCall.Step) -> [JournalCall.Step] {
        [step] + step.steps.flatMap(allSteps)
    }

    private static func decisions(in step: JournalCall.Step) -> [OrderedJSON] {
        allSteps(in: step).flatMap(ownDecisions)
    }

    private static func ownDecisions(of step: JournalCall.Step) -> [OrderedJSON] {
        step.notes.map { note in
            [
                "interceptor": .string(step.name),
                "decision": .string(note.decision),
                "text": .string(note.text),
                "page": note.callID.map { .string("call_\($0)") },
            ]
        }
    }
}
