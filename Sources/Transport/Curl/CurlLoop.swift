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
        /// The loop has nothing to do, and sleeps until it is called.
        var isIdle = false
        /// Those who are about to wake the loop, and its thread until that has ended: the last one closes the multi handle.
        var users = 1
        var hasEnded = false
        var endWatchers: [CheckedContinuation<Void, Never>] = []

        /// How the loop must be called. Who calls it from the network counts as a user until it has done so.
        mutating func call() -> Call {
            if isIdle {
                isIdle = false
                return .fromSleep
            }
            users += 1
            return .fromNetwork
        }
    }

    /// What ends the loop's wait.
    private enum Call {
        case needless
        /// It waits for nothing but to be called, which is half the work for both sides.
        case fromSleep
        /// It waits for the network, or is about to.
        case fromNetwork
    }

    /// `@unchecked Sendable`: the pointer is used by the loop's thread alone, but for `curl_multi_wakeup`, which libcurl
    /// allows from any thread, and which only those call who count among the inbox's users.
    private struct Multi: @unchecked Sendable { let pointer: UnsafeMutableRawPointer }

    let clock: LoopClock
    private let multi: Multi
    private let pool: EasyHandlePool
    private let inbox = Mutex(Inbox())
    private let alarmClock = DispatchSemaphore(value: 0)

    init(limits: CurlTransport.ConnectionLimits, clock: LoopClock, pool: EasyHandlePool) throws {
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
        let call: Call? = inbox.withLock { inbox in
            guard !inbox.isStopped else { return nil }
            inbox.commands.append(command)
            return inbox.commands.count == 1 ? inbox.call() : .needless
        }
        if let call { return wake(call) }
        if case .start(let transfer) = command {
            transfer.finish(.failure(TransportError.shutDown))
            release(transfer)
        }
    }

    /// Ends every transfer, then the thread.
    func stop() {
        let call: Call = inbox.withLock { inbox in
            guard !inbox.isStopped else { return .needless }
            inbox.isStopped = true
            return inbox.call()
        }
        wake(call)
    }

    /// Ends the loop's wait. Not under the lock: the thread that it wakes needs that first, and would spin for it on the
    /// very core that the other holds.
    private func wake(_ call: Call) {
        switch call {
        case .needless: break
        case .fromSleep: alarmClock.signal()
        case .fromNetwork:
            _ = ccurl_multi_wakeup(multi.pointer)
            leave()
        }
    }

    /// One user less; the last one closes the multi handle.
    private func leave() {
        let isLast = inbox.withLock { inbox in
            inbox.users -= 1
            return inbox.users == 0
        }
        guard isLast else { return }
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
    private func release(_ transfer: CurlTransfer, isClean: Bool = false) {
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
            let (isStopped, isIdle) = inbox.withLock { inbox in
                swap(&inbox.commands, &commands)
                inbox.isIdle = run.isIdle && commands.isEmpty && !inbox.isStopped
                return (inbox.isStopped, inbox.isIdle)
            }
            if isIdle {
                alarmClock.wait()
                run.updateTime()
                continue
            }
            for command in commands { run.handle(command) }
            commands.removeAll(keepingCapacity: true)
            if isStopped { break }
            run.turn()
        }
        run.endAll()
        leave()
    }

    /// Writing to a connection that is gone is an error. libcurl is told to leave signals alone, and OpenSSL, in versions
    /// that give it the socket, writes so that the signal would end the process.
    private static func blockPipeSignal() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    fileprivate func didEnd(_ transfer: CurlTransfer, isClean: Bool = false) { release(transfer, isClean: isClean) }
}

private let runLoop: ccurl_thread_body = { loop in
    if let loop { Unmanaged<CurlLoop>.fromOpaque(loop).takeRetainedValue().run() }
    return nil
}

/// What the loop's thread alone knows.
private struct CurlLoopRun {
    private let multi: UnsafeMutableRawPointer
    private let loop: CurlLoop
    private var settled: [SettledTransfer] = []
    private var active: [ObjectIdentifier: CurlTransfer] = [:]
    private let current = LoopTurn()
    // No deadline lies before it: activity only moves deadlines later, so most turns need not look at the transfers.
    private var nextCheck: Duration = .seconds(Int64.max / 2)
    private var alarm: (time: Duration, task: Task<Void, Never>)?
    private var nudge = Nudge()

