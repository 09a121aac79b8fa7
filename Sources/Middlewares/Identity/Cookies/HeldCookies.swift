internal import Foundation
internal import Synchronization

/// The cookies of a jar, apart from it, so that what persists them doesn't keep the jar itself alive.
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

    /// Changes what is held. Of changes that nobody has taken yet the first alone is announced, so that no queue of them grows
    /// where persisting takes longer than they do.
    ///
    /// - Parameter announce: called under the lock, so that whoever waits after a change waits for its announcement too.
    func change(_ body: (inout CookieStore) -> Void, announce: () -> Void) {
        state.withLock { state in
            let before = state.store.changes
            body(&state.store)
            guard state.store.changes != before, !state.isAnnounced else { return }
            state.isAnnounced = true
            announce()
        }
    }

    /// All cookies, with all changes up to now.
    func takeChanges(at date: Date) -> [Cookie] {
        state.withLock { state in
            state.isAnnounced = false
            return state.store.all(at: date)
        }
    }
}
