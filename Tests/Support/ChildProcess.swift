#if os(Linux) || os(macOS)
internal import Foundation
internal import Synchronization

/// Another program that runs beside the tests.
///
/// Not Foundation's `Process`: on Linux its start has read memory that was not its own, with a thousand descriptors open.
/// The program gets three descriptors and no other, no signal is blocked in it, and nobody waits for its end on a thread
/// that tasks need.
public final class ChildProcess: Sendable {
    /// How a program ended.
    public enum Ending: Sendable, Equatable {
        /// By itself, with a status.
        case exit(Int32)
        /// By a signal.
        case signal(Int32)
    }

    /// The program could not be started.
    public struct StartFailure: Error, CustomStringConvertible {
        /// Which one, and why.
        public let description: String
    }

    private struct State {
        var ending: Ending?
        var waiters: [CheckedContinuation<Ending, Never>] = []
    }

    private let id: pid_t
    private let state = Mutex(State())

    /// Starts the program at a path.
    ///
    /// - Parameters:
    ///   - environment: all of its environment; that of this process unless given.
    ///   - descriptors: its standard input, output and error; none of them is closed here.
    public init(
        _ path: String,
        _ arguments: [String] = [],
        environment: [String: String]? = nil,
        descriptors: [Int32] = [0, 1, 2]
    ) throws {
        id = try Self.spawn(path, arguments, environment ?? ProcessInfo.processInfo.environment, descriptors)
        let thread = Thread { [self] in reap() }
        thread.stackSize = 1 << 18
        thread.start()
    }

    /// Whether it has ended.
    public var hasEnded: Bool { state.withLock { $0.ending != nil } }

    /// Waits until it has ended.
    @discardableResult
    public func ended() async -> Ending {
        await withCheckedContinuation { continuation in
            let ending = state.withLock { state in
                if state.ending == nil { state.waiters.append(continuation) }
                return state.ending
            }
            if let ending { continuation.resume(returning: ending) }
        }
    }

    /// Sends it a signal, unless it has ended.
    public func send(signal: Int32) {
        // Under the lock its number can't have become that of another process.
        state.withLock { state in
            if state.ending == nil { _ = kill(id, signal) }
        }
    }

    private func reap() {
        var information = siginfo_t()
        while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
        let (ending, waiters) = state.withLock { state in
            var status: Int32 = 0
            while waitpid(id, &status, 0) < 0 && errno == EINTR {}
            let signal = status & 0x7F
            let ending = signal == 0 ? Ending.exit(status >> 8 & 0xFF) : .signal(signal)
            state.ending = ending
            defer { state.waiters = [] }
            return (ending, state.waiters)
        }
        for waiter in waiters { waiter.resume(returning: ending) }
    }

    private static func spawn(
        _ path: String,
        _ arguments: [String],
        _ environment: [String: String],
        _ descriptors: [Int32]
    ) throws -> pid_t {
        #if os(Linux)
        var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
        #else
        var (actions, attributes): (posix_spawn_file_actions_t?, posix_spawnattr_t?)
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        // By way of numbers beyond the three, so that none is overwritten before it has been copied.
        let copies = try descriptors.map { descriptor in
            let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
            guard copy >= 0 else {
                throw StartFailure(description: "\(path): descriptor \(descriptor): errno \(errno)")
            }
            return copy
        }
        defer { for copy in copies { close(copy) } }
        for (number, copy) in copies.enumerated() { posix_spawn_file_actions_adddup2(&actions, copy, Int32(number)) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        #if os(Linux)
        // Not among what Swift sees of glibc.
        typealias CloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
        guard let closeFrom = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else {
            throw StartFailure(description: "\(path): glibc 2.34 or later is needed")
        }
        _ = unsafeBitCast(closeFrom, to: CloseFrom.self)(&actions, 3)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        #else
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_CLOEXEC_DEFAULT))
        #endif
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var id: pid_t = 0
        let result = posix_spawn(&id, path, &actions, &attributes, &words, &variables)
        guard result == 0 else { throw StartFailure(description: "\(path): errno \(result)") }
        return id
    }
}
#endif
