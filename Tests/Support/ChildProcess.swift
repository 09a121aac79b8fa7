#if os(Linux) || os(macOS)
internal import Foundation
internal import Synchronization

/// Another program that runs beside the tests.
///
/// It replaces Foundation's `Process`, whose start on Linux has read memory out of bounds with a thousand open
/// descriptors. The program gets three descriptors, and no signal is blocked in it. A separate thread waits for its
/// end, because tasks need theirs.
public final class ChildProcess: Sendable {
    /// How a program ended.
    public enum Ending: Sendable, Equatable {
        /// The program exited with this status.
        case exit(Int32)
        /// This signal ended the program.
        case signal(Int32)
    }

    /// The program could not be started.
    public struct StartFailure: Error, CustomStringConvertible {
        /// The program's path, and the cause.
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
    ///   - environment: the program's whole environment; by default that of this process.
    ///   - descriptors: standard input, output and error of the program; the caller closes them.
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

    /// Whether the program has ended.
    public var hasEnded: Bool { state.withLock { $0.ending != nil } }

    /// Waits until the program has ended.
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

    /// Sends a signal to the program, unless it has ended.
    public func send(signal: Int32) {
        // The lock keeps `reap()` from freeing the process ID, which the system could then give to another process.
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
        // The copies have numbers above 2, so that no `dup2` overwrites a descriptor that is still to be copied.
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
        // Swift's overlay of glibc doesn't declare this function.
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
