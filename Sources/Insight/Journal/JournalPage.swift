internal import Foundation
internal import Interceptors
internal import InterceptorsArchives
internal import InterceptorsSyntax

/// A journal's calls as one HTML file that needs no network.
///
/// The calls are data in a `script` element that no browser runs, and the page shows text as text only. A content security policy
/// allows this page's own script and style by their digests, so that nothing else can run, whatever a body or a URL contains.
struct JournalPage {
    let calls: [JournalCall]
    /// Whether the calls hold redacted text; if they don't, the page says so.
    let isRedacted: Bool

    var data: Data {
        let policy = [
            "default-src 'none'", "script-src \(Self.source(JournalPageTemplate.script))",
            "style-src \(Self.source(JournalPageTemplate.style))", "base-uri 'none'", "form-action 'none'",
            "require-trusted-types-for 'script'", "trusted-types 'none'",
        ]
        let head = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(policy.joined(separator: "; "))">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="referrer" content="no-referrer">
            <title>Journal</title>
            <style>\(JournalPageTemplate.style)</style>
            </head>
            <body>
            \(JournalPageTemplate.body)
            <script type="application/json" id="data">
            """
        let tail = "</script>\n<script>\(JournalPageTemplate.script)</script>\n</body>\n</html>\n"
        return Data(head.utf8) + JournalPageData.json(of: calls, isRedacted: isRedacted).data(isForHTML: true)
            + Data(tail.utf8)
    }

    /// An inline element's content as a policy allows it (CSP Level 3, §2.3.1).
    private static func source(_ content: String) -> String {
        "'sha256-\(Data(PortableSHA256.digest([UInt8](content.utf8))).base64EncodedString())'"
    }
}

/// The data of a page: calls with short member names, and each text once.
///
/// The steps of a call repeat nearly all of their texts. Without repetition, a page with 5,000 calls has a tenth of the size, and
/// a search looks at each text once.
struct JournalPageData {
    private var strings: [String] = []
    private var indices: [String: Int64] = [:]

    static func json(of calls: [JournalCall], isRedacted: Bool) -> OrderedJSON {
        var data = JournalPageData()
        let calls = calls.map { data.call($0) }
        return [
            "isRedacted": .bool(isRedacted),
            "strings": .array(data.strings.map { .string($0) }),
            "calls": .array(calls),
        ]
    }

    private mutating func index(of text: String) -> OrderedJSON {
        if let index = indices[text] { return .integer(index) }
        let index = Int64(strings.count)
        strings.append(text)
        indices[text] = index
        return .integer(index)
    }

    private mutating func call(_ call: JournalCall) -> OrderedJSON {
        [
            "id": .integer(call.id),
            "at": .integer(Int64((min(max(call.startedAt.timeIntervalSince1970, 0), 253e9) * 1_000_000).rounded())),
            "parent": call.parentID.map { .integer($0) },
            "omitted": call.omittedCount == 0 ? nil : .integer(call.omittedCount),
            "root": call.root.map { step($0, below: nil) },
        ]
    }

    /// A request equal to the one of the step above is left out; a response equal to that of the last step below is 0.
    private mutating func step(_ step: JournalCall.Step, below above: JournalCall.Step?) -> OrderedJSON {
        let isSameResponse = step.response == step.steps.last?.response
        return [
            "n": index(of: step.name),
            "t": step.isTransport ? 1 : nil,
            "s": .integer(step.start.wholeMicroseconds),
            "d": step.duration.map { .integer($0.wholeMicroseconds) },
            "q": step.request == above?.request ? nil : message(step.request),
            "r": step.response.map { isSameResponse ? 0 : message($0) },
            "e": step.error.map { failure($0) },
            "w": step.timings.map(Self.timings),
            "v": step.httpVersion.map { index(of: $0) },
            "a": step.remoteAddress.map { address in
                index(of: step.remotePort.map { "\(address), port \($0)" } ?? address)
            },
            "k": step.notes.isEmpty ? nil : .array(step.notes.map { note($0) }),
            "c": step.steps.isEmpty ? nil : .array(step.steps.map { self.step($0, below: step) }),
        ]
    }

    private mutating func message(_ message: JournalCall.Message) -> OrderedJSON {
        var fields: [OrderedJSON] = []
        for field in message.fields { fields += [index(of: field.name), index(of: field.value)] }
        return [
            "method": message.method.map { index(of: $0) },
            "url": message.url.map { index(of: $0) },
            "status": message.status.map { .integer($0) },
            "fields": fields.isEmpty ? nil : .array(fields),
            "size": message.body.size.map { .integer($0) },
            "text": message.body.text.map { index(of: $0) },
            "stream": message.body.isStream ? 1 : nil,
            "cut": message.body.isCut ? 1 : nil,
            "revision": message.body.revision == 0 ? nil : .integer(message.body.revision),
            "revisions": message.fields.allSatisfy { $0.revision == 0 }
                ? nil : .array(message.fields.map { .integer($0.revision) }),
            "brief": message.isCut ? 1 : nil,
        ]
    }

    private mutating func failure(_ failure: JournalCall.Failure) -> OrderedJSON {
        [
            "type": index(of: failure.type),
            "code": failure.code.map { index(of: $0) },
            "text": index(of: failure.message),
            "cancelled": failure.isCancellation ? 1 : nil,
        ]
    }

    private mutating func note(_ note: CallNote) -> OrderedJSON {
        [
            "what": index(of: note.decision),
            "text": index(of: note.text),
            "call": note.callID.map { .integer($0) },
        ]
    }

    private static func timings(_ timings: TransferTimings) -> OrderedJSON {
        let durations = [timings.nameLookup, timings.connect, timings.tls, timings.firstByte, timings.total]
        return .array(durations.map { .integer($0.wholeMicroseconds) } + [timings.reusedConnection ? 1 : 0])
    }
}
