internal import Synchronization

/// A value shared by the tasks of a test.
public final class Shared<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    /// Creates a box with its first value.
    public init(_ value: Value) { mutex = Mutex(value) }

    /// The value.
    public var value: Value {
        get { mutex.withLock { $0 } }
        set { mutex.withLock { $0 = newValue } }
    }

    /// Changes the value in one step.
    public func change(_ body: (inout Value) -> Void) { mutex.withLock { body(&$0) } }
}

/// Values in the order in which they were added.
public final class Notes<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])

    /// Creates an empty list.
    public init() {}

    /// Adds a value at the end.
    public func add(_ value: Value) { values.withLock { $0.append(value) } }

    /// The values so far.
    public var all: [Value] { values.withLock(\.self) }
}
