internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Where a call stands: a value, whose changes say what is to be done outside of the lock.
struct TransferState {
    typealias Caller = CheckedContinuation<HTTPResponse, any Error>

    enum Phase {
        /// The content is being made ready; no task of Foundation's exists.
        case preparing
        /// The task runs; no final head has come.
        case waiting
        /// The head has come; the content is collected, and the caller waits.
        case buffering(ResponseHead)
        /// The caller has its response, and reads the content from the buffer, to which the task adds.
        case streaming(ResponseHead)
        /// Nothing more comes or goes. The buffer may still hold bytes for the reader.
        case ended
    }

    /// How much a transfer may hold.
    struct Limits {
        let responseBody: ResponseBodyMode
        /// The most bytes that a streamed response may hold for its reader.
        let streamBuffer: Int
        /// Whether Foundation's task can be made to wait when the buffer is full.
        let canSuspend: Bool
    }

    /// How long the content of a redirect that is followed may stall.
    private static let longestPause = Duration.seconds(1)

    private let request: HTTPRequest
    private let limits: Limits
    private(set) var phase = Phase.preparing
    var deadlines: Deadlines
    private var caller: Caller?
    private var task: URLSessionTask?
    private var helpers: [Task<Void, Never>] = []
    private var watcher: Task<Void, Never>?
    private var upload: SpooledFile?
    private var content = Data()
    /// Why the content of a followed redirect can't be read.
    private var contentFailure: (any Error)?
    private var buffer = ChunkBuffer()
    private var isSuspended = false
    private(set) var received: Int64 = 0
    /// How long the steps of the exchange took, once the task has told.
    var timings: TransferTimings?

    init(request: HTTPRequest, limits: Limits, deadlines: Deadlines) {
        self.request = request
        self.limits = limits
        self.deadlines = deadlines
    }

    var isOver: Bool { if case .ended = phase { true } else { false } }
    var isPreparing: Bool { if case .preparing = phase { true } else { false } }
    /// Whether the content is that of a redirect that is followed: nobody reads it (RFC 9110 §15.4).
    var isFollowedRedirect: Bool {
        if case .buffering(let head) = phase { request.context.followsRedirects && head.isRedirect } else { false }
    }
    private var canSuspend: Bool { limits.canSuspend }

    /// The task, and whether it has to wait for the reader.
    var flow: (task: URLSessionTask, isSuspended: Bool)? { task.map { ($0, isSuspended) } }
}

// The caller's side.
extension TransferState {
    /// The caller waits. A call that was cancelled before it began ends here.
    mutating func begin(_ caller: Caller) -> TransferActions {
        guard !isOver else { return TransferActions(answer: (caller, .failure(CancellationError()))) }
        self.caller = caller
        return TransferActions()
    }

    /// Something works for this call, and ends with it.
    mutating func add(_ helper: Task<Void, Never>) -> TransferActions {
        guard !isOver else { return TransferActions(helpers: [helper]) }
        helpers.append(helper)
        return TransferActions()
    }

    /// From now on, this looks after the time limits.
    mutating func replaceWatcher(_ task: Task<Void, Never>) -> TransferActions {
        guard !isOver else { return TransferActions(helpers: [task]) }
        defer { watcher = task }
        return TransferActions(helpers: watcher.map { [$0] } ?? [])
    }

    /// Takes the task that sends the request, or refuses it if the call is over.
    mutating func attach(_ task: URLSessionTask, upload: SpooledFile?, at now: Duration) -> Bool {
        guard case .preparing = phase else { return false }
        self.task = task
        self.upload = upload
        phase = .waiting
        deadlines.start(at: now)
        return true
    }

    mutating func read(_ reader: ChunkBuffer.Reader, at now: Duration) -> TransferActions {
        var actions = TransferActions(delivery: buffer.read(reader))
        deadlines.pause(!buffer.isEmpty, at: now)
        if isSuspended, !isOver, buffer.count <= limits.streamBuffer / 2 {
            isSuspended = false
            actions.flowHasChanged = true
        }
        return actions
    }

    /// Ends the call with an error, and the reading of its response; what waits in the buffer is dropped.
    mutating func abort(_ error: any Error) -> TransferActions {
        var actions = isOver ? TransferActions() : end(.failure(error), cancelling: true)
        if let delivery = buffer.abandon(error) { actions.delivery = delivery }
        return actions
    }

