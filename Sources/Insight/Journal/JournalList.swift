public import Observation

/// The calls of a ``Journal`` for a view, newest first.
///
/// ```swift
/// let list = JournalList()                        // in a SwiftUI view: @State private var list = JournalList()
/// await list.follow(journal)                      // in its body: .task { await list.follow(journal) }
/// ```
/// The body then shows ``calls``, and is drawn again when they change.
@MainActor @Observable
public final class JournalList {
    /// The calls that the journal keeps, newest first.
    public private(set) var calls: [JournalCall] = []

    /// Creates an empty list.
    public nonisolated init() {}

    /// Shows a journal's calls, and keeps them up to date until the task is cancelled.
    public func follow(_ journal: Journal) async {
        calls = []
        for await call in journal.updates {
            let oldest = journal.oldestID
            while let last = calls.last, last.id < oldest { calls.removeLast() }
            guard call.id >= oldest else { continue }
            let index = calls.firstIndex { $0.id <= call.id } ?? calls.endIndex
            if index < calls.endIndex, calls[index].id == call.id {
                calls[index] = call
            } else {
                calls.insert(call, at: index)
            }
        }
    }
}
