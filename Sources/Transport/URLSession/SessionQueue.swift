internal import Foundation

/// The queues for Foundation's calls that block, so that no Swift task blocks.
///
/// Foundation on Linux has one queue for all sessions of a process, and waits for it when it creates, resumes or cancels a
/// task. A redirect with much content, or a fast server, can keep that queue busy for a long time.
enum SessionQueue {
    /// Creates tasks, one after another. More threads would only wait side by side.
    static let launching = DispatchQueue(label: "Transport.SessionQueue.launching")
    /// Cancels tasks, without waiting behind the tasks to create.
    static let cancelling = DispatchQueue(label: "Transport.SessionQueue.cancelling", qos: .userInitiated)
}
