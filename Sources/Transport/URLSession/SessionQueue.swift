internal import Foundation

/// Where calls of Foundation's wait that would otherwise hold up a task of Swift's.
///
/// Foundation on Linux has one queue for all sessions of a process, and waits for it when it makes, resumes or cancels a task:
/// for as long as a redirect with much content or a fast server keeps it busy.
enum SessionQueue {
    /// Makes tasks, one after another: more threads would only wait beside each other.
    static let launching = DispatchQueue(label: "Transport.SessionQueue.launching")
    /// Cancels tasks; not behind those that are to be made.
    static let cancelling = DispatchQueue(label: "Transport.SessionQueue.cancelling", qos: .userInitiated)
}
