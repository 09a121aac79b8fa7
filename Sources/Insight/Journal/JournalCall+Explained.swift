extension JournalCall {
    /// The call as a text for a person: a line for each step, indented below the step that started it.
    ///
    /// ```text
    /// #1 GET https://api.example.com/users/42 → 200 OK, 41.2 ms
    /// ↓ + Accept: application/json
    /// unwrapEnvelope                              12 µs
    ///   retry                                     2.01 s
    ///     CurlTransport                           20.1 ms
    ///       ↑ 503 Service Unavailable, 0 bytes
    ///     · retry: again after 2 s, because the status was 503
    ///     CurlTransport                           18.9 ms
    ///       ↑ 200 OK, 59 bytes: {"code":200,"object":{"id":42}}
    ///   · envelope: opened
    ///   ↑ body: 9 bytes: {"id":42}
    /// ```
    /// `↓` is what the step changed in the request that it passed on, `↑` is what it changed in the response, and `·` is a note.
    /// A step that changed nothing has only its name and the time that it took by itself, without the steps below it.
    public var explained: String {
        var text = JournalText()
        text.add("#\(id)\(parentID.map { " (for #\($0))" } ?? "") \(headline)")
        if let root {
            text.addChanges(of: root.request, after: Message())
            text.add(root)
        }
        if omittedCount > 0 { text.add("… \(omittedCount) steps, notes and fields are omitted") }
        return text.lines.joined(separator: "\n")
    }

    /// The request, its outcome and its duration on one line.
    var headline: String {
        guard let root else { return "…" }
        let request = PrintableText.line("\(root.request.method ?? "?") \(root.request.url ?? "?")")
        guard let duration = root.duration else { return "\(request) … running" }
        let error = root.error.map { String($0.prefix { $0 != ":" }) }
        let outcome = root.response?.statusLine ?? error ?? "?"
        return "\(request) → \(PrintableText.line(outcome)), \(duration.logged)"
    }
}

extension JournalCall.Step {
    /// The time from the step's begin to its outcome, without the time of the steps below it; `nil` while the step runs.
    public var ownDuration: Duration? {
        guard let duration else { return nil }
        let end = start + duration
        var covered = Duration.zero
        var reached = start
        for step in steps.sorted(by: { $0.start < $1.start }) {
            // A step that still runs, or that outlived this one, counts up to this one's end.
            let stepEnd = min(end, step.duration.map { step.start + $0 } ?? end)
            let stepStart = max(reached, step.start)
            guard stepEnd > stepStart else { continue }
            covered += stepEnd - stepStart
            reached = stepEnd
        }
        return max(.zero, duration - covered)
    }

    /// The inner step whose response this step's response was made from: the one with most in common, or else the latest.
    fileprivate var source: JournalCall.Message? {
        guard let response else { return nil }
        func score(_ other: JournalCall.Message) -> Int {
            (other.fields == response.fields ? 2 : 0) + (other.body == response.body ? 1 : 0)
                + (other.status == response.status ? 4 : 0)
        }
        // The first of equal ones is the latest.
        return steps.compactMap(\.response).reversed().max { score($0) < score($1) }
    }
}

extension JournalCall.Message {
    var statusLine: String {
        status.map { HTTPResponse.Status(code: $0)?.description ?? "\($0)" } ?? "?"
    }
}

/// Lines of an explained call.
private struct JournalText {
    private static let timeColumn = 44
    private static let maxValueLength = 100

    private(set) var lines: [String] = []
    private var indent = ""

    mutating func add(_ line: String) { lines.append(indent + line) }

    mutating func add(_ step: JournalCall.Step) {
        let name = indent + PrintableText.line(step.name)
        let time = step.ownDuration?.logged ?? "running"
        let space = String(repeating: " ", count: max(2, Self.timeColumn - name.count))
        lines.append(name + space + time)
        indent += "  "
        addContents(of: step)
        indent.removeLast(2)
    }

    private mutating func addContents(of step: JournalCall.Step) {
        var notes = Array(zip(step.notes, step.noteIndices))[...]
        for (index, inner) in step.steps.enumerated() {
            while let (note, noteIndex) = notes.first, noteIndex <= index {
                add("· \(Self.shown(note.description))")
                notes = notes.dropFirst()
            }
            addChanges(of: inner.request, after: step.request)
            add(inner)
        }
        for (note, _) in notes { add("· \(Self.shown(note.description))") }
        addOutcome(of: step)
    }

    private mutating func addOutcome(of step: JournalCall.Step) {
        if let error = step.error {
            guard !step.steps.contains(where: { $0.error == error }) else { return }
            return add("↑ \(error == JournalCall.cancelled ? "" : "throws ")\(Self.shown(error))")
        }
        guard let response = step.response else { return }
        if response.isCut { return add("↑ \(response.statusLine), …") }
        guard let source = step.source, source.status == response.status, !source.isCut else {
            return add("↑ \(response.statusLine), \(Self.shown(response.body))")
        }
        addFields(response.fields, after: source.fields, "↑")
        if response.body != source.body { add("↑ body: \(Self.shown(response.body))") }
    }

    // MARK: Changes

    mutating func addChanges(of request: JournalCall.Message, after previous: JournalCall.Message) {
        let isFirst = previous.method == nil
        if !isFirst, request.method != previous.method || request.url != previous.url {
            add(PrintableText.line("↓ \(request.method ?? "?") \(request.url ?? "?")"))
        }
        addFields(request.fields, after: previous.fields, "↓")
        if request.body != previous.body { add("↓ body: \(Self.shown(request.body))") }
    }

    private mutating func addFields(_ fields: HTTPFields, after previous: HTTPFields, _ arrow: String) {
        let difference = fields.difference(from: previous) { $0 == $1 && $0.name.rawName == $1.name.rawName }
        for change in difference {
            switch change {
            case .insert(_, let field, _):
                add("\(arrow) + \(PrintableText.line(field.name.rawName)): \(Self.shown(field.value))")
            case .remove(_, let field, _): add("\(arrow) − \(PrintableText.line(field.name.rawName))")
            }
        }
    }

    // MARK: Values

    private static func shown(_ body: JournalCall.Body) -> String {
        let size = body.size.map { "\($0) bytes" }
        let kind = body.isStream ? "a stream" + (size.map { " of \($0)" } ?? "") : size ?? "no bytes"
        return body.text.map { "\(kind): \(shown($0, isCut: body.isCut))" } ?? kind
    }

    /// A value on one line, shortened.
    private static func shown(_ value: String, isCut: Bool = false) -> String {
        let words = value.split { $0 == "\n" || $0 == "\r\n" || $0 == "\t" || $0 == " " }.joined(separator: " ")
        let isLong = words.count > maxValueLength
        let line = PrintableText.line(isLong ? String(words.prefix(maxValueLength)) : words)
        return isLong || isCut ? line + "…" : line
    }
}
