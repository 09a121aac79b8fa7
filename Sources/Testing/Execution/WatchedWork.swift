internal import Dispatch
internal import Synchronization

/// Waits for work elsewhere, and gives up when a check says so.
final class WatchedWork: Sendable {
    /// Makes the error to throw. Called when the result of the work doesn't count any more.
    typealias GivingUp = @Sendable () -> any Error

    private let continuation: Mutex<CheckedContinuation<Void, any Error>?>
    private let interval: Duration
    private let check: @Sendable () -> GivingUp?

    /// - Parameters:
    ///   - interval: the time between two checks.
    ///   - check: returns how to give up, if the work must be given up.
    ///   - start: starts the work, which passes its result to the given function.
    static func run(
        every interval: Duration,
        check: @escaping @Sendable () -> GivingUp?,
        start: (_ end: @escaping @Sendable (Result<Void, any Error>) -> Void) -> Void
    ) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let work = WatchedWork(continuation, interval, check)
            start { work.takeContinuation()?.resume(with: $0) }
            work.watch()
        }
    }

    private init(
        _ continuation: CheckedContinuation<Void, any Error>,
        _ interval: Duration,
        _ check: @escaping @Sendable () -> GivingUp?
    ) {
        self.continuation = Mutex(continuation)
        self.interval = interval
        self.check = check
    }

    private func takeContinuation() -> CheckedContinuation<Void, any Error>? {
        continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
    }

    private func watch() {
        DispatchQueue.global().asyncAfter(deadline: .now() + interval / .seconds(1)) { [weak self] in
            guard let self, continuation.withLock({ $0 != nil }) else { return }
            guard let giveUp = check() else { return watch() }
            // Taken before the report, which may free blocked work and let it end with another error.
            guard let continuation = takeContinuation() else { return }
            continuation.resume(throwing: giveUp())
        }
    }
}

/// A state behind a lock, for whose changes tasks can wait.
final class Watched<State: Sendable>: Sendable {
    /// Returns how to resume a task if its condition holds.
    private typealias Test = @Sendable (State) -> (@Sendable () -> Void)?

    private struct Content {
        var state: State
        var watchers: [(id: Int, test: Test)] = []
        var lastID = 0

        mutating func takeDue() -> [@Sendable () -> Void] {
            guard !watchers.isEmpty else { return [] }
            let state = state
            let tested = watchers.map { ($0, $0.test(state)) }
            watchers = tested.compactMap { $1 == nil ? $0 : nil }
            return tested.compactMap(\.1)
        }
    }

    private let content: Mutex<Content>

    init(_ state: State) { content = Mutex(Content(state: state)) }

    func read<Value: Sendable>(_ read: (State) -> Value) -> Value { content.withLock { read($0.state) } }

    /// Changes the state under the lock. Outside the lock, calls `use` with the result, and then resumes the tasks whose conditions
    /// hold.
    @discardableResult
    func change<Value: Sendable>(_ change: (inout State) -> Value, then use: (Value) -> Void = { _ in }) -> Value {
        let (value, due) = content.withLock { content in (change(&content.state), content.takeDue()) }
        use(value)
        for resume in due { resume() }
        return value
    }

    /// Waits until the closure returns a value for the state, and returns it; `nil` if the task is cancelled before.
    @discardableResult
    func first<Value: Sendable>(_ find: @escaping @Sendable (State) -> Value?) async -> Value? {
        let waiter = Waiter<Value?>()
        let test: Test = { state in
            guard let value = find(state) else { return nil }
            return { waiter.resume(with: value) }
        }
        let id = content.withLock { content -> Int in
            content.lastID += 1
            if let resume = test(content.state) { resume() } else { content.watchers.append((content.lastID, test)) }
            return content.lastID
        }
        return await waiter.outcome { [self] _ in
            content.withLock { $0.watchers.removeAll { $0.id == id } }
            waiter.resume(with: nil)
        }
    }
}

/// Lets closures share a lock.
final class Guarded<Value: Sendable>: Sendable {
    private let lock: Mutex<Value>
    init(_ value: Value) { lock = Mutex(value) }
    var value: Value { lock.withLock { $0 } }
    func change(_ change: (inout Value) -> Void) { lock.withLock { change(&$0) } }
}
