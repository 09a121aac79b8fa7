#if os(Linux)
internal import CCurl
internal import Dispatch
internal import Foundation
internal import Synchronization

/// The thread that runs libcurl's multi interface for one transport, and the inbox through which others reach it.
///
/// It lives until ``stop()``; then every transfer is ended and nothing is left behind.
final class CurlLoop: Sendable {
    enum Command: Sendable {
        case start(CurlTransfer)
        case cancel(CurlTransfer)
        case unpause(CurlTransfer)
        case checkTime
    }

    private struct Inbox {
        var commands: [Command] = []
        var isStopped = false
        var state = LoopState.working
        /// Counts the callers that are about to wake the loop, and the loop's thread until it has ended.
        var users = 1
        var hasEnded = false
        var endWatchers: [CheckedContinuation<Void, Never>] = []

        /// How the loop must be called. Who calls it from the network counts as a user until it has done so.
        mutating func call() -> LoopState {
            defer { state = .working }
            if state == .waiting { users += 1 }
            return state
        }
    }

    private enum LoopState {
        /// It looks into the inbox before it waits, and need not be called.
        case working
        /// It waits for nothing but to be called, or is about to: half the work for both sides.
        case sleeping
        /// It waits for the network, or is about to.
        case waiting
    }

    /// `@unchecked Sendable`: the pointer is used by the loop's thread alone, but for `curl_multi_wakeup`, which libcurl
    /// allows from any thread, and which only those call who count among the inbox's users.
    private struct Multi: @unchecked Sendable { let pointer: UnsafeMutableRawPointer }

    let clock: LoopClock
    private let multi: Multi
    private let pool: EasyHandlePool
    /// The loop's thread alone uses them, and libcurl until the loop has ended.
    let sockets: OpenSockets
    private let inbox = Mutex(Inbox())
    private let alarmClock = DispatchSemaphore(value: 0)

    init(limits: CurlTransport.ConnectionLimits, clock: LoopClock, pool: EasyHandlePool, sockets: OpenSockets) throws {
        guard let pointer = ccurl_multi_init() else {
            throw TransportError(.other, "libcurl could not make a multi handle: out of memory.")
        }
        func set(_ option: ccurl_multi_option, _ value: Int) {
            _ = ccurl_multi_setopt_long(pointer, Int32(option.rawValue), value)
        }
        set(CCURLMOPT_MAX_HOST_CONNECTIONS, limits.perHost)
        set(CCURLMOPT_MAX_TOTAL_CONNECTIONS, limits.total)
        set(CCURLMOPT_MAXCONNECTS, limits.idle)
        self.multi = Multi(pointer: pointer)
        self.clock = clock
        self.pool = pool
        self.sockets = sockets
        // libcurl says nothing of a handle that can't be woken, and nobody of a thread that never began: calls would hang.
        guard ccurl_multi_wakeup(pointer) == 0, startThread() else {
            _ = ccurl_multi_cleanup(pointer)
            throw TransportError(.other, "CurlTransport needs two descriptors and a thread, and the system gave none.")
        }
    }

    /// Whether the system gave a thread. It holds the loop, and what the loop holds, until it has ended.
    private func startThread() -> Bool {
        let held = Unmanaged.passRetained(self)
        let code = ccurl_thread_start(1 << 20, runLoop, held.toOpaque())
        if code != 0 { held.release() }
        return code == 0
    }

    /// Hands a command to the loop. After ``stop()`` a start is answered with an error.
    func send(_ command: Command) {
        let state: LoopState? = inbox.withLock { inbox in
            guard !inbox.isStopped else { return nil }
            inbox.commands.append(command)
            return inbox.call()
        }
        if let state { return wake(from: state) }
        if case .start(let transfer) = command {
            transfer.finish(.failure(TransportError.shutDown))
            release(transfer)
        }
    }

