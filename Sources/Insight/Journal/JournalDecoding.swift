internal import Foundation
internal import Interceptors

extension JournalCall {
    init(_ record: JournalRecord, _ events: JournalEvents, names: [String], values: [String]) {
        var decoding = JournalDecoding(names: names, values: values)
        decoding.read(events.head)
        for segment in events.tail { decoding.read(segment) }
        self.init(
            id: record.id,
            startedAt: record.startedAt,
            parentID: record.parentID,
            root: decoding.root(),
            omittedCount: events.omittedCount
        )
    }
}

/// Makes a call's steps from its events.
private struct JournalDecoding {
    private struct Node {
        var step: JournalCall.Step
        let start: Int64
        let parent: Int
        var children: [Int] = []
        /// The inner step whose response was the source of this step's response, and whether it has the same body.
        var source: Int?
        var keepsBody = false
    }

    private let names: [String]
    private let values: [String]
    private var nodes: [Int: Node] = [:]
    private var bodySizes: [(step: Int, size: Int64)] = []

    init(names: [String], values: [String]) {
        self.names = names
        self.values = values
    }

    mutating func root() -> JournalCall.Step? {
        for (step, size) in bodySizes { setBodySize(size, of: step) }
        bodySizes = []
        return nodes[1] == nil ? nil : step(1)
    }

    // Recursion is safe: the journal doesn't record steps deeper than `JournalVisit.maxDepth`.
    private func step(_ number: Int) -> JournalCall.Step? {
        guard let node = nodes[number] else { return nil }
        var step = node.step
        step.steps = node.children.compactMap(self.step)
        if !step.isTransport {
            (step.timings, step.httpVersion, step.remoteAddress, step.remotePort) = (nil, nil, nil, nil)
        }
        return step
    }

    /// Sets the size of a stream that was read, in the responses of all steps that passed it on.
    private mutating func setBodySize(_ size: Int64, of number: Int) {
        var number = number
        while nodes[number]?.step.response?.body.isStream == true {
            nodes[number]?.step.response?.body.size = size
            guard let parent = nodes[number]?.parent, nodes[parent]?.source == number, nodes[parent]?.keepsBody == true
            else { return }
            number = parent
        }
    }

    mutating func read(_ segment: JournalEvents.Segment) {
        var reader = JournalReader(segment.bytes.bytes)
        var time: Int64 = 0
        while !reader.isAtEnd {
            guard let tag = JournalEvents.Tag(rawValue: reader.byte()) else { return }
            let number = reader.int()
            time += reader.signed()
            switch tag {
            case .began: readBegin(number, isTransport: false, at: time, &reader)
            case .transportBegan: readBegin(number, isTransport: true, at: time, &reader)
            case .responded: readResponse(of: number, at: time, &reader)
            case .failed: readFailure(of: number, at: time, &reader)
            case .noted: readNote(of: number, &reader)
            case .timed: readTimings(of: number, &reader)
            case .connected: readConnection(of: number, &reader)
            case .bodyEnded: bodySizes.append((number, Int64(truncatingIfNeeded: reader.number())))
            }
        }
    }

    // MARK: Events

    private mutating func readBegin(_ number: Int, isTransport: Bool, at time: Int64, _ reader: inout JournalReader) {
        let parent = reader.int()
        let name = reader.name(in: names)
        var request = nodes[parent]?.step.request ?? JournalCall.Message()
        let parts = JournalWriter.Parts(rawValue: reader.byte())
        if parts.contains(.start) { request.method = reader.name(in: names) }
        if parts.contains(.url) { request.url = reader.text() }
        if parts.contains(.fields) { request.fields = readFields(after: request.fields, &reader) }
        if parts.contains(.body) { request.body = readBody(after: request.body, &reader) }
        let step = JournalCall.Step(name: name, isTransport: isTransport, start: .nanoseconds(time), request: request)
        nodes[number] = Node(step: step, start: time, parent: parent)
        nodes[parent]?.children.append(number)
        // A transport that runs a chain with the same journal sends nothing itself.
        nodes[parent]?.step.isTransport = false
    }

