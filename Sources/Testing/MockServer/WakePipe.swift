internal import Synchronization

/// Wakes a thread from `poll`. Any thread may signal, even after the polling thread has closed the pipe.
final class WakePipe: Sendable {
    /// The descriptor to poll.
    let reading: Int32
    // The writing end, or `nil` once closed. The lock keeps a late signal from reaching a descriptor that the system has
    // reused.
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

    /// Closes both ends. Call it only from the polling thread, or after joining all polling threads.
    func close() {
        writing.withLock { end in
            guard let open = end else { return }
            end = nil
            Descriptors.close(open)
            Descriptors.close(reading)
        }
    }
}
