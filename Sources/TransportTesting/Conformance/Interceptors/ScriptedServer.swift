internal import Foundation
internal import Interceptors
internal import Synchronization

/// The rest of the chain in a check: a transport that answers as a rule says, and records what arrives.
final class ScriptedServer: Transport {
    /// A request that arrived.
    struct Arrival: Sendable {
        let number: Int
        let request: HTTPRequest
        /// Whether the body could be read when the request arrived.
        let isReadable: Bool
        /// What the caller's task-local value was.
        let taskLocal: Int
    }

    typealias Answer = @Sendable (Arrival, ScriptedServer) async throws -> HTTPResponse

    private struct State {
        var arrivals: [Arrival] = []
        var running = 0
        var streams: [ScriptedStream] = []
        /// The number of requests that had arrived when the last stream was made.
        var arrivalsAtLastStream = 0
        var answer: Answer
    }

    /// The mark of the request that a response answers; 0 if an interceptor has lost it.
    static let markField: HTTPField.Name = "X-Answered-Mark"
    /// The path of the request that a response answers.
    static let pathField: HTTPField.Name = "X-Answered-Path"

    private let state: Mutex<State>
    let content: Data

    init(content: Data) {
        self.content = content
        state = Mutex(State { arrival, server in server.usual(arrival.request) })
    }

    /// Answers all later requests as the closure says.
    func answer(_ answer: @escaping Answer) { state.withLock { $0.answer = answer } }

    var arrivals: [Arrival] { state.withLock(\.arrivals) }
    /// The number of exchanges that haven't ended.
    var running: Int { state.withLock(\.running) }
    /// The streams that somebody must still read or discard.
    var openStreams: [ScriptedStream] { state.withLock(\.streams).filter { !$0.isClosed } }
    /// Whether the last exchange has returned a stream that somebody must still read or discard.
    var isLastStreamOpen: Bool {
        state.withLock { state in
            guard let stream = state.streams.last, !stream.isClosed else { return false }
            return state.arrivalsAtLastStream == state.arrivals.count
        }
    }

    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        let request = request
        let (arrival, answer) = state.withLock { state in
            let arrival = Arrival(
                number: state.arrivals.count + 1,
                request: request,
                isReadable: request.body.isReadable,
                taskLocal: CallerValue.number
            )
            // Kept without what would keep the call's own objects alive.
            var kept = request
            kept.context = HTTPContext()
            state.arrivals.append(
                Arrival(
                    number: arrival.number,
                    request: kept,
                    isReadable: arrival.isReadable,
                    taskLocal: arrival.taskLocal
                )
            )
            state.running += 1
            return (arrival, state.answer)
        }
        defer { state.withLock { $0.running -= 1 } }
        try Task.checkCancellation()
        return try await answer(arrival, self)
    }

    /// A response with the usual content, buffered or streamed as the request asks.
    func usual(
        _ request: HTTPRequest,
        _ status: HTTPResponse.Status = 200,
        fields: HTTPFields = [:],
        chunks: Int = 3,
        gate: Gate? = nil,
        error: (any Error)? = nil
    ) -> HTTPResponse {
        var all: HTTPFields = [
            .contentType: "application/json", .contentLength: String(content.count),
            Self.markField: String(request.context.mark), Self.pathField: request.url.path,
        ]
        for field in fields { all.append(field) }
        var response = HTTPResponse(status: status, headerFields: all, body: HTTPBody(content), url: request.url)
        response.context.mark = request.context.mark
        if request.context.responseBody == .streamed {
            let stream = ScriptedStream(ScriptedStream.parts(of: content, count: chunks), gate: gate, error: error)
            state.withLock { state in
                state.streams.append(stream)
                state.arrivalsAtLastStream = state.arrivals.count
            }
            response.body = stream.body(length: error == nil ? Int64(content.count) : nil)
        }
        return response
    }
}

/// A value that a caller's task has.
enum CallerValue {
    @TaskLocal static var number = 0
    /// An object that lives as long as a task that the call started.
    @TaskLocal static var probe: CallProbe?
}

