internal import Foundation
internal import Synchronization

/// Runs blocking jobs one after another, on a thread that does nothing else.
///
/// On a dispatch queue, each blocking job would occupy a thread of the pool, of which a process has a few dozen. The thread
/// ends with the last job once nothing refers to this object.
final class BlockingThread: Sendable {
    private final class Jobs: Sendable {
        let waiting = Mutex<[@Sendable () -> Void]>([])
        // Signalled once for each job, and once more at the end.
        let signal = DispatchSemaphore(value: 0)

        func run() {
            while true {
                signal.wait()
                guard let job = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return }
                job()
            }
        }
    }

    private let jobs = Jobs()

    init(name: String) {
        let thread = Thread { [jobs] in jobs.run() }
        thread.name = name
        thread.start()
    }

    deinit { jobs.signal.signal() }

    /// Runs a job after those that were added before.
    func run(_ job: @escaping @Sendable () -> Void) {
        jobs.waiting.withLock { $0.append(job) }
        jobs.signal.signal()
    }
}
