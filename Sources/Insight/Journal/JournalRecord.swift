internal import Foundation
internal import Synchronization

/// One call of a journal, while it runs and afterwards.
final class JournalRecord: Sendable {
    /// About what a record takes beside its steps.
    static let overhead = 320

    let id: Int
    let startedAt: Date
    let parentID: Int?
    /// The journal's time at which the call began.
    let start: Duration
    private let steps: Mutex<JournalSteps>

    init(id: Int, startedAt: Date, parentID: Int?, start: Duration, limit: Int) {
        self.id = id
        self.startedAt = startedAt
        self.parentID = parentID
        self.start = start
        steps = Mutex(JournalSteps(limit: limit))
    }

    /// The call in its present state.
    var call: JournalCall {
        let steps = steps.withLock { $0 }
        return JournalCall(
            id: id,
            startedAt: startedAt,
            parentID: parentID,
            root: JournalTree(steps).root,
            omittedCount: steps.omittedCount
        )
    }

    /// Changes the steps. Returns the change's result, and by how much the steps grew.
    func change<Result: Sendable>(_ change: (inout JournalSteps) -> Result) -> (result: Result, growth: Int) {
        steps.withLock { steps in
            let size = steps.size
            let result = change(&steps)
            return (result, steps.size - size)
        }
    }
}

/// Puts the steps of a call below each other.
private struct JournalTree {
    private typealias Location = JournalSteps.Location

    private var inner: [Location: [(location: Location, step: JournalStep)]] = [:]
    /// The events of each step, with the location of the step that could have begun next.
    private var events: [Location: [(next: Location, event: JournalEvent)]] = [:]
    /// The outermost step.
    private(set) var root: JournalCall.Step?

    init(_ steps: JournalSteps) {
        for part in steps.parts {
            for (index, step) in part.steps.enumerated() {
                guard let parent = step.parent else { continue }
                inner[parent, default: []].append((Location(part: part.number, index: index), step))
            }
            for entry in part.entries {
                let next = Location(part: part.number, index: entry.stepCount)
                events[entry.step, default: []].append((next, entry.event))
            }
        }
        root = steps.parts.first?.steps.first.map { step($0, at: Location(part: 0, index: 0)) }
    }

    // Recursion is safe: the journal doesn't record steps deeper than `JournalVisit.maxDepth`.
    private func step(_ step: JournalStep, at location: Location) -> JournalCall.Step {
        let inner = inner[location] ?? []
        var shown = JournalCall.Step(
            name: step.name.text,
            // A transport that runs a chain with the same journal sends nothing itself.
            isTransport: step.name.isTransport && inner.isEmpty,
            start: step.start,
            request: step.request.value
        )
        shown.duration = step.duration
        shown.steps = inner.map { self.step($0.step, at: $0.location) }
        switch step.outcome {
        case .response(let message, let source):
            shown.response = message.value
            // Only the transport's step records the size of a stream, when the stream has been read.
            if message.value.body.isStream, let index = inner.firstIndex(where: { $0.location == source }),
                let body = shown.steps[index].response?.body
            {
                shown.response?.body.size = body.size
            }
        case .failure(let error): shown.error = error
        case nil: break
        }
        for (next, event) in events[location] ?? [] {
            shown.add(event, after: inner.count { $0.location < next })
        }
        return shown
    }
}

extension JournalCall.Step {
    fileprivate mutating func add(_ event: JournalEvent, after stepCount: Int) {
        switch event {
        case .noted(let note):
            notes.append(note)
            noteIndices.append(stepCount)
        case .timed(let timings): if isTransport { self.timings = timings }
        case .connected(let connection):
            guard isTransport else { return }
            (remoteAddress, remotePort) = (connection.remoteAddress, connection.remotePort)
            httpVersion = connection.httpVersion?.rawValue
        case .bodyEnded(let size): if response?.body.isStream == true { response?.body.size = size }
        }
    }
}
