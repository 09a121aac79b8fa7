internal import Synchronization

/// Ends the `poll` of a thread from anywhere, also after the thread has closed it.
final class WakePipe: Sendable {
    /// What the thread polls.
    let reading: Int32
    // The writing end, `nil` once closed: a signal that comes late must not reach a descriptor that is another's by then.
    private let writing: Mutex<Int32?>

    init() throws {
        let ends = try Descriptors.pipe()
        reading = ends.reading
        writing = Mutex(ends.writing)
    }

    /// Makes `reading` readable.
    func signal() {
        writing.withLock { if let end = $0 { Descriptors.signal(end) } }
    }

    /// Makes `reading` unreadable until the next signal.
    func drain() { Descriptors.drain(reading) }

    /// Closes both ends. Only the thread that polls it, or one that has joined all who do.
    func close() {
        writing.withLock { end in
            guard let open = end else { return }
            end = nil
            Descriptors.close(open)
            Descriptors.close(reading)
        }
    }
}
