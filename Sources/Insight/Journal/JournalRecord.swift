internal import Foundation
internal import Interceptors
internal import Synchronization

/// One call of a journal, while it runs and afterwards.
final class JournalRecord: Sendable {
    /// About what a record takes beside its events.
    static let overhead = 160

    let id: Int
    let startedAt: Date
    let parentID: Int?
    /// The journal's time at which the call began, in nanoseconds.
    private let start: Int64
    private let events: Mutex<JournalEvents>

    init(id: Int, startedAt: Date, parentID: Int?, start: Int64, limit: Int) {
        self.id = id
        self.startedAt = startedAt
        self.parentID = parentID
        self.start = start
        events = Mutex(JournalEvents(limit: limit))
    }

    var contents: JournalEvents { events.withLock { $0 } }

    /// Records a step's begin. Returns its location and by how much the events grew.
    func begin(
        inside parent: JournalEvents.Location?,
        isTransport: Bool,
        at time: Int64,
        write: (inout JournalBytes) -> Int
    ) -> (location: JournalEvents.Location, growth: Int) {
        events.withLock { events in
            let size = events.size
            let location = events.begin(inside: parent, isTransport: isTransport, at: time - start, write: write)
            return (location, events.size - size)
        }
    }

    /// Records an event of a step and returns by how much the events grew.
    func record(
        _ tag: JournalEvents.Tag,
        of location: JournalEvents.Location,
        at time: Int64,
        write: (_ bytes: inout JournalBytes, _ isBrief: Bool) -> Int
    ) -> Int {
        events.withLock { events in
            let size = events.size
            events.record(tag, of: location, at: time - start, write: write)
            return events.size - size
        }
    }

    /// Forgets the events, and ignores further ones. Returns the size that is no longer taken.
    func drop() -> Int {
        events.withLock { events in
            let size = events.size
            events.drop()
            return size - events.size
        }
    }
}