    /// Ends the call because nothing was sent or received for too long. A redirect that is followed is the answer all the same.
    mutating func stall(_ error: any Error) -> TransferActions {
        isFollowedRedirect ? fail(error, cancelling: true) : abort(error)
    }
}

// The network's side.
extension TransferState {
    mutating func receive(_ head: ResponseHead) -> TransferActions {
        switch phase {
        case .waiting: break
        case .buffering, .streaming: return fail(Self.begunAnew(request), cancelling: true)
        case .preparing, .ended: return TransferActions()
        }
        if let limit = limits.responseBody.bufferLimit {
            phase = .buffering(head)
            if isFollowedRedirect { deadlines.shortenIdle(to: Self.longestPause) }
            if let length = head.length, length > Int64(limit) {
                return fail(TransportError.bodyTooLarge(limit: limit, request: request), cancelling: true)
            }
            // The room is bounded: what a server announces need not come.
            if let length = head.length { content.reserveCapacity(Int(min(length, 1 << 20))) }
        } else if head.hasContent {
            phase = .streaming(head)
            return TransferActions(
                answer: takeCaller(.success(Answer(head: head, content: .streamed, timings: timings)))
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

    // Whether a task that was made to wait goes on or begins anew is the system's to decide: Apple's documentation of
    // `suspend()` allows both. Content that came twice would exceed what was announced.
    private func excess(over head: ResponseHead) -> TransportError? {
        guard head.isLengthExact, let length = head.length, received > length else { return nil }
        let message = "More content came than the \(length) bytes that the response announced."
        return TransportError(.invalidResponse, message, request: request)
    }

    private mutating func stream(_ chunk: Data, at now: Duration) -> TransferActions {
        let isFull = !buffer.isEmpty && buffer.count + chunk.count > limits.streamBuffer
        if isFull, !canSuspend {
            return fail(Self.readerTooSlow(limits.streamBuffer, request), cancelling: true)
        }
        var actions = TransferActions(delivery: buffer.append(chunk))
        deadlines.pause(!buffer.isEmpty, at: now)
        if canSuspend, !isSuspended, buffer.count >= limits.streamBuffer {
            isSuspended = true
            actions.flowHasChanged = true
        }
        return actions
    }

    /// The task is over: with an error, or with as much as there was.
    ///
    /// - Parameter head: what the task knows of the response, where its delegate was not told.
    mutating func complete(_ error: (any Error)?, head: () throws -> ResponseHead?) -> TransferActions {
        if let error {
            return fail(SessionFailure.error(error, in: phase, request: request), cancelling: false)
        }
        switch phase {
        case .waiting:
            do {
                // Foundation on Linux keeps a 3xx without a usable Location to itself, and loses its content.
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

    /// Ends a call whose content failed: with the error, unless the response is the answer all the same.
    private mutating func fail(_ error: any Error, cancelling: Bool) -> TransferActions {
        if isFollowedRedirect { contentFailure = error }
        return end(contentFailure == nil ? .failure(error) : .success(()), cancelling: cancelling)
    }

    private mutating func end(_ result: Result<Void, any Error>, cancelling: Bool) -> TransferActions {
        guard !isOver else { return TransferActions() }
        var actions = TransferActions()
        if case .buffering(let head) = phase {
            let content = contentFailure.map(Answer.Content.failed) ?? .gathered(content)
            actions.answer = takeCaller(result.map { Answer(head: head, content: content, timings: timings) })
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
    /// The response as the caller of a transfer gets it.
    struct Answer: Sendable {
        enum Content: Sendable {
            case gathered(Data)
            case streamed
            case failed(any Error)
        }

        let head: ResponseHead
        let content: Content
        let timings: TransferTimings?
    }

    static func truncated(_ count: Int64, of length: Int64, _ request: HTTPRequest) -> TransportError {
        TransportError(.truncated, "The response ended after \(count) of \(length) bytes.", request: request)
    }

    private static func begunAnew(_ request: HTTPRequest) -> TransportError {
        let message =
            "A second head came within the response: URLSession has begun it anew, or it is multipart/x-mixed-replace,"
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

/// The actions that a change of a ``TransferState`` asks for, to be done when its lock is free.
struct TransferActions: Sendable {
    var answer: (TransferState.Caller, Result<TransferState.Answer, any Error>)?
    var delivery: ChunkBuffer.Delivery?
    /// Whether the task is to be made to wait, or to go on: see ``TransferState/flow``.
    var flowHasChanged = false
    var cancelled: URLSessionTask?
    var helpers: [Task<Void, Never>] = []
}