    init(multi: UnsafeMutableRawPointer, loop: CurlLoop) {
        self.multi = multi
        self.loop = loop
        current.now = loop.clock.now()
    }

    mutating func handle(_ command: CurlLoop.Command) {
        switch command {
        case .start(let transfer): start(transfer)
        case .cancel(let transfer):
            guard active[ObjectIdentifier(transfer)] != nil else { return }
            end(transfer, .failure(CancellationError()))
        case .unpause(let transfer):
            guard active[ObjectIdentifier(transfer)] != nil else { return }
            transfer.isReceivingPaused = false
            transfer.lastActivity = current.now
            // The silence that ends the transfer counts again.
            if let deadline = transfer.nextDeadline { nextCheck = min(nextCheck, deadline.time) }
            nudge.begin(for: transfer)
            _ = ccurl_easy_pause(transfer.easy.pointer, Int32(CCURLPAUSE_CONT.rawValue))
        case .checkTime:
            alarm = nil
        }
    }

    /// Whether there is nothing to do until a command comes.
    var isIdle: Bool { active.isEmpty && CurlLibrary.closesConnectionsAtOnce }

    mutating func turn() {
        var running: Int32 = 0
        _ = ccurl_multi_perform(multi, &running)
        current.deliver()
        var code: Int32 = 0
        while let easy = ccurl_multi_next_done(multi, &code) { complete(easy, code) }
        resumeSettled()
        updateTime()
        if current.now >= nextCheck { checkDeadlines() }
        guard !isIdle else { return }
        _ = ccurl_multi_poll(multi, pollTimeout())
        updateTime()
    }

    func updateTime() { current.now = loop.clock.now() }

    mutating func endAll() {
        for transfer in active.values { end(transfer, .failure(TransportError.shutDown)) }
        alarm?.task.cancel()
    }

    private mutating func start(_ transfer: CurlTransfer) {
        // Cancelled before it began.
        guard !transfer.isFinished else { return loop.didEnd(transfer) }
        transfer.turn = current
        transfer.startedAt = current.now
        transfer.lastActivity = current.now
        transfer.easy.set(CCURLOPT_PRIVATE, Unmanaged.passUnretained(transfer).toOpaque())
        active[ObjectIdentifier(transfer)] = transfer
        let code = ccurl_multi_add_handle(multi, transfer.easy.pointer)
        guard code == 0 else {
            active[ObjectIdentifier(transfer)] = nil
            transfer.finish(.failure(TransportError(.other, "libcurl refused the transfer (multi code \(code)).")))
            return loop.didEnd(transfer)
        }
        if let deadline = transfer.nextDeadline { nextCheck = min(nextCheck, deadline.time) }
    }

    private mutating func complete(_ easy: UnsafeMutableRawPointer, _ code: Int32) {
        var context: UnsafeMutableRawPointer?
        _ = ccurl_easy_getinfo_pointer(easy, Int32(CCURLINFO_PRIVATE.rawValue), &context)
        guard let context else { return }
        let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
        if code == CCURLE_OK.rawValue, !transfer.head.isComplete {
            end(transfer, .failure(TransportError(.invalidResponse, "The server's answer is no HTTP response.")))
        } else if code == CCURLE_OK.rawValue {
            end(transfer, .success(()))
        } else {
            end(transfer, .failure(transfer.error(code)))
        }
    }

    private mutating func end(_ transfer: CurlTransfer, _ result: Result<Void, any Error>) {
        active[ObjectIdentifier(transfer)] = nil
        nudge.end(for: transfer)
        switch result {
        case .success:
            let reply = transfer.reply(body: HTTPBody(transfer.buffered))
            if let continuation = transfer.settle(.success(reply)) {
                settled.append(SettledTransfer(continuation: continuation, reply: reply))
            }
        case .failure(let error): transfer.finish(.failure(error))
        }
        _ = ccurl_multi_remove_handle(multi, transfer.easy.pointer)
        if let download = transfer.download {
            download.end(result.mapError { ($0 as? TransportError)?.about(transfer.request) ?? $0 })
            current.awaited.removeAll { $0 === download }
        }
        let isClean = if case .success = result { transfer.leavesHandleClean } else { false }
        loop.didEnd(transfer, isClean: isClean)
    }

