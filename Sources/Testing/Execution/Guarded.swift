internal import Synchronization

/// Lets closures share a lock.
final class Guarded<Value: Sendable>: Sendable {
    private let lock: Mutex<Value>
    init(_ value: Value) { lock = Mutex(value) }
    var value: Value { lock.withLock { $0 } }
    func change(_ change: (inout Value) -> Void) { lock.withLock { change(&$0) } }
}
