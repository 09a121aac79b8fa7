internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The state machine of a call: mutate it under the lock, and act on the results outside.
struct TransferState {
    typealias Caller = CheckedContinuation<HTTPResponse, any Error>

    enum Phase {
        /// The content is being prepared, and Foundation has no task yet.
        case preparing
        /// The task runs, and no final head has come.
        case waiting
        /// The head has come. The content is buffered while the caller waits.
        case buffering(ResponseHead)
        /// The caller has its response, and reads the content from the buffer that the task fills.
        case streaming(ResponseHead)
        /// The transfer has ended. The buffer may still hold bytes for the reader.
        case ended
    }

    /// The limits of the memory that a transfer uses.
    struct Limits {
        let responseBody: ResponseBodyMode
        /// The maximum number of unread bytes of a streamed response.
        let streamBuffer: Int
        /// Whether Foundation's task can be suspended when the buffer is full.
        let canSuspend: Bool
    }

    private let request: HTTPRequest
    private let limits: Limits
    private(set) var phase = Phase.preparing
    var timeLimits: TimeLimits
    private var caller: Caller?
    private var task: URLSessionTask?
    private var helpers: [Task<Void, Never>] = []
    private var watcher: Task<Void, Never>?
    private var upload: SpooledFile?
    private var content = Data()
    /// The error that reading the content of a followed redirect throws.
    private var contentFailure: (any Error)?
    private var buffer = ChunkBuffer()
    private var isSuspended = false
    private(set) var received: Int64 = 0
    /// The timings and the connection of the exchange, once URLSession has reported them.
    var metrics: ExchangeMetrics?

    init(request: HTTPRequest, limits: Limits, timeLimits: TimeLimits) {
        self.request = request
        self.limits = limits
        self.timeLimits = timeLimits
    }

    var isOver: Bool { if case .ended = phase { true } else { false } }
    var isPreparing: Bool { if case .preparing = phase { true } else { false } }
    /// Whether the response is a redirect to follow, whose content nobody reads (RFC 9110 §15.4).
    var isFollowedRedirect: Bool {
        if case .buffering(let head) = phase { request.context.followsRedirects && head.isRedirect } else { false }
    }
    private var hasHead: Bool {
        switch phase {
        case .buffering, .streaming: true
        case .preparing, .waiting, .ended: false
        }
    }

    /// The task, and whether it should be suspended for the reader.
    var flow: (task: URLSessionTask, isSuspended: Bool)? { task.map { ($0, isSuspended) } }
}

// Called by the caller and the reader.
extension TransferState {
    /// Registers the caller. If the call was cancelled before it began, it ends here.
    mutating func begin(_ caller: Caller) -> TransferActions {
        guard !isOver else { return TransferActions(answer: (caller, .failure(CancellationError()))) }
        self.caller = caller
        return TransferActions()
    }

    /// Adds a helper task, which is cancelled when the call ends.
    mutating func add(_ helper: Task<Void, Never>) -> TransferActions {
        guard !isOver else { return TransferActions(helpers: [helper]) }
        helpers.append(helper)
        return TransferActions()
    }

    /// Sets the task that watches the time limits, in place of the last one.
    mutating func replaceWatcher(_ task: Task<Void, Never>) -> TransferActions {
        guard !isOver else { return TransferActions(helpers: [task]) }
        defer { watcher = task }
        return TransferActions(helpers: watcher.map { [$0] } ?? [])
    }

    /// Stores the task that sends the request. Returns `false` if the call is over already.
    mutating func attach(_ task: URLSessionTask, upload: SpooledFile?, at now: Duration) -> Bool {
        guard case .preparing = phase else { return false }
        self.task = task
        self.upload = upload
        phase = .waiting
        timeLimits.start(at: now)
        return true
    }

    mutating func read(_ reader: ChunkBuffer.Reader, at now: Duration) -> TransferActions {
        var actions = TransferActions(delivery: buffer.read(reader))
        timeLimits.pause(!buffer.isEmpty, at: now)
        if isSuspended, !isOver, buffer.count <= limits.streamBuffer / 2 {
            isSuspended = false
            actions.flowHasChanged = true
        }
        return actions
    }

    /// Ends the call and the reading of its response with an error. Unread bytes are dropped.
    mutating func abort(_ error: any Error) -> TransferActions {
        var actions = isOver ? TransferActions() : end(.failure(error), cancelling: true)
        if let delivery = buffer.abandon(error) { actions.delivery = delivery }
        return actions
    }

    /// Ends the call because of a silence. A redirect to follow is still a success.
    mutating func stall(_ error: any Error) -> TransferActions {
        isFollowedRedirect ? fail(error, cancelling: true) : abort(error)
    }
}

// Called by the network.
extension TransferState {
    mutating func receive(_ head: ResponseHead) -> TransferActions {
        switch phase {
        case .waiting: break
        case .buffering, .streaming: return fail(Self.begunAnew(request), cancelling: true)
        case .preparing, .ended: return TransferActions()
        }
        if let limit = limits.responseBody.bufferLimit {
            phase = .buffering(head)
            if isFollowedRedirect { timeLimits.shortenIdle() }
            if let length = head.length, length > Int64(limit) {
                return fail(TransportError.bodyTooLarge(limit: limit, request: request), cancelling: true)
            }
            // Limited, because a server may announce more than it sends.
            if let length = head.length { content.reserveCapacity(Int(min(length, 1 << 20))) }
        } else if head.hasContent {
            phase = .streaming(head)
            return TransferActions(
                answer: takeCaller(.success(Answer(head: head, content: .streamed, metrics: metrics)))
            )
        } else {
            phase = .buffering(head)
        }
        return TransferActions()
    }

