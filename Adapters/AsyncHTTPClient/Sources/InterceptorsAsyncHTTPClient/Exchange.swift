internal import AsyncHTTPClient
internal import Foundation
internal import Interceptors
internal import NIOCore
internal import NIOFoundationCompat
internal import Synchronization

/// One call: a task that sends the request and passes on the response, and a task that watches the time limits.
///
/// The first end counts: the last byte, a failure, a limit, a cancellation or a discarded body. It resumes whoever waits, at once,
/// and cancels both tasks.
final class Exchange: Sendable {
    private struct State {
        var limits: TimeLimits
        var head: ResponseHead?
        /// A chunk that waits for its reader.
        var chunk: Data?
        var received: Int64 = 0
        var end: Result<Void, any Error>?
        var tasks: [Task<Void, Never>] = []
        var upload: Upload?

        var caller: CheckedContinuation<ResponseHead, any Error>?
        var reader: CheckedContinuation<Data?, any Error>?
        /// The sending task, which waits until the reader has taken the chunk.
        var producer: CheckedContinuation<Bool, Never>?
    }

    private let request: HTTPRequest
    private let engine: Engine
    private let clock: any Clock<Duration>
    private let elapsed: @Sendable () -> Duration
    private let state: Mutex<State>

    init(_ request: HTTPRequest, _ engine: Engine, _ timeouts: Timeouts, _ time: TimeSource) {
        self.request = request
        self.engine = engine
        clock = time.clock
        elapsed = time.startMeasuring()
        state = Mutex(State(limits: TimeLimits(timeouts)))
    }

    func start() {
        attach(Task { await run() })
        if state.withLock({ $0.limits.hasAny }) { attach(Task { await watch() }) }
    }

    private func attach(_ task: Task<Void, Never>) {
        let hasEnded = state.withLock { state in
            if state.end == nil { state.tasks.append(task) }
            return state.end != nil
        }
        if hasEnded { task.cancel() }
    }

    // MARK: The caller and the reader

    /// The head of the response, when it arrives.
    func head() async throws -> ResponseHead {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Result<ResponseHead, any Error>? = state.withLock { state in
                    if let head = state.head { return .success(head) }
                    if case .failure(let error) = state.end { return .failure(error) }
                    state.caller = continuation
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            end(.failure(CancellationError()))
        }
    }

