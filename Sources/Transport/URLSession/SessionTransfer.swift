internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// One call. The caller, the reader, the clock and Foundation's delegate report events from several threads. Each event
/// changes the ``TransferState`` under a lock, and its actions run outside the lock.
final class SessionTransfer: Sendable {
    let request: HTTPRequest
    private let state: Mutex<TransferState>
    private let clock: Stopwatch
    // Whether the task is suspended.
    private let isSuspended = Mutex(false)
    #if !canImport(FoundationNetworking)
    // The stream that the task reads content from, retained until the task is over. If the writing end were released earlier,
    // the stream would end, and the server might take the part for the whole.
    private let upload = Mutex<(stream: UploadStream, filling: Task<Void, Never>)?>(nil)
    #endif

    init(request: HTTPRequest, limits: TransferState.Limits, timeouts: Timeouts, clock: Stopwatch) {
        self.request = request
        self.clock = clock
        let timeLimits = TimeLimits(timeouts, noticesSuspension: clock.isTheSystems)
        state = Mutex(TransferState(request: request, limits: limits, timeLimits: timeLimits))
    }

    private func perform(_ change: (inout TransferState) -> TransferActions) {
        carryOut(state.withLock { change(&$0) })
    }

    // A resumed continuation or a cancelled task may call back at once, so no lock may be held here. Not inlined, because the
    // compiler makes a copy of `perform` for each closure.
    @inline(never)
    private func carryOut(_ actions: TransferActions) {
        if let (caller, result) = actions.answer { caller.resume(with: result.map(response)) }
        actions.delivery?.perform()
        for helper in actions.helpers { helper.cancel() }
        if actions.flowHasChanged { applyFlow() }
        if let task = actions.cancelled { Self.cancel(task) }
    }

    // Reader and network decide under the state's lock, but act after it, perhaps in the other order. So this method applies
    // the latest decision instead of the caller's.
    private func applyFlow() {
        isSuspended.withLock { isSuspended in
            guard let flow = state.withLock(\.flow), flow.isSuspended != isSuspended else { return }
            isSuspended = flow.isSuspended
            if isSuspended { flow.task.suspend() } else { flow.task.resume() }
        }
    }

    // The caller may be Foundation, on its own queue.
    private static func cancel(_ task: URLSessionTask) { SessionQueue.cancelling.async { task.cancel() } }

    private func response(_ answer: TransferState.Answer) -> HTTPResponse {
        let head = answer.head
        let body: HTTPBody =
            switch answer.content {
            case .gathered(let bytes): HTTPBody(bytes)
            case .streamed: streamedBody(length: head.length)
            case .failed(let error): .unreadable(error)
            }
        var response = HTTPResponse(status: head.status, headers: head.headers, body: body, url: request.url)
        if let metrics = answer.metrics { response.context.setFacts(metrics.timings, metrics.connection) }
        return response
    }

    private func streamedBody(length: Int64?) -> HTTPBody {
        let content = StreamedContent(self)
        let chunks = UnfoldingSequence(from: { content }) { content in try await content.nextChunk() }
        return .oneShot(chunks, length: length) { [self] in discard() }
    }
}

// Called by the caller and the reader.
extension SessionTransfer {
    /// Begins the call. `launch` creates and starts the task that sends the request.
    func begin(_ caller: TransferState.Caller, launch: () -> Void) {
        perform { $0.begin(caller) }
        guard !state.withLock(\.isOver) else { return }
        launch()
        if state.withLock(\.isPreparing) { watch() }
    }

    /// Ties a helper task to this call: the helper is cancelled when the call ends.
    func add(_ helper: Task<Void, Never>) { perform { $0.add(helper) } }

    /// Stores the task that sends the request. Returns `false` if the call is over already.
    func attach(_ task: URLSessionTask, upload: SpooledFile? = nil) -> Bool {
        guard state.withLock({ $0.attach(task, upload: upload, at: clock.elapsed()) }) else { return false }
        watch()
        return true
    }

    func fail(_ error: any Error) { perform { $0.abort(error) } }

    func cancel() { fail(CancellationError()) }

    func discard() { fail(TransportError.bodyNotReplayable(request: request)) }

    /// Returns the next chunk of a streamed response, or `nil` at its end.
    func nextChunk() async throws -> Data? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { reader in
                perform { $0.read(reader, at: clock.elapsed()) }
            }
        } onCancel: {
            cancel()
        }
    }
}

// Called by the clock.
extension SessionTransfer {
    private func watch() {
        guard state.withLock({ $0.timeLimits.check(at: clock.elapsed()) }) != nil else { return }
        let watcher = Task { [weak self, clock] in
            while let deadline = self?.checkDeadlines() {
                do { try await clock.sleep(deadline) } catch { return }
            }
        }
        perform { $0.replaceWatcher(watcher) }
    }