    mutating func receive(_ chunk: Data, at now: Duration) -> TransferActions {
        switch phase {
        case .buffering(let head):
            received += Int64(chunk.count)
            if let failure = excess(over: head) { return fail(failure, cancelling: true) }
            let limit = limits.responseBody.bufferLimit ?? 0
            guard chunk.count <= limit - content.count else {
                return fail(TransportError.bodyTooLarge(limit: limit, request: request), cancelling: true)
            }
            content.append(chunk)
            return TransferActions()
        case .streaming(let head):
            received += Int64(chunk.count)
            if let failure = excess(over: head) { return fail(failure, cancelling: true) }
            return stream(chunk, at: now)
        case .preparing, .waiting, .ended:
            return TransferActions()
        }
    }

    // The system may resume or restart a suspended task: Apple's documentation of `suspend()` allows both. Content that
    // arrives twice would exceed the announced length.
    private func excess(over head: ResponseHead) -> TransportError? {
        guard head.isLengthExact, let length = head.length, received > length else { return nil }
        let message = "More content came than the \(length) bytes that the response announced."
        return TransportError(.invalidResponse, message, request: request)
    }

    private mutating func stream(_ chunk: Data, at now: Duration) -> TransferActions {
        let isFull = !buffer.isEmpty && buffer.count + chunk.count > limits.streamBuffer
        if isFull, !limits.canSuspend {
            return fail(Self.readerTooSlow(limits.streamBuffer, request), cancelling: true)
        }
        var actions = TransferActions(delivery: buffer.append(chunk))
        timeLimits.pause(!buffer.isEmpty, at: now)
        if limits.canSuspend, !isSuspended, buffer.count >= limits.streamBuffer {
            isSuspended = true
            actions.flowHasChanged = true
        }
        return actions
    }

    /// Ends the call after its task, which ended with an error, or with as much content as there was.
    ///
    /// - Parameter head: the head that the task knows, in case its delegate never received it.
    mutating func complete(_ error: (any Error)?, head: () throws -> ResponseHead?) -> TransferActions {
        if let error {
            return fail(SessionFailure.error(error, hasHead: hasHead, request: request), cancelling: false)
        }
        switch phase {
        case .waiting:
            do {
                // Foundation on Linux never reports a 3xx without a usable Location to the delegate, and loses its content.
                guard let head = try head() else {
                    throw TransportError(.invalidResponse, "There was no response.", request: request)
                }
                phase = .buffering(head.withoutContent)
                return end(.success(()), cancelling: false)
            } catch {
                return end(.failure(error), cancelling: false)
            }
        case .buffering(let head), .streaming(let head):
            guard let length = head.length, head.hasContent, length > received else {
                return end(.success(()), cancelling: false)
            }
            return fail(Self.truncated(received, of: length, request), cancelling: false)
        case .preparing, .ended:
            return TransferActions()
        }
    }

    /// Ends a call whose content failed. The call fails too, unless the response is a redirect to follow.
    private mutating func fail(_ error: any Error, cancelling: Bool) -> TransferActions {
        if isFollowedRedirect { contentFailure = error }
        return end(contentFailure == nil ? .failure(error) : .success(()), cancelling: cancelling)
    }

    private mutating func end(_ result: Result<Void, any Error>, cancelling: Bool) -> TransferActions {
        guard !isOver else { return TransferActions() }
        var actions = TransferActions()
        if case .buffering(let head) = phase {
            let content = contentFailure.map(Answer.Content.failed) ?? .gathered(content)
            actions.answer = takeCaller(result.map { Answer(head: head, content: content, metrics: metrics) })
        } else if case .failure(let error) = result {
            actions.answer = takeCaller(.failure(error))
        }
        actions.delivery = buffer.finish(result)
        actions.helpers = helpers + (watcher.map { [$0] } ?? [])
        actions.cancelled = cancelling ? task : nil
        phase = .ended
        content = Data()
        helpers = []
        watcher = nil
        task = nil
        upload = nil
        return actions
    }

    private mutating func takeCaller(_ result: Result<Answer, any Error>) -> (Caller, Result<Answer, any Error>)? {
        defer { caller = nil }
        return caller.map { ($0, result) }
    }
}

extension TransferState {
    /// The result of a transfer for its caller.
    struct Answer: Sendable {
        enum Content: Sendable {
            case gathered(Data)
            case streamed
            case failed(any Error)
        }

        let head: ResponseHead
        let content: Content
        let metrics: ExchangeMetrics?
    }

    static func truncated(_ count: Int64, of length: Int64, _ request: HTTPRequest) -> TransportError {
        TransportError(.truncated, "The response ended after \(count) of \(length) bytes.", request: request)
    }

    private static func begunAnew(_ request: HTTPRequest) -> TransportError {
        let message =
            "A second head arrived within the response: URLSession restarted it, or it is multipart/x-mixed-replace,"
            + " which this transport does not support."
        return TransportError(.truncated, message, request: request)
    }

    private static func readerTooSlow(_ limit: Int, _ request: HTTPRequest) -> TransportError {
        let message =
            "The response ran ahead of its reader by more than \(limit) bytes, and on this platform URLSession can't be"
            + " made to wait. Read faster, raise streamBuffer, buffer the response, or use CurlTransport, which waits."
        return TransportError(.readerTooSlow, message, request: request)
    }
}

/// The actions that a change of a ``TransferState`` requires. Perform them without the lock.
struct TransferActions: Sendable {
    var answer: (TransferState.Caller, Result<TransferState.Answer, any Error>)?
    var delivery: ChunkBuffer.Delivery?
    /// Whether to suspend or resume the task: see ``TransferState/flow``.
    var flowHasChanged = false
    var cancelled: URLSessionTask?
    var helpers: [Task<Void, Never>] = []
}
