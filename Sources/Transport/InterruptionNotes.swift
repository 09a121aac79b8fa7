internal import Synchronization

/// Collects facts that inner interceptors know about a call, in case the call is cut off before they can report them.
///
/// A response has a context to report facts in; a `CancellationError` has none. An interceptor that cancels the rest of the
/// chain puts notes into the request's context first, and copies them to the context of its error.
package final class InterruptionNotes: Sendable {
    private enum Sending {
        case unknown, inLine, begun
    }

    private let noted = Mutex((context: HTTPContext(), sending: Sending.unknown))

    package init() {}

    /// The facts noted up to now.
    package var context: HTTPContext { noted.withLock { $0.context } }

    package func change(_ change: (inout HTTPContext) -> Void) { noted.withLock { change(&$0.context) } }

    /// Whether the call waits in the transport's line for its first connection, so that nothing of it was sent.
    package var isInLine: Bool { noted.withLock { $0.sending == .inLine } }

    /// Records that a request of the call waits in the transport's line, unless one of the call's requests was sent.
    package func waitInLine() { noted.withLock { if $0.sending == .unknown { $0.sending = .inLine } } }

    /// Records that a request of the call may be sent from now on.
    package func beginSending() { noted.withLock { $0.sending = .begun } }
}

extension HTTPContext {
    private enum NotesKey: HTTPContextKey { static var defaultValue: InterruptionNotes? { nil } }

    /// On a request: the notes that an outer interceptor will copy to its error if it interrupts the call.
    package var interruptionNotes: InterruptionNotes? {
        get { self[NotesKey.self] }
        set { self[NotesKey.self] = newValue }
    }
}
