#if os(Linux)
internal import CInterceptorsCurl
internal import Dispatch
internal import Foundation

/// The loop's state. Only the loop's thread uses it.
struct CurlLoopState {
    private let multi: UnsafeMutableRawPointer
    private let loop: CurlLoop
    private var settled: [SettledTransfer] = []
    private var active: [ObjectIdentifier: CurlTransfer] = [:]
    private let current: LoopIteration
    // No deadline is earlier than this. Activity only moves deadlines later, so most iterations need not look at the
    // transfers.
    private var nextCheck: Duration = .seconds(Int64.max / 2)
    private var alarm: (time: Duration, task: Task<Void, Never>)?
    private var stalledStreams = StalledStreamPoller()

    init(multi: UnsafeMutableRawPointer, loop: CurlLoop) {
        self.multi = multi
        self.loop = loop
        current = LoopIteration(sockets: loop.sockets, limits: loop.limits)
        current.now = loop.clock.elapsed()
    }

    mutating func handle(_ command: CurlLoop.Command) {
        switch command {
        case .start(let transfer): start(transfer)
        case .cancel(let transfer):
            guard active[ObjectIdentifier(transfer)] != nil else { return }
            if transfer.mayWaitInVain {
                retireConnection(of: transfer)
            }
            end(transfer, .failure(CancellationError()))
        case .unpause(let transfer):
            guard active[ObjectIdentifier(transfer)] != nil else { return }
            transfer.timeLimits.pause(false, at: current.now)
            transfer.timeLimits.note(at: current.now, ofConnection: false)
            // The idle limit, which a pause suspends, applies again.
            advanceNextCheck(for: transfer)
            stalledStreams.begin(for: transfer)
            resume(transfer)
        case .checkTime:
            alarm = nil
        }
    }

    /// Whether there is nothing to do until a command comes.
    var isIdle: Bool { active.isEmpty && CurlLibrary.closesConnectionsAtOnce }

    mutating func iterate() {
        var running: Int32 = 0
        _ = ccurl_multi_perform(multi, &running)
        current.deliver()
        // libcurl stops sending an upload that the server refused, but not while the upload is paused for its next bytes:
        // resume it.
        while let transfer = current.refused.popLast() { resume(transfer) }
        var code: Int32 = 0
        while let easy = ccurl_multi_next_done(multi, &code) { complete(easy, code) }
        updateTime()
        if current.now >= nextCheck || current.hasEarlierDeadline { checkDeadlines() }
        resumeSettled()
        // libcurl processes an added handle before it waits.
        while let transfer = current.line.next() { begin(transfer) }
    }

    /// Waits for the network, but no longer than until the next deadline.
    mutating func waitForNetwork() { _ = ccurl_multi_poll(multi, pollTimeout()) }

    func updateTime() { current.now = loop.clock.elapsed() }

    private func resume(_ transfer: CurlTransfer) {
        _ = ccurl_easy_pause(transfer.easy.pointer, Int32(CCURLPAUSE_CONT.rawValue))
    }

    mutating func endAll() {
        for transfer in active.values { end(transfer, .failure(TransportError.shutDown)) }
        alarm?.task.cancel()
    }

    private mutating func start(_ transfer: CurlTransfer) {
        // The call was cancelled before the transfer began.
        guard !transfer.isFinished else { return loop.release(transfer) }
        transfer.iteration = current
        transfer.easy.set(CCURLOPT_PRIVATE, Unmanaged.passUnretained(transfer).toOpaque())
        active[ObjectIdentifier(transfer)] = transfer
        if current.line.enter(transfer, host: transfer.host, canShare: transfer.canShareConnection) {
            begin(transfer)
        } else {
            transfer.timeLimits.waitInLine(at: current.now)
            transfer.notes?.waitInLine()
            advanceNextCheck(for: transfer)
        }
    }

    private mutating func begin(_ transfer: CurlTransfer) {
        transfer.timeLimits.start(at: current.now)
        if let notes = transfer.notes {
            notes.beginSending()
            // The caller of a cancelled call may have read before that nothing was sent. So nothing is sent.
            guard !transfer.isFinished else { return end(transfer, .failure(CancellationError())) }
        }
        add(transfer)
    }

    private mutating func add(_ transfer: CurlTransfer) {
        let code = ccurl_multi_add_handle(multi, transfer.easy.pointer)
        guard code == 0 else {
            active[ObjectIdentifier(transfer)] = nil
            current.leaveLine(transfer)
            let error = TransportError(.transportFailed, "libcurl refused the transfer (multi code \(code)).")
            transfer.finish(.failure(transfer.precise(error)))
            return loop.release(transfer)
        }
        advanceNextCheck(for: transfer)
    }