    private func checkDeadlines() -> Duration? {
        let check = state.withLock { state in
            state.isOver ? nil : state.timeLimits.check(at: clock.elapsed())
        }
        switch check {
        case .wait(let until)?: return until
        case .passed(let limit, let length)?:
            let error =
                Self.fileHasChanged(request)
                ?? TransportError(.timedOut, limit.message(after: length), request: request)
            perform { limit == .idle || limit == .pause ? $0.stall(error) : $0.abort(error) }
            return nil
        case nil: return nil
        }
    }

    /// The reason an upload has stalled: Foundation on Linux waits forever for the rest of a file that has shrunk.
    private static func fileHasChanged(_ request: HTTPRequest) -> TransportError? {
        do {
            try OutgoingRequest.checkFile(request)
            return nil
        } catch {
            return error
        }
    }

    /// Records that a piece of the content was prepared, which counts as activity although nothing was sent.
    func prepared() { state.withLock { $0.timeLimits.note(at: clock.elapsed(), ofConnection: false) } }
}

// Called by the session's delegate, in the order of events.
extension SessionTransfer {
    func sent(_ count: Int64) {
        let isOver = state.withLock { state in
            state.timeLimits.note(at: clock.elapsed())
            return state.isOver
        }
        guard !isOver, let report = request.context.uploadProgress else { return }
        report(TransferProgress(completed: count, total: request.body.length))
    }

    func received(_ response: URLResponse) {
        state.withLock { $0.timeLimits.note(at: clock.elapsed()) }
        guard let response = response as? HTTPURLResponse else { return }
        // Interim responses only count as activity. A protocol switch was never requested.
        guard response.statusCode != 101 else {
            let message = "The server switched protocols (101), which this transport does not support."
            return fail(TransportError(.unsupported, message, request: request))
        }
        guard !(100..<200).contains(response.statusCode) else { return }
        do {
            let head = try ResponseHead(response, to: request)
            perform { $0.receive(head) }
            // The watcher may sleep until a limit later than the one that applies now.
            if state.withLock(\.isFollowedRedirect) { watch() }
        } catch {
            fail(error)
        }
    }

    func received(_ data: Data) {
        perform { state in
            let now = clock.elapsed()
            state.timeLimits.note(at: now)
            return state.receive(data, at: now)
        }
        reportDownload()
    }

    private func reportDownload() {
        guard let report = request.context.downloadProgress else { return }
        let progress: TransferProgress? = state.withLock { state in
            switch state.phase {
            case .buffering(let head), .streaming(let head):
                TransferProgress(completed: state.received, total: head.length)
            case .preparing, .waiting, .ended: nil
            }
        }
        if let progress { report(progress) }
    }

    #if canImport(FoundationNetworking)
    func lostKeptAliveConnection() {
        let message =
            "The server closed a kept-alive connection as the request went out. Whether it was acted on is unknown."
        fail(TransportError(.connectionLost, message, request: request))
    }
    #else
    /// Passes on an interim response. It doesn't count as activity, so that a server can't keep a call alive by such responses.
    func received(interim response: HTTPURLResponse) {
        guard let interim = request.context.interim, !state.withLock(\.isOver),
            let head = try? ResponseHead(response, to: request), head.status.isInterim
        else { return }
        interim(HTTPResponse(status: head.status, headers: head.headers, url: request.url))
    }

    /// The TLS settings refuse the server.
    func refuse(_ reason: TransportError) {
        fail(TransportError(reason.code, reason.message, request: request, underlying: reason.underlying))
    }

    /// Stores the timings and the connection of the exchange.
    func measured(_ metrics: ExchangeMetrics) { state.withLock { $0.metrics = metrics } }

    /// Returns the content as a stream. A second request for it starts over if the body can be read again.
    ///
    /// - Parameter offset: the number of bytes that the server has, if the system resumes an upload.
    func bodyStream(from offset: Int64 = 0) -> InputStream? {
        guard request.body.isReadable else {
            fail(TransportError.bodyNotReplayable(request: request))
            return nil
        }
        guard let (input, stream) = UploadStream.make() else { return nil }
        let filling = Task { [weak self, body = request.body] in
            if let error = await UploadPump.fill(stream, from: body, at: offset) { self?.fail(error) }
        }
        let replaced = upload.withLock { upload in
            defer { upload = (stream, filling) }
            return upload
        }
        replaced?.filling.cancel()
        add(filling)
        return input
    }
    #endif

    /// Ends the call, because its task is over.
    func completed(_ error: (any Error)?, response: URLResponse?) {
        #if !canImport(FoundationNetworking)
        upload.withLock { $0 = nil }
        #endif
        perform { state in
            state.complete(error) { try (response as? HTTPURLResponse).map { try ResponseHead($0, to: request) } }
        }
    }
}

/// Retained by the content of a streamed response and its iterators. The transfer ends when nothing can read the content any more.
final class StreamedContent: Sendable {
    private let transfer: SessionTransfer

    init(_ transfer: SessionTransfer) { self.transfer = transfer }

    deinit { transfer.discard() }

    func nextChunk() async throws -> Data? { try await transfer.nextChunk() }
}
