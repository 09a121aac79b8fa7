internal import Foundation
internal import Synchronization

/// The rest of the chain in a check: a transport that answers as a rule says, and records what arrives.
final class ScriptedServer: Transport {
    /// A request that arrived.
    struct Arrival: Sendable {
        let number: Int
        var request: HTTPRequest
        /// Whether the body could be read when the request arrived.
        let isReadable: Bool
        /// The caller's task-local value.
        let taskLocal: Int
        let sharedBy: String?
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

    /// Answers all later requests as usual, when they have passed a new gate.
    func answerBehindGate() -> Gate {
        let gate = Gate()
        answer { arrival, server in
            try await gate.pass()
            return server.usual(arrival.request)
        }
        return gate
    }

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
                taskLocal: CallerValue.number,
                sharedBy: request.context.sharedBy
            )
            // Kept without what would keep the call's own objects alive.
            var kept = arrival
            kept.request.context = HTTPContext()
            kept.request.context.mark = request.context.mark
            state.arrivals.append(kept)
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
        stream: ScriptedStream? = nil
    ) -> HTTPResponse {
        var all: HTTPFields = [
            .contentType: "application/json", .contentLength: String(content.count),
            Self.markField: String(request.context.mark), Self.pathField: request.url.path,
        ]
        for field in fields { all.append(field) }
        var response = HTTPResponse(status: status, headers: all, body: HTTPBody(content), url: request.url)
        response.context.mark = request.context.mark
        if stream != nil || request.context.responseBody == .streamed {
            let stream = stream ?? ScriptedStream(content, in: 3)
            state.withLock { state in
                state.streams.append(stream)
                state.arrivalsAtLastStream = state.arrivals.count
            }
            response.body = stream.body()
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

    /// A number by which a check recognises a context, and a simulation its call; 0 for any other.
    var mark: Int {
        get { self[MarkKey.self] }
        set { self[MarkKey.self] = newValue }
    }
}

/// Lets tasks wait until a rule opens it.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [Waiter<Bool>] = []
    }

    private let state = Mutex(State())

    var waiting: Int { state.withLock(\.waiting.count) }

    /// Waits until the gate is open. Throws `CancellationError` at once when the task is cancelled.
    func pass() async throws {
        try Task.checkCancellation()
        let waiter = Waiter<Bool>()
        let isOpen = state.withLock { state in
            if !state.isOpen { state.waiting.append(waiter) }
            return state.isOpen
        }
        if isOpen { return }
        let isLet = await waiter.outcome { [self] _ in
            let waiting = state.withLock { state in
                let index = state.waiting.firstIndex { $0 === waiter }
                return index.map { state.waiting.remove(at: $0) }
            }
            waiting?.resume(with: false)
        }
        if !isLet { throw CancellationError() }
    }

    /// Lets all pass, from now on.
    func open() {
        state.withLock { $0.isOpen = true }
        while letOnePass() {}
    }

    /// Lets the task pass that waits longest; returns `false` if none waits.
    func letOnePass() -> Bool {
        let first = state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
        first?.resume(with: true)
        return first != nil
    }
}