    /// Resumes those whose transfers ended in this turn. To resume many from here would wake a thread for each, which
    /// would find nothing more to do and sleep again; a thread of the pool resumes them all and then runs them.
    private mutating func resumeSettled() {
        guard settled.count > 1 else {
            settled.popLast()?.resume()
            return
        }
        let batch = settled
        settled.removeAll()
        DispatchQueue.global().async { for transfer in batch { transfer.resume() } }
    }

    private mutating func checkDeadlines() {
        nextCheck = .seconds(Int64.max / 2)
        for transfer in active.values {
            guard let deadline = transfer.nextDeadline else { continue }
            if deadline.time <= current.now {
                end(transfer, .failure(TransportError(.timedOut, deadline.message)))
            } else {
                nextCheck = min(nextCheck, deadline.time)
            }
        }
    }

    /// How long to wait for the network: until the next deadline on a clock that runs by itself. On any other clock, a
    /// task sleeps for the loop and wakes it.
    private mutating func pollTimeout() -> Int32 {
        guard current.awaited.isEmpty else { return 0 }
        let longest = nudge.next() ?? 60_000
        let remaining = nextCheck - current.now
        guard remaining < .seconds(Int64.max / 4) else { return longest }
        guard loop.clock.isRealTime else {
            setAlarm(for: nextCheck)
            return longest
        }
        // Rounded up: a millisecond too early would make the loop spin until the deadline.
        let milliseconds = remaining / .milliseconds(1)
        return Int32(max(0, min(Double(longest), milliseconds.rounded(.up))))
    }

    private mutating func setAlarm(for time: Duration) {
        if let alarm, alarm.time <= time { return }
        alarm?.task.cancel()
        let (loop, delay) = (loop, max(.zero, time - current.now))
        let task = Task {
            // Cancelled: another alarm stands in its place.
            guard (try? await loop.clock.sleep(delay)) != nil else { return }
            loop.send(.checkTime)
        }
        alarm = (time, task)
    }
}

/// When to look after transfers that were paused, though nothing calls for it.
///
/// libcurl 7.88 may leave a stream of HTTP/2 that was paused without its window, once it goes on: server and client then
/// wait for each other, until libcurl is made to look again. So it is, soon at first, ever less often, at last each second.
private struct Nudge {
    private static let longest: Int32 = 1000
    private var resumed: Set<ObjectIdentifier> = []
    private var milliseconds: Int32 = 1

    /// A transfer goes on after a pause.
    mutating func begin(for transfer: CurlTransfer) {
        guard transfer.download != nil else { return }
        resumed.insert(ObjectIdentifier(transfer))
        milliseconds = 1
    }

    mutating func end(for transfer: CurlTransfer) {
        if !resumed.isEmpty { resumed.remove(ObjectIdentifier(transfer)) }
    }

    /// The most to wait for the network, in milliseconds, where that has a limit.
    mutating func next() -> Int32? {
        guard !resumed.isEmpty else { return nil }
        defer { milliseconds = min(Self.longest, milliseconds * 2) }
        return milliseconds
    }
}

/// What callbacks of libcurl know of the loop's turn. The loop's thread alone uses it.
final class LoopTurn {
    /// The time when the loop last asked, on either side of its wait: callbacks, a dozen to a response, need not ask again.
    var now: Duration = .zero
    /// Downloads that have something for a reader who waits.
    var awaited: [CurlDownload] = []

    func deliver() {
        if !awaited.isEmpty { awaited.removeAll { $0.deliverUnlessMoreComes() } }
    }
}

/// Who waits for a transfer that has ended well, and for what.
private struct SettledTransfer: Sendable {
    let continuation: UnsafeContinuation<CurlReply, any Error>
    let reply: CurlReply

    func resume() { continuation.resume(returning: reply) }
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
