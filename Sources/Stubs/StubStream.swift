internal import Foundation

/// Reports the progress of a body.
struct StubProgress: Sendable {
    private let report: (@Sendable (TransferProgress) -> Void)?
    private let total: Int64?
    private var completed: Int64 = 0

    init(_ report: (@Sendable (TransferProgress) -> Void)?, total: Int64?) {
        self.report = report
        self.total = total
    }

    mutating func add(_ count: Int) {
        completed += Int64(count)
        if count > 0 { report?(TransferProgress(completed: completed, total: total)) }
    }
}