    /// The next chunk of the response; `nil` at its end.
    func next() async throws -> Data? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (outcome, producer) = state.withLock { state in take(from: &state, or: continuation) }
                producer?.resume(returning: true)
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            end(.failure(CancellationError()))
        }
    }

    private func take(
        from state: inout State,
        or reader: CheckedContinuation<Data?, any Error>
    ) -> (Result<Data?, any Error>?, CheckedContinuation<Bool, Never>?) {
        if let chunk = state.chunk {
            state.chunk = nil
            if state.producer != nil { state.limits.note(at: elapsed()) }
            defer { state.producer = nil }
            return (.success(chunk), state.producer)
        }
        if let end = state.end { return (end.map { nil }, nil) }
        state.reader = reader
        return (nil, nil)
    }

    /// Ends the exchange, unless it has ended.
    func end(_ result: Result<Void, any Error>) {
        let ended: State? = state.withLock { state in
            guard state.end == nil else { return nil }
            let before = state
            state.end = result
            if case .failure(is CancellationError) = result { state.chunk = nil }
            (state.caller, state.reader, state.producer, state.tasks, state.upload) = (nil, nil, nil, [], nil)
            return before
        }
        guard let ended else { return }
        for task in ended.tasks { task.cancel() }
        ended.upload?.end()
        if case .failure(let error) = result { ended.caller?.resume(throwing: error) }
        ended.reader?.resume(with: result.map { nil })
        ended.producer?.resume(returning: false)
    }

    // MARK: The sending task

    private func run() async {
        do {
            try await Upload.checkEmptySource(request.body)
            var resends = 0
            while try await !attempt(isLast: resends == Self.mostResends) { resends += 1 }
            end(.success(()))
        } catch {
            let (hasHead, upload) = state.withLock { ($0.head != nil, $0.upload) }
            end(.failure(Failure.error(error, hasHead: hasHead, upload?.failure, request)))
        }
    }

    /// As many kept-alive connections may have been closed at once.
    private static let mostResends = 5

    /// Sends the request and passes on the response. Returns `false` if the request should be sent again.
    private func attempt(isLast: Bool) async throws -> Bool {
        let upload = Upload(request) { [weak self] in self?.note() }
        guard
            state.withLock({ state in
                if state.end == nil { state.upload = upload }
                return state.end == nil
            })
        else { return true }
        let connection = ConnectionWatch(engine.usedConnections) { [weak self] in self?.note() }
        do {
            let outgoing = HTTPClientRequest(request, upload)
            let response = try await engine.client.execute(
                outgoing,
                deadline: .distantFuture,
                logger: connection.logger
            )
            receive(ResponseHead(response))
            for try await buffer in response.body where buffer.readableBytes > 0 {
                guard await offer(Data(buffer: buffer)) else { return true }
            }
            return true
        } catch {
            guard !isLast, connection.isReused || connection.refused(with: error),
                state.withLock({ $0.head == nil && $0.end == nil }),
                upload.failure == nil, Failure.isLostConnection(error), request.canBeSentAgain
            else { throw error }
            return false
        }
    }

    /// Notes that a connection exists and that bytes moved.
    private func note() { state.withLock { $0.limits.note(at: elapsed()) } }

    private func receive(_ head: ResponseHead) {
        let caller = state.withLock { state in
            state.limits.note(at: elapsed())
            state.head = head
            defer { state.caller = nil }
            return state.caller
        }
        caller?.resume(returning: head)
    }

    /// Gives a chunk to the reader, and waits while an earlier one waits for it. Returns `false` if nobody wants more.
    private func offer(_ chunk: Data) async -> Bool {
        let received = state.withLock { state in
            state.received += Int64(chunk.count)
            state.limits.note(at: elapsed())
            return (state.received, state.head?.contentLength(answering: request.method))
        }
        request.context.downloadProgress?(TransferProgress(completed: received.0, total: received.1))
        guard await hasRoom() else { return false }
        let (reader, hasEnded) = state.withLock { state in
            guard state.end == nil else { return (nil as CheckedContinuation<Data?, any Error>?, true) }
            guard let reader = state.reader else {
                state.chunk = chunk
                return (nil, false)
            }
            state.reader = nil
            return (reader, false)
        }
        reader?.resume(returning: chunk)
        return !hasEnded
    }

    private func hasRoom() async -> Bool {
        await withCheckedContinuation { continuation in
            let answer: Bool? = state.withLock { state in
                if state.end != nil { return false }
                if state.chunk == nil { return true }
                state.producer = continuation
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    // MARK: The watching task

    private func watch() async {
        while true {
            let now = elapsed()
            let check = state.withLock { $0.limits.check(at: now, isPaused: $0.producer != nil) }
            switch check {
            case .passed(let message): return end(.failure(TransportError(.timedOut, message, request: request)))
            case .wait(let duration): do { try await clock.sleep(for: duration) } catch { return }
            }
        }
    }
}

/// The content of a response. When no copy and no iterator is left, the exchange ends.
struct ResponseChunks: AsyncSequence, Sendable {
    fileprivate final class Owner: Sendable {
        let exchange: Exchange
        init(_ exchange: Exchange) { self.exchange = exchange }
        deinit { exchange.end(.failure(CancellationError())) }
    }

    private let owner: Owner

    init(exchange: Exchange) { owner = Owner(exchange) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let owner: Owner

        mutating func next() async throws -> Data? { try await owner.exchange.next() }
    }

    func makeAsyncIterator() -> Iterator { Iterator(owner: owner) }
}
