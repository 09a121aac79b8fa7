/// Tells the listeners of a journal which calls have changed.
final class JournalListeners: Sendable {
    func hasChanged(_ id: Int) {}
}