final class CallProbe: Sendable {}

extension HTTPContext {
    private enum MarkKey: HTTPContextKey { static var defaultValue: Int { 0 } }

    /// A number by which a check recognises a context.
    var mark: Int {
        get { self[MarkKey.self] }
        set { self[MarkKey.self] = newValue }
    }
}

/// Lets tasks wait until a rule opens it.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var lastID = 0
        var waiting: [(id: Int, continuation: CheckedContinuation<Void, any Error>)] = []
        var cancelled: Set<Int> = []
        var passes = 0
    }

    private let state = Mutex(State())

    var waiting: Int { state.withLock(\.waiting.count) }

    /// Waits until the gate is open. Throws `CancellationError` at once when the task is cancelled.
    func pass() async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
                    if state.isOpen { return .success(()) }
                    state.waiting.append((id, continuation))
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                guard let index = state.waiting.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return nil as CheckedContinuation<Void, any Error>?
                }
                return state.waiting.remove(at: index).continuation
            }
            waiter?.resume(throwing: CancellationError())
        }
    }

    /// Lets all pass, from now on.
    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.continuation.resume() }
    }

    /// Lets the task pass that waits longest; returns `false` if none waits.
    func letOnePass() -> Bool {
        let first = state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
        first?.continuation.resume()
        return first != nil
    }
}

/// A body that records how it is read.
final class ScriptedStream: Sendable {
    private struct State {
        var pulls = 0
        var isClosed = false
        var isMade = false
        var holders = 0
    }

    private let chunks: [Data]
    private let gate: Gate?
    private let gatedFrom: Int
    private let error: (any Error)?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - gate: must be open for the chunks from `gatedFrom` on, and for the end.
    ///   - error: the end of the stream.
    init(_ chunks: [Data], gate: Gate? = nil, gatedFrom: Int = 0, error: (any Error)? = nil) {
        self.chunks = chunks
        self.gate = gate
        self.gatedFrom = gatedFrom
        self.error = error
    }

    /// The number of chunks that were asked for.
    var pulls: Int { state.withLock(\.pulls) }
    /// Whether the stream was read to its end or discarded, or its reader was cancelled.
    var isClosed: Bool { state.withLock(\.isClosed) }

    /// Whether there was a body of the stream.
    var isMade: Bool { state.withLock(\.isMade) }
    /// Whether a body of the stream, or its reader, is still in memory.
    var isHeld: Bool { state.withLock { $0.holders > 0 } }

    func body(length: Int64? = nil) -> HTTPBody {
        .oneShot(Chunks(stream: self, holder: Holder(self)), length: length, onDiscard: { [self] in close() })
    }

    /// Lives as long as a body of the stream or its reader.
    private final class Holder: Sendable {
        private let stream: ScriptedStream

        init(_ stream: ScriptedStream) {
            self.stream = stream
            stream.state.withLock { state in
                state.isMade = true
                state.holders += 1
            }
        }

        deinit { stream.state.withLock { $0.holders -= 1 } }
    }

    private func close() { state.withLock { $0.isClosed = true } }

    private func next() async throws -> Data? {
        let index = state.withLock { state in
            state.pulls += 1
            return state.pulls - 1
        }
        do {
            if index >= gatedFrom { try await gate?.pass() }
            try Task.checkCancellation()
        } catch {
            close()
            throw error
        }
        if index < chunks.count { return chunks[index] }
        close()
        if let error { throw error }
        return nil
    }

    /// Content in a number of parts that are nearly equally long.
    static func parts(of content: Data, count: Int) -> [Data] {
        (0..<count).map { content[content.count * $0 / count..<content.count * ($0 + 1) / count] }.map { Data($0) }
    }

    private struct Chunks: AsyncSequence, Sendable {
        let stream: ScriptedStream
        let holder: Holder
        func makeAsyncIterator() -> Iterator { Iterator(stream: stream, holder: holder) }

        struct Iterator: AsyncIteratorProtocol {
            let stream: ScriptedStream
            let holder: Holder
            mutating func next() async throws -> Data? { try await stream.next() }
        }
    }
}
