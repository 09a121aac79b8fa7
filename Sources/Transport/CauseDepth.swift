/// Limits the recursion from an error to its cause. A class may be its own cause, and a chain of causes may be long.
///
/// An error's description contains the description of its cause, which the author may have written. That function takes no
/// parameter, so a task-local value counts the levels.
package enum CauseDepth {
    /// The number of errors that are looked at, the first included.
    package static let limit = 16

    @TaskLocal private static var depth = 1

    /// Asks the cause of an error; `nil` beyond the limit.
    static func descend<Value>(_ ask: () -> Value) -> Value? {
        depth < limit ? $depth.withValue(depth + 1, operation: ask) : nil
    }
}
