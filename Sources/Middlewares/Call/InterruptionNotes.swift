internal import Synchronization

/// Collects facts that inner interceptors know about a call, in case the call is cut off before they can report them.
///
/// A response has a context to report facts in; a `CancellationError` has none. An interceptor that cancels the rest of the
/// chain puts notes into the request's context first, and copies them to the context of its error.
final class InterruptionNotes: Sendable {
    private let noted = Mutex(HTTPContext())

    /// The facts noted up to now.
    var context: HTTPContext { noted.withLock { $0 } }

    func change(_ change: (inout HTTPContext) -> Void) { noted.withLock { change(&$0) } }
}

extension HTTPContext {
    private enum NotesKey: HTTPContextKey { static var defaultValue: InterruptionNotes? { nil } }

    /// On a request: the notes that an outer interceptor will copy to its error if it interrupts the call.
    var interruptionNotes: InterruptionNotes? {
        get { self[NotesKey.self] }
        set { self[NotesKey.self] = newValue }
    }
}
