internal import Foundation
internal import InterceptorsInsight
internal import Synchronization

extension InterceptorConformance {
    /// One call of a check.
    final class Call: Sendable {
        private struct State {
            var task: Task<Void, Never>?
            var result: Result<HTTPResponse, any Error>?
            weak var probe: CallProbe?
        }

        let name: String
        let path: String
        private let state = Mutex(State())

        init(_ request: HTTPRequest) {
            path = request.url.path
            name = "\(request.method) \(path)"
        }

        func began(_ task: Task<Void, Never>, _ probe: CallProbe) {
            state.withLock { state in
                state.task = task
                state.probe = probe
            }
        }
        func ended(_ result: Result<HTTPResponse, any Error>) { state.withLock { $0.result = result } }

        var result: Result<HTTPResponse, any Error>? { state.withLock(\.result) }
        var hasEnded: Bool { result != nil }
        /// Whether a task that the call has started goes on.
        var hasTasks: Bool { state.withLock { $0.probe != nil } }
        func cancel() { state.withLock(\.task)?.cancel() }

        /// Throws if the content of the call had no end.
        func throwFailure() throws {
            if case .failure(let failure as RuleObservation)? = result { throw failure }
        }

        /// The response, or the error.
        func outcome() async throws -> HTTPResponse {
            await state.withLock(\.task)?.value
            return try (result ?? .failure(CancellationError())).get()
        }
    }

    /// The calls of one seed of a check, for the report of a failure.
    final class CallLog: Sendable {
        private struct State {
            var calls: [Call] = []
            /// The rule that a standstill breaks, if not the one that is checked.
            var blamed: String?
        }

        let rule: RuleText
        let seed: UInt64
        private let state = Mutex(State())

        init(rule: RuleText, seed: UInt64) {
            self.rule = rule
            self.seed = seed
        }

        func add(_ call: Call) { state.withLock { $0.calls.append(call) } }
        /// Forgets the calls up to now, so that no report counts them.
        func forgetCalls() { state.withLock { $0.calls = [] } }
        func blame(_ name: String?) { state.withLock { $0.blamed = name } }

        func failure(_ observed: String, as name: String? = nil) -> RuleFailure {
            let blamed = laws.first { $0.text.name == name }?.text
            return RuleFailure(rule: blamed ?? rule, observed: observed, seed: seed)
        }

        func failure(of standstill: RuleStandstill) -> any Error {
            let (calls, blamed) = state.withLock { ($0.calls, $0.blamed) }
            switch standstill {
            case .endless: return failure("The interceptor starts jobs or sleeps without end.", as: blamed)
            case .blockedThread:
                // On another thread, because a cancellation handler may wait for what the blocked thread holds.
                Thread.detachNewThread { for call in calls { call.cancel() } }
                return failure(
                    "The interceptor blocks its thread, or loops without end, so that no other task can go on.",
                    as: "noThreadIsBlocked"
                )
            case .stuck: break
            }
            let waiting = calls.filter { !$0.hasEnded }
            let reason = "although no thread is blocked and no sleep is left"
            guard let first = waiting.first, blamed != Self.endOfStream else {
                return failure("The reader of a body waits for ever, \(reason).", as: blamed ?? Self.endOfStream)
            }
            return failure(
                "\(waiting.count) of \(calls.count) calls wait for ever, first \(first.name), \(reason).",
                as: blamed ?? "noCallWaitsForEver"
            )
        }

        /// The rule about streams whose readers wait for ever, or read without end.
        static let endOfStream = "theEndOfAStreamArrives"

        /// Blames the interceptor's stream for a standstill while the closure reads from it.
        @discardableResult
        func whileReading<Value>(_ body: () async throws -> Value) async rethrows -> Value {
            let outer = state.withLock { state in
                defer { state.blamed = Self.endOfStream }
                return state.blamed
            }
            defer { blame(outer) }
            return try await body()
        }
    }

    /// The interceptor, the server and the time of one seed of a check.
    struct Bench: Sendable {
        let log: CallLog
        let roles: Placement
        let world: World
        let stage: RuleStage
        let content: Data
        let make: Factory
        var chain: [any Interceptor]
        var server: ScriptedServer
        /// Observes the calls.
        var journal: Journal?

        var interceptor: any Interceptor { chain[0] }

        /// The same, with a new interceptor and a new server.
        func fresh(_ answer: ScriptedServer.Answer? = nil) throws -> Bench {
            var fresh = self
            fresh.chain = [try make(world)]
            fresh.server = ScriptedServer(content: content)
            if let answer { fresh.server.answer(answer) }
            return fresh
        }
    }
}

extension InterceptorConformance.Bench {
    func request(
        _ path: String = "/things",
        _ method: HTTPRequest.Method = .get,
        scheme: String = "https",
        host: String = "api.example.com",
        fields: HTTPFields = [:],
        body: HTTPBody = .empty,
        mode: ResponseBodyMode = .buffered
    ) throws -> HTTPRequest {
        guard let url = URL(string: "\(scheme)://\(host)\(path)") else {
            throw RuleObservation("The check's path \(path) is wrong.")
        }
        var request = HTTPRequest(method: method, url: url, headers: fields, body: body)
        request.context.responseBody = mode
        return request
    }