    private mutating func advanceNextCheck(for transfer: CurlTransfer) {
        guard let check = transfer.timeLimits.check(at: current.now) else { return }
        nextCheck = min(nextCheck, check.time(from: current.now))
    }

    private mutating func complete(_ easy: UnsafeMutableRawPointer, _ code: Int32) {
        var context: UnsafeMutableRawPointer?
        _ = ccurl_easy_getinfo_pointer(easy, Int32(CCURLINFO_PRIVATE.rawValue), &context)
        guard let context else { return }
        let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
        if transfer.needsFreshConnection {
            // Nothing was sent, and libcurl has closed the connection it had chosen: start over with a new connection.
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
            transfer.hasSeenTrailers = code == CCURLE_OK.rawValue
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

    /// Ends a transfer whose content failed. The call fails too, unless the response is a followed redirect, whose content
    /// nobody reads.
    private mutating func fail(_ transfer: CurlTransfer, _ error: any Error) {
        end(transfer, transfer.survives(error) ? .success(()) : .failure(error))
    }

    private mutating func end(_ transfer: CurlTransfer, _ result: Result<Void, any Error>) {
        active[ObjectIdentifier(transfer)] = nil
        current.leaveLine(transfer)
        stalledStreams.end(for: transfer)
        let trailers = transfer.trailerFields
        switch result {
        case .success:
            let reply = transfer.reply(body: transfer.takeBody(), trailers.map(HTTPTrailers.init))
            if let continuation = transfer.settle(.success(reply)) {
                settled.append(SettledTransfer(continuation: continuation, reply: reply))
            }
        case .failure(let error): transfer.finish(.failure(transfer.precise(error)))
        }
        _ = ccurl_multi_remove_handle(multi, transfer.easy.pointer)
        transfer.download?.end(result.mapError { ($0 as? TransportError)?.about(transfer.request) ?? $0 }, trailers)
        current.forget(transfer)
        let isClean = if case .success = result { transfer.leavesHandleClean } else { false }
        loop.release(transfer, isClean: isClean)
    }

    /// Resumes the callers whose transfers ended in this iteration. Resuming many from this thread would wake a thread for
    /// each, only for it to sleep again. One thread of the pool therefore resumes them all, and then runs them.
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
            switch transfer.timeLimits.check(at: current.now) {
            case .wait(let until)?: nextCheck = min(nextCheck, until)
            case .passed(let limit, let length)?:
                retireConnection(of: transfer)
                let error = transfer.timeout(limit, after: length)
                if transfer.isResponseComplete {
                    endComplete(transfer)
                } else if limit == .total {
                    end(transfer, .failure(error))
                } else {
                    fail(transfer, error)
                }
            case nil: break
            }
        }
    }

    /// Keeps later requests off the connection of a transfer that waited in vain: its peer may be gone. libcurl closes such an
    /// HTTP/1.1 connection, but lets requests join an HTTP/2 connection as long as it has streams. So each of them closes the
    /// connection if it is the last one, and no other may be sent on it.
    private func retireConnection(of transfer: CurlTransfer) {
        transfer.forbidReuse()
        let port = transfer.localPort
        let others = port == 0 ? [] : active.values.filter { $0 !== transfer && $0.localPort == port }
        guard !others.isEmpty else { return }
        for other in others { other.forbidReuse() }
        current.sockets.retire(port)
    }

    /// How long to wait for the network, in milliseconds: until the next deadline if the clock is real time. With any other
    /// clock, a task sleeps until the deadline and wakes the loop.
    private mutating func pollTimeout() -> Int32 {
        // A reader waits for bytes that are held back for a larger chunk. More should come within a millisecond, or isn't
        // worth waiting for.
        guard current.awaited.isEmpty else { return 1 }
        let longest = stalledStreams.next() ?? 60_000
        let remaining = nextCheck - current.now
        guard remaining < .seconds(Int64.max / 4) else { return longest }
        guard loop.clock.isTheSystems else {
            setAlarm(for: nextCheck)
            return longest
        }
        // Rounded up: waking a millisecond too early would make the loop spin until the deadline.
        let milliseconds = remaining / .milliseconds(1)
        return Int32(max(0, min(Double(longest), milliseconds.rounded(.up))))
    }

    private mutating func setAlarm(for time: Duration) {
        if let alarm, alarm.time <= time { return }
        alarm?.task.cancel()
        let task = Task { [loop] in
            // Cancelled: an earlier alarm has replaced this one.
            guard (try? await loop.clock.sleep(time)) != nil else { return }
            loop.send(.checkTime)
        }
        alarm = (time, task)
    }
}

/// The continuation of a successful transfer, and its response.
private struct SettledTransfer: Sendable {
    let continuation: CurlTransfer.Continuation
    let reply: CurlReply

    func resume() { continuation.resume(returning: reply) }
}
#endif
