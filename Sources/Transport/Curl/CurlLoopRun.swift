#if os(Linux)
internal import CCurl
internal import Dispatch
internal import Foundation

/// The state that only the loop's thread uses.
struct CurlLoopRun {
    private let multi: UnsafeMutableRawPointer
    private let loop: CurlLoop
    private var settled: [SettledTransfer] = []
    private var active: [ObjectIdentifier: CurlTransfer] = [:]
    private let current: LoopTurn
    // No deadline lies before it: activity only moves deadlines later, so most turns need not look at the transfers.
    private var nextCheck: Duration = .seconds(Int64.max / 2)
    private var alarm: (time: Duration, task: Task<Void, Never>)?
    private var nudge = Nudge()

    init(multi: UnsafeMutableRawPointer, loop: CurlLoop) {
        self.multi = multi
        self.loop = loop
        current = LoopTurn(sockets: loop.sockets)
        current.now = loop.clock.now()
    }

    mutating func handle(_ command: CurlLoop.Command) {
        switch command {
        case .start(let transfer): start(transfer)
        case .cancel(let transfer):
            guard active[ObjectIdentifier(transfer)] != nil else { return }
            if transfer.mayWaitInVain {
                // libcurl keeps a connection of HTTP/2 otherwise, and later requests would join it.
                transfer.easy.set(CCURLOPT_FORBID_REUSE, 1)
            }
            end(transfer, .failure(CancellationError()))
        case .unpause(let transfer):
            guard active[ObjectIdentifier(transfer)] != nil else { return }
            transfer.isReceivingPaused = false
            transfer.lastActivity = current.now
            // The silence that ends the transfer counts again.
            if let deadline = transfer.nextDeadline { nextCheck = min(nextCheck, deadline.time) }
            nudge.begin(for: transfer)
            resume(transfer)
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
        // libcurl sends no more of them, but for one that waits for its next bytes it would wait, too.
        while let transfer = current.refused.popLast() { resume(transfer) }
        var code: Int32 = 0
        while let easy = ccurl_multi_next_done(multi, &code) { complete(easy, code) }
        updateTime()
        if current.now >= nextCheck || current.hasEarlierDeadline { checkDeadlines() }
        resumeSettled()
    }

    /// Waits for the network, at most until there is something to do without it.
    mutating func waitForNetwork() { _ = ccurl_multi_poll(multi, pollTimeout()) }

    func updateTime() { current.now = loop.clock.now() }

    private func resume(_ transfer: CurlTransfer) {
        _ = ccurl_easy_pause(transfer.easy.pointer, Int32(CCURLPAUSE_CONT.rawValue))
    }

    mutating func endAll() {
        for transfer in active.values { end(transfer, .failure(TransportError.shutDown)) }
        alarm?.task.cancel()
    }

    private mutating func start(_ transfer: CurlTransfer) {
        // Cancelled before it began.
        guard !transfer.isFinished else { return loop.release(transfer) }
        transfer.turn = current
        transfer.startedAt = current.now
        transfer.lastActivity = current.now
        transfer.easy.set(CCURLOPT_PRIVATE, Unmanaged.passUnretained(transfer).toOpaque())
        active[ObjectIdentifier(transfer)] = transfer
        add(transfer)
    }

    private mutating func add(_ transfer: CurlTransfer) {
        let code = ccurl_multi_add_handle(multi, transfer.easy.pointer)
        guard code == 0 else {
            active[ObjectIdentifier(transfer)] = nil
            transfer.finish(.failure(TransportError(.other, "libcurl refused the transfer (multi code \(code)).")))
            return loop.release(transfer)
        }
        if let deadline = transfer.nextDeadline { nextCheck = min(nextCheck, deadline.time) }
    }

    private mutating func complete(_ easy: UnsafeMutableRawPointer, _ code: Int32) {
        var context: UnsafeMutableRawPointer?
        _ = ccurl_easy_getinfo_pointer(easy, Int32(CCURLINFO_PRIVATE.rawValue), &context)
        guard let context else { return }
        let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
        if transfer.needsFreshConnection {
            // Nothing was sent, and libcurl has closed the connection that it had chosen.
            _ = ccurl_multi_remove_handle(multi, easy)
            transfer.useFreshConnection()
            add(transfer)
        } else if code == CCURLE_OK.rawValue, !transfer.head.isComplete {
            end(transfer, .failure(TransportError(.invalidResponse, "The server's answer is no HTTP response.")))
        } else if code == CCURLE_OK.rawValue, transfer.isCut {
            let message =
                "The TLS connection ended without close_notify, and the content with it: it may have been cut."
            fail(transfer, TransportError(.truncated, message))
        } else if code == CCURLE_OK.rawValue, let failure = transfer.unfinishedContent {
            fail(transfer, failure)
        } else if code == CCURLE_OK.rawValue || transfer.isExpectationRefused(code) {
            end(transfer, .success(()))
        } else if transfer.isAnsweredDespite(code) {
            endComplete(transfer)
        } else {
            fail(transfer, transfer.error(code))
        }
    }

    /// Ends a transfer of which all bytes have come. Compressed content may end too soon all the same.
    private mutating func endComplete(_ transfer: CurlTransfer) {
        if let failure = transfer.unfinishedContent { fail(transfer, failure) } else { end(transfer, .success(())) }
    }

    /// Ends a transfer whose content failed: with an error, unless the response is the answer all the same.
    private mutating func fail(_ transfer: CurlTransfer, _ error: any Error) {
        end(transfer, transfer.survives(error) ? .success(()) : .failure(error))
    }

    private mutating func end(_ transfer: CurlTransfer, _ result: Result<Void, any Error>) {
        active[ObjectIdentifier(transfer)] = nil
        nudge.end(for: transfer)
        switch result {
        case .success:
            let reply = transfer.reply(body: transfer.takeBody())
            if let continuation = transfer.settle(.success(reply)) {
                settled.append(SettledTransfer(continuation: continuation, reply: reply))
            }
        case .failure(let error): transfer.finish(.failure(error))
        }
        _ = ccurl_multi_remove_handle(multi, transfer.easy.pointer)
        transfer.download?.end(result.mapError { ($0 as? TransportError)?.about(transfer.request) ?? $0 })
        current.forget(transfer)
        let isClean = if case .success = result { transfer.leavesHandleClean } else { false }
        loop.release(transfer, isClean: isClean)
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
        current.hasEarlierDeadline = false
        nextCheck = .seconds(Int64.max / 2)
        for transfer in active.values {
            guard let deadline = transfer.nextDeadline else { continue }
            if deadline.time <= current.now {
                // libcurl closes one of HTTP/1.1, and would keep one of HTTP/2, where every later request may wait in vain, too.
                transfer.easy.set(CCURLOPT_FORBID_REUSE, 1)
                let error = TransportError(.timedOut, deadline.message)
                if transfer.isResponseComplete {
                    endComplete(transfer)
                } else if deadline.kind == .whole {
                    end(transfer, .failure(error))
                } else {
                    fail(transfer, error)
                }
            } else {
                nextCheck = min(nextCheck, deadline.time)
            }
        }
    }

    /// How long to wait for the network: until the next deadline on a clock that runs by itself. On any other clock, a
    /// task sleeps for the loop and wakes it.
    private mutating func pollTimeout() -> Int32 {
        // More of it is probably on its way: it comes within a millisecond, or is not worth waiting for.
        guard current.awaited.isEmpty else { return 1 }
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

/// The state of a turn of the loop, for libcurl's callbacks. Only the loop's thread uses it.
final class LoopTurn {
    let sockets: OpenSockets
    /// The time when the loop last asked, on either side of its wait: callbacks, a dozen to a response, need not ask again.
    var now: Duration = .zero
    /// Whether a transfer has got a deadline that may lie before all others: its response came whole before its request, or it
    /// is a redirect that is followed.
    var hasEarlierDeadline = false
    /// Downloads that have something for a reader who waits.
    var awaited: [CurlDownload] = []
    /// Transfers whose server answered before it had all of the request, and wants no more of it.
    var refused: [CurlTransfer] = []

    init(sockets: OpenSockets) { self.sockets = sockets }

    func deliver() {
        if !awaited.isEmpty { awaited.removeAll { $0.deliverUnlessMoreComes() } }
    }

    func forget(_ transfer: CurlTransfer) {
        if !awaited.isEmpty { awaited.removeAll { $0 === transfer.download } }
        if !refused.isEmpty { refused.removeAll { $0 === transfer } }
    }
}

/// The caller of a transfer that ended well, and its reply.
private struct SettledTransfer: Sendable {
    let continuation: UnsafeContinuation<CurlReply, any Error>
    let reply: CurlReply

    func resume() { continuation.resume(returning: reply) }
}
#endif