    private mutating func readResponse(of number: Int, at time: Int64, _ reader: inout JournalReader) {
        let source = reader.int()
        var response = nodes[source]?.step.response ?? JournalCall.Message()
        let parts = JournalWriter.Parts(rawValue: reader.byte())
        if parts.contains(.start) { response.status = reader.int() }
        if parts.contains(.requestURL) { response.url = nodes[number]?.step.request.url }
        if parts.contains(.url) {
            let url = reader.text()
            response.url = url.isEmpty ? nil : url
        }
        if parts.contains(.fields) { response.fields = readFields(after: response.fields, &reader) }
        if parts.contains(.body) { response.body = readBody(after: response.body, &reader) }
        if parts.contains(.isCut) {
            response.isCut = true
            response.body.size = nil
        }
        end(number, at: time)
        nodes[number]?.step.response = response
        nodes[number]?.source = source
        nodes[number]?.keepsBody = !parts.contains(.body)
    }

    private mutating func readFailure(of number: Int, at time: Int64, _ reader: inout JournalReader) {
        let source = reader.int()
        end(number, at: time)
        if source > 0 {
            let error = nodes[source]?.step.error
            nodes[number]?.step.error = error
            return
        }
        let isCancellation = reader.byte() == 1
        let type = reader.name(in: names)
        let code = reader.text()
        nodes[number]?.step.error = JournalCall.Failure(
            type: type,
            code: code.isEmpty ? nil : code,
            message: reader.text(),
            isCancellation: isCancellation
        )
    }

    private mutating func readNote(of number: Int, _ reader: inout JournalReader) {
        let decision = reader.name(in: names)
        let callID = reader.int()
        let note = CallNote(decision, reader.name(in: values), callID: callID == 0 ? nil : callID)
        nodes[number]?.step.notes.append(note)
        let stepCount = nodes[number]?.children.count ?? 0
        nodes[number]?.step.noteIndices.append(stepCount)
    }

    private mutating func readTimings(of number: Int, _ reader: inout JournalReader) {
        let times = (0..<5).map { _ in Duration.nanoseconds(reader.signed()) }
        nodes[number]?.step.timings = JournalCall.Timings(
            nameLookup: times[0],
            connect: times[1],
            tls: times[2],
            firstByte: times[3],
            total: times[4],
            reusedConnection: reader.byte() == 1
        )
    }

    private mutating func readConnection(of number: Int, _ reader: inout JournalReader) {
        let (version, address, port) = (reader.name(in: names), reader.text(), reader.int())
        nodes[number]?.step.httpVersion = version.isEmpty ? nil : version
        nodes[number]?.step.remoteAddress = address.isEmpty ? nil : address
        nodes[number]?.step.remotePort = port == 0 ? nil : port
    }

    private mutating func end(_ number: Int, at time: Int64) {
        guard let start = nodes[number]?.start else { return }
        nodes[number]?.step.duration = .nanoseconds(max(0, time - start))
    }

    // MARK: Parts of a message

    private func readFields(
        after previous: [JournalCall.Field],
        _ reader: inout JournalReader
    ) -> [JournalCall.Field] {
        let (first, last, count) = (reader.int(), reader.int(), reader.int())
        var fields = Array(previous.prefix(max(0, first)))
        for _ in 0..<max(0, count) {
            let name = reader.name(in: names)
            var field = JournalCall.Field(name: name, value: reader.name(in: values))
            field.revision = previous.last { $0.name == field.name && $0.value == field.value }?.revision ?? 0
            fields.append(field)
        }
        for _ in 0..<max(0, reader.int()) {
            let index = first + reader.int()
            if fields.indices.contains(index) { fields[index].revision += 1 }
        }
        return fields + previous.suffix(max(0, last))
    }

    private func readBody(after previous: JournalCall.Body, _ reader: inout JournalReader) -> JournalCall.Body {
        let parts = JournalWriter.BodyParts(rawValue: reader.byte())
        let size = parts.contains(.size) ? Int64(truncatingIfNeeded: reader.number()) : nil
        let text = parts.contains(.text) ? reader.text() : nil
        var body = JournalCall.Body(
            isStream: parts.contains(.stream),
            size: size,
            text: text,
            isCut: parts.contains(.isCut)
        )
        body.revision = previous.revision
        guard body == previous, !body.isStream else {
            body.revision = 0
            return body
        }
        if parts.contains(.isChanged) { body.revision += 1 }
        return body
    }
}