    /// Starts a call in a task of the check.
    ///
    /// - Parameters:
    ///   - keepsResponse: whether the call holds the response when it has ended. If not, it ends with an error.
    ///   - read: reads the content, as a part of the call.
    @discardableResult
    func start(
        _ request: HTTPRequest,
        keepsResponse: Bool = true,
        reading read: @escaping @Sendable (HTTPBody) async throws -> Void = { _ in }
    ) -> InterceptorConformance.Call {
        let call = InterceptorConformance.Call(request)
        log.add(call)
        let chain = InterceptorChain(chain, transport: server, observer: journal)
        let probe = CallProbe()
        let task = CallerValue.$probe.withValue(probe) {
            Task(executorPreference: stage.queue) {
                var result = Result<HTTPResponse, any Error>.failure(CancellationError())
                do {
                    let response = try await chain.send(request)
                    try await read(response.body)
                    if keepsResponse { result = .success(response) }
                } catch {
                    result = .failure(error)
                }
                call.ended(result)
            }
        }
        call.began(task, probe)
        return call
    }

    /// Makes a call, and waits for its response or error.
    func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await start(request).outcome() }

    /// Makes a call that must get a response.
    func succeed(_ request: HTTPRequest) async throws -> HTTPResponse {
        do {
            return try await send(request)
        } catch {
            throw RuleObservation("A call that got a 200 failed: \(error).", as: "theResponseComesBack")
        }
    }
}

extension InterceptorConformance.Bench {
    /// More chunks than any content of a check has.
    private var mostChunks: Int { 100_000 + content.count }
    /// More bytes than a decoder makes of the check's content.
    private var mostBytes: Int { 64 << 20 + 64 * content.count }

    /// Reads content to its end.
    ///
    /// - Throws: the error of the content. If the content goes on and on, a failure that says so.
    @discardableResult
    func readToEnd(_ body: HTTPBody) async throws -> Data {
        var iterator = body.makeAsyncIterator()
        return try await readToEnd(&iterator)
    }

    /// As the other method, and leaves the iterator at the end.
    @discardableResult
    func readToEnd(_ iterator: inout HTTPBody.AsyncIterator) async throws -> Data {
        var (bytes, count) = (Data(), 0)
        while let chunk = try await iterator.next() {
            bytes.append(chunk)
            count += 1
            guard count > mostChunks || bytes.count > mostBytes else { continue }
            throw RuleObservation(
                "The reader got \(count) chunks with \(bytes.count) bytes, and no end.",
                as: InterceptorConformance.CallLog.endOfStream
            )
        }
        return bytes
    }

    /// Reads content to its end, or to its error. Throws only if the content has no end.
    func drain(_ body: HTTPBody) async throws {
        try await log.whileReading {
            do { try await readToEnd(body) } catch  where !(error is RuleObservation) {
                // Another rule is about the errors of streams.
            }
        }
    }

    /// Reads the content of a good response to its end.
    func read(_ response: HTTPResponse) async throws -> Data {
        try await reading { try await readToEnd(response.body) }
    }

    /// Calls a closure that reads the content of a good response.
    func reading<Value>(_ read: () async throws -> Value) async throws -> Value {
        do {
            return try await log.whileReading(read)
        } catch  where !(error is RuleObservation) {
            throw RuleObservation("Reading a good response failed: \(error).", as: "theContentComesBack")
        }
    }
}

extension InterceptorConformance.Law {
    /// Checks an interceptor, once for each seed.
    func check(
        _ roles: Placement,
        answering content: HTTPBody?,
        patience: RulePatience,
        _ make: @escaping InterceptorConformance.Factory
    ) async throws {
        let bytes = try await (content ?? InterceptorConformance.usualContent).collect(upTo: 16 << 20)
        for seed in 1...(seeds ?? 1) {
            let clock = ManualClock()
            let world = try InterceptorConformance.World(clock: clock, seed: seed)
            let log = InterceptorConformance.CallLog(rule: text, seed: seed)
            // The closure may hold the world, which holds the closure.
            defer { world.deadlines.change { $0 = nil } }
            try await RuleStage.run(seed: seed, clock: clock, patience: patience, report: log.failure) { stage in
                let bench = InterceptorConformance.Bench(
                    log: log,
                    roles: roles,
                    world: world,
                    stage: stage,
                    content: bytes,
                    make: make,
                    chain: [try make(world)],
                    server: ScriptedServer(content: bytes)
                )
                // The first call shows whether other threads take part, and pays for what is made only once.
                try? await bench.fresh().send(bench.request()).body.discard()
                log.forgetCalls()
                do {
                    try await body(bench)
                } catch let observation as RuleObservation {
                    throw log.failure(observation.description, as: observation.rule)
                }
            }
        }
    }
}

extension InterceptorConformance {
    fileprivate static let usualContent = HTTPBody(
        #"{"id":42,"name":"Ada","films":[1,2,3],"note":"\#(String(repeating: "The quick brown fox. ", count: 40))"}"#
    )
}

extension InterceptorConformance.World {
    init(clock: ManualClock, seed: UInt64) throws {
        guard let origin = URL(string: "https://api.example.com").flatMap({ Origin($0) }) else {
            throw TransportError(.unsupportedURL, "The check's URL is wrong.")
        }
        self.init(clock: clock, time: .manual(clock, seed: seed), origin: origin, secret: "world-secret-4711")
    }
}