    /// Ends every transfer, then the thread.
    func stop() {
        let state: LoopState = inbox.withLock { inbox in
            inbox.isStopped = true
            return inbox.call()
        }
        wake(from: state)
    }

    /// Ends the loop's wait. Not under the lock: the thread that it wakes needs that first, and would spin for it on the
    /// very core that the other holds.
    private func wake(from state: LoopState) {
        switch state {
        case .working: break
        case .sleeping: alarmClock.signal()
        case .waiting:
            _ = ccurl_multi_wakeup(multi.pointer)
            leave()
        }
    }

    /// One user less. The thread of a loop that has ended waits for the last one.
    private func leave() {
        let isLast = inbox.withLock { inbox in
            inbox.users -= 1
            return inbox.users == 0
        }
        if isLast { alarmClock.signal() }
    }

    /// Closes the multi handle, with all of its connections: on the loop's thread, which alone is safe from the signal of one
    /// that is broken, and only when nobody is about to wake it any longer.
    private func close() {
        let isUsed = inbox.withLock { inbox in
            inbox.users -= 1
            return inbox.users > 0
        }
        if isUsed { alarmClock.wait() }
        _ = ccurl_multi_cleanup(multi.pointer)
        let watchers = inbox.withLock { inbox in
            inbox.hasEnded = true
            defer { inbox.endWatchers = [] }
            return inbox.endWatchers
        }
        for watcher in watchers { watcher.resume() }
    }

    /// Returns when the thread has let go of everything.
    func ended() async {
        await withCheckedContinuation { continuation in
            let hasEnded = inbox.withLock { inbox in
                if !inbox.hasEnded { inbox.endWatchers.append(continuation) }
                return inbox.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }

    /// Gives back what a transfer has used, once libcurl no longer knows it.
    func release(_ transfer: CurlTransfer, isClean: Bool = false) {
        transfer.upload?.close()
        pool.give(transfer.easy, isClean: isClean)
    }

    fileprivate func run() {
        _ = ccurl_name_thread("Interceptors")
        Self.blockPipeSignal()
        var run = CurlLoopRun(multi: multi.pointer, loop: self)
        var commands: [Command] = []
        while true {
            // Both arrays are kept, each in turn the inbox.
            let isStopped = inbox.withLock { inbox in
                inbox.state = .working
                swap(&inbox.commands, &commands)
                return inbox.isStopped
            }
            for command in commands { run.handle(command) }
            commands.removeAll(keepingCapacity: true)
            if isStopped { break }
            run.turn()
            wait(run.isIdle ? .sleeping : .waiting, &run)
        }
        run.endAll()
        close()
    }

    /// Waits until there is something to do, unless there is already.
    private func wait(_ state: LoopState, _ run: inout CurlLoopRun) {
        let mayWait = inbox.withLock { inbox in
            guard inbox.commands.isEmpty, !inbox.isStopped else { return false }
            inbox.state = state
            return true
        }
        guard mayWait else { return }
        if state == .sleeping { alarmClock.wait() } else { run.waitForNetwork() }
        run.updateTime()
    }

    /// Writing to a connection that is gone is an error. libcurl is told to leave signals alone, and OpenSSL, in versions
    /// that give it the socket, writes so that the signal would end the process.
    private static func blockPipeSignal() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}

private let runLoop: ccurl_thread_body = { loop in
    if let loop { Unmanaged<CurlLoop>.fromOpaque(loop).takeRetainedValue().run() }
    return nil
}

/// A clock as the loop needs it: its time as a duration, and its sleep.
struct LoopClock: Sendable {
    let now: @Sendable () -> Duration
    let sleep: @Sendable (Duration) async throws -> Void
    /// Whether its time passes as that of the operating system's waits does.
    let isRealTime: Bool

    init(_ clock: any Clock<Duration>) {
        self.init(opening: clock)
    }

    private init<C: Clock<Duration>>(opening clock: C) {
        let start = clock.now
        now = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(for: $0) }
        isRealTime = clock is ContinuousClock
    }
}
#endif
