internal import Foundation
internal import Synchronization

/// The cookies of a jar behind a lock. The persisting task refers to this object instead of the jar, so that it doesn't keep
/// the jar alive.
final class HeldCookies: Sendable {
    private struct State {
        var store: CookieStore
        var isAnnounced = false
    }

    private let state: Mutex<State>

    init(_ store: CookieStore) { state = Mutex(State(store: store)) }

    var clearCount: Int { state.withLock { $0.store.clearCount } }

    func all(at date: Date) -> [Cookie] { state.withLock { $0.store.all(at: date) } }

    func cookies(for host: CookieHost, at date: Date) -> [Cookie] {
        state.withLock { $0.store.cookies(for: host, at: date) }
    }

    /// Changes the cookies and, if they differ, announces the change. Until ``takeChanges(at:)`` reads the changes, only the
    /// first is announced, so that the queue doesn't grow while persisting is slow.
    ///
    /// - Parameter announce: called under the lock, so that a caller who waits for persistence after a change also waits for
    ///   its announcement.
    func change(_ body: (inout CookieStore) -> Void, announce: () -> Void) {
        state.withLock { state in
            let before = state.store.changes
            body(&state.store)
            guard state.store.changes != before, !state.isAnnounced else { return }
            state.isAnnounced = true
            announce()
        }
    }

    /// Returns all cookies, including every change so far, and lets the next change be announced.
    func takeChanges(at date: Date) -> [Cookie] {
        state.withLock { state in
            state.isAnnounced = false
            return state.store.all(at: date)
        }
    }
}
