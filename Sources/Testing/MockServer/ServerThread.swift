internal import Foundation

/// A thread of the server. A thread may block, which a task must not, and can be joined.
///
/// `@unchecked Sendable` because `pthread_t` is a pointer on Darwin. The pointer only names the thread. Only the caller that
/// removes the value from the server's state joins the thread.
struct ServerThread: @unchecked Sendable {
    private let handle: pthread_t

    private final class Work {
        let name: String
        let run: () -> Void

        init(_ name: String, _ run: @escaping () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// Starts a thread. Returns `nil` if the system has none left.
    ///
    /// - Parameter name: the name shown in a debugger. Linux keeps its first 15 bytes.
    init?(named name: String, _ run: @escaping @Sendable () -> Void) {
        let work = Unmanaged.passRetained(Work(name, run))
        let started = Self.started {
            pthread_create($0, nil, { argument in ServerThread.run(argument) }, work.toOpaque())
        }
        guard let started else {
            work.release()
            return nil
        }
        handle = started
    }

    /// Waits until the thread has ended. Call it once. On the thread itself, it detaches instead.
    func join() {
        if pthread_equal(handle, pthread_self()) != 0 {
            pthread_detach(handle)
        } else {
            pthread_join(handle, nil)
        }
    }

    // The handle's type is inferred, because pthread_create fills an optional on Darwin and a non-optional elsewhere.
    private static func started<Handle>(_ create: (UnsafeMutablePointer<Handle>) -> Int32) -> pthread_t? {
        let handle = UnsafeMutablePointer<Handle>.allocate(capacity: 1)
        defer { handle.deallocate() }
        return create(handle) == 0 ? handle.pointee as? pthread_t : nil
    }

    private static func run(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let argument else { return nil }
        let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
        Thread.current.name = work.name
        work.run()
        return nil
    }
}
