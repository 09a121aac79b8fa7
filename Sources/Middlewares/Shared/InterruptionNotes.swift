internal import Synchronization

/// What interceptors inside have to say about a call that is cut off before they could say it themselves.
///
/// An answer has a context; a cancellation has none. Whoever cancels the rest of the chain for a reason of its own puts notes
/// into the request's context, and hands what was noted on with its error.
final class InterruptionNotes: Sendable {
    private let noted = Mutex(HTTPContext())

    /// What was noted.
    var context: HTTPContext { noted.withLock { $0 } }

    func change(_ change: (inout HTTPContext) -> Void) { noted.withLock { change(&$0) } }
}

extension HTTPContext {
    private enum NotesKey: HTTPContextKey { static var defaultValue: InterruptionNotes? { nil } }

    /// On a request: where to note what the error of an interrupted call should say.
    var interruptionNotes: InterruptionNotes? {
        get { self[NotesKey.self] }
        set { self[NotesKey.self] = newValue }
    }
}
