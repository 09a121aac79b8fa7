internal import Synchronization

/// The number of a call. A call that begins later has a greater number.
package struct CallNumber: Sendable, Hashable, Comparable {
    private static let last = Atomic(0)

    private let value: Int

    /// The number of a call that begins now.
    package static func next() -> Self { Self(value: last.add(1, ordering: .relaxed).newValue) }

    package static func < (left: Self, right: Self) -> Bool { left.value < right.value }
}
