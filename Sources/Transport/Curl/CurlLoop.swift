#if os(Linux)
internal import CInterceptorsCurl
internal import Dispatch
internal import Foundation
internal import Synchronization

/// Runs libcurl's multi interface for one transport on one thread, and passes commands to that thread.
///
/// ```
/// callers' tasks ── send(_:), stop() ──▶ inbox (mutex) ──▶ loop's thread ──▶ libcurl
///       ▲                                                      │  ▲             │
///       └── continuation, CurlDownload, CurlUpload (mutexes) ◀─┘  └─ callbacks ─┘
/// ```
/// Owners:
/// - The loop's thread alone uses the multi handle, the easy handles of active transfers, ``CurlLoopState``, and
///   ``OpenSockets``. libcurl runs its callbacks on this thread too. The only call from other threads is `curl_multi_wakeup`.
/// - Any thread may use the inbox, under its mutex. A command never blocks its caller.
/// - `idleSemaphore` wakes the thread when it has no transfer to wait for, and at the end when the last waker has left.
///
/// Lifetime: the thread retains the loop. After ``stop()``, the thread ends every transfer, waits until no caller is inside
/// `curl_multi_wakeup`, and then frees the multi handle with its connections.
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
        var phase = Phase.working
        /// Counts the callers that are about to wake the loop, plus the loop's thread until it has ended. While it isn't 0,
        /// the multi handle must not be freed.
        var users = 1
        var hasEnded = false
        var endWatchers: [CheckedContinuation<Void, Never>] = []

        /// How to wake the loop. A caller that must use `curl_multi_wakeup` counts as a user until it has called ``leave()``.
        mutating func call() -> Phase {
            defer { phase = .working }
            if phase == .waiting { users += 1 }
            return phase
        }
    }

    private enum Phase {
        /// The loop reads the inbox before it waits, so no wake-up is needed.
        case working
        /// The loop waits for a command only, or is about to. A semaphore costs both sides half as much as the network's
        /// wake-up.
        case sleeping
        /// The loop waits for the network, or is about to.
        case waiting
    }

    /// `@unchecked Sendable`: only the loop's thread uses the pointer. `curl_multi_wakeup` is the exception: libcurl allows
    /// it from any thread, and only callers counted in the inbox's `users` call it.
    private struct Multi: @unchecked Sendable { let pointer: UnsafeMutableRawPointer }

    let clock: Stopwatch
    let limits: CurlTransport.ConnectionLimits
    private let multi: Multi
    let pool: EasyHandlePool
    /// Used by the loop's thread, and by libcurl's callbacks on that thread, until the loop has ended.
    let sockets: OpenSockets
    private let inbox = Mutex(Inbox())
    private let idleSemaphore = DispatchSemaphore(value: 0)

    init(limits: CurlTransport.ConnectionLimits, clock: Stopwatch, pool: EasyHandlePool, sockets: OpenSockets) throws {
        guard let pointer = ccurl_multi_init() else {
            throw TransportError(.transportFailed, "libcurl could not make a multi handle: out of memory.")
        }
        func set(_ option: ccurl_multi_option, _ value: Int) {
            _ = ccurl_multi_setopt_long(pointer, Int32(option.rawValue), value)
        }
        set(CCURLMOPT_MAX_HOST_CONNECTIONS, limits.perHost)
        set(CCURLMOPT_MAX_TOTAL_CONNECTIONS, limits.total)
        set(CCURLMOPT_MAXCONNECTS, limits.idle)
        self.multi = Multi(pointer: pointer)
        self.clock = clock
        self.limits = limits
        self.pool = pool
        self.sockets = sockets
        // Without these checks calls would hang: libcurl doesn't report a handle that it can't wake, and a thread that never
        // started can't either.
        guard ccurl_multi_wakeup(pointer) == 0, startThread() else {
            _ = ccurl_multi_cleanup(pointer)
            throw TransportError(
                .transportFailed,
                "CurlTransport needs two descriptors and a thread, and the system gave none."
            )
        }
    }

    /// Starts the thread, which retains the loop until it has ended. Returns `false` if the system provides no thread.
    private func startThread() -> Bool {
        let held = Unmanaged.passRetained(self)
        let code = ccurl_thread_start(1 << 20, runLoop, held.toOpaque())
        if code != 0 { held.release() }
        return code == 0
    }

    /// Passes a command to the loop's thread. After ``stop()``, a `start` command finishes its transfer with an error.
    func send(_ command: Command) {
        let phase: Phase? = inbox.withLock { inbox in
            guard !inbox.isStopped else { return nil }
            inbox.commands.append(command)
            return inbox.call()
        }
        if let phase { return wake(from: phase) }
        if case .start(let transfer) = command {
            transfer.finish(.failure(transfer.precise(TransportError.shutDown)))
            release(transfer)
        }
    }

    /// Makes the thread end every transfer and then itself. Returns at once; see ``ended()``.
    func stop() {
        let phase: Phase = inbox.withLock { inbox in
            inbox.isStopped = true
            return inbox.call()
        }
        wake(from: phase)
    }

    /// Wakes the loop's thread. Call it without the lock: the thread needs the lock first, and would otherwise spin for it.
    private func wake(from phase: Phase) {
        switch phase {
        case .working: break
        case .sleeping: idleSemaphore.signal()
        case .waiting:
            _ = ccurl_multi_wakeup(multi.pointer)
            leave()
        }
    }

    /// Ends one use of the multi handle. ``close()`` waits for the last one.
    private func leave() {
        let isLast = inbox.withLock { inbox in
            inbox.users -= 1
            return inbox.users == 0
        }
        if isLast { idleSemaphore.signal() }
    }

    /// Frees the multi handle and its connections, once no caller is inside `curl_multi_wakeup`. Runs on the loop's thread,
    /// because only there is SIGPIPE from a broken connection blocked.
    private func close() {
        let isUsed = inbox.withLock { inbox in
            inbox.users -= 1
            return inbox.users > 0
        }
        if isUsed { idleSemaphore.wait() }
        _ = ccurl_multi_cleanup(multi.pointer)
        let watchers = inbox.withLock { inbox in
            inbox.hasEnded = true
            defer { inbox.endWatchers = [] }
            return inbox.endWatchers
        }
        for watcher in watchers { watcher.resume() }
    }

    /// Returns when the thread has released everything.
    func ended() async {
        await withCheckedContinuation { continuation in
            let hasEnded = inbox.withLock { inbox in
                if !inbox.hasEnded { inbox.endWatchers.append(continuation) }
                return inbox.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }

    /// Returns a transfer's handle to the pool. Call it once libcurl no longer refers to the transfer.
    func release(_ transfer: CurlTransfer, isClean: Bool = false) {
        transfer.upload?.close()
        pool.give(transfer.easy, isClean: isClean)
    }

    fileprivate func run() {
        _ = ccurl_name_thread("Interceptors")
        Self.blockPipeSignal()
        var state = CurlLoopState(multi: multi.pointer, loop: self)
        var commands: [Command] = []
        while true {
            // The two arrays take turns as the inbox, so that both keep their memory.
            let isStopped = inbox.withLock { inbox in
                inbox.phase = .working
                swap(&inbox.commands, &commands)
                return inbox.isStopped
            }
            for command in commands { state.handle(command) }
            commands.removeAll(keepingCapacity: true)
            if isStopped { break }
            state.iterate()
            wait(state.isIdle ? .sleeping : .waiting, &state)
        }
        state.endAll()
        close()
    }

    /// Waits for a command or the network, unless a command has already come. The check and the new phase are one critical
    /// section, so that no wake-up is lost.
    private func wait(_ phase: Phase, _ state: inout CurlLoopState) {
        let mayWait = inbox.withLock { inbox in
            guard inbox.commands.isEmpty, !inbox.isStopped else { return false }
            inbox.phase = phase
            return true
        }
        guard mayWait else { return }
        if phase == .sleeping { idleSemaphore.wait() } else { state.waitForNetwork() }
        state.updateTime()
    }

    /// Writing to a broken connection should be an error, not a signal. libcurl doesn't raise the signal, but OpenSSL, in
    /// versions that write to the socket directly, lets it end the process.
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
#endif
