/// The mutable state of a ``StubTransport``. A state machine: mutate it under the lock.
struct StubState {
    /// One registered stub.
    struct Stub: Sendable {
        fileprivate(set) var id = 0
        /// The requests that the stub is for, or `nil` if a closure decides.
        let scope: StubScope?
        let location: CodeLocation
        let matches: @Sendable (HTTPRequest) -> Bool
        let answer: StubAnswer
        let times: Int?
        var used = 0
        /// The stub with the same scope that was registered later.
        var replacement: CodeLocation?

        var isExhausted: Bool { replacement != nil || times.map { used >= $0 } ?? false }
        var isUnused: Bool { replacement == nil && used < (times ?? 1) }

        var use: String {
            if let replacement { return "replaced at \(replacement)" }
            return times.map { "used \(used) of \($0) times" } ?? "used \(used) times"
        }

        var name: String { "\(scope?.description ?? "a closure"): \(answer.summary)" }
    }

    /// A request that has arrived, with its stub's location once a stub answers.
    struct Exchange {
        let request: HTTPRequest
        var location: CodeLocation?

        func problem(_ text: String) -> String {
            let url = Redaction.standard.string(for: request.url)
            return "\(request.method) \(url): \(text)" + (location.map { " (\($0))" } ?? "")
        }
    }

    /// Whether requests are kept after they were answered, with their content.
    var keepsRequests = true
    private(set) var requests: [HTTPRequest] = []
    private(set) var stubs: [Stub] = []
    /// Requests without a response yet.
    private var waiting: [Int: Exchange] = [:]
    private var openBodies: [Int: Exchange] = [:]
    private var queue: ArraySlice<(answer: StubAnswer, location: CodeLocation)> = []
    private var dequeued = 0
    /// Called for each request that arrives, by the number of the task that waits.
    var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
    private var lastID = 0

    mutating func nextID() -> Int {
        lastID += 1
        return lastID
    }

    /// Registers a stub. A stub without a limit replaces an earlier one for the same requests.
    mutating func add(_ stub: Stub) {
        if let scope = stub.scope, stub.times == nil {
            for index in stubs.indices where stubs[index].times == nil && stubs[index].replacement == nil {
                guard let earlier = stubs[index].scope, earlier.covers(scope), scope.covers(earlier) else { continue }
                stubs[index].replacement = stub.location
            }
        }
        stubs.append(stub)
        stubs[stubs.count - 1].id = nextID()
    }

    mutating func enqueue(_ answers: [StubAnswer], _ location: CodeLocation) { queue += answers.map { ($0, location) } }
}

extension StubState {
    /// Notes a request whose body is read next.
    mutating func begin(_ request: HTTPRequest) -> Int {
        let id = nextID()
        waiting[id] = Exchange(request: request)
        return id
    }

    mutating func end(_ id: Int) { waiting[id] = nil }

    mutating func record(_ request: HTTPRequest) {
        if keepsRequests { requests.append(request) }
    }

    /// The stubs that may answer: limited ones, oldest first, and unlimited ones, newest first.
    var candidates: (limited: [Stub], unlimited: [Stub]) {
        let open = stubs.filter { !$0.isExhausted }
        return (open.filter { $0.times != nil }, open.filter { $0.times == nil }.reversed())
    }

    /// Uses a stub for one request. Returns `false` if other requests have used it up in the meantime.
    mutating func claim(_ id: Int, for exchange: Int) -> Bool {
        // If a stub was replaced after a request chose it, the stub still answers that request.
        guard let index = stubs.firstIndex(where: { $0.id == id }) else { return false }
        if let times = stubs[index].times, stubs[index].used >= times { return false }
        stubs[index].used += 1
        waiting[exchange]?.location = stubs[index].location
        return true
    }

    mutating func dequeue(for exchange: Int) -> StubAnswer? {
        guard let next = queue.popFirst() else { return nil }
        dequeued += 1
        waiting[exchange]?.location = next.location
        return next.answer
    }

    /// Notes the streamed body of a waiting request.
    mutating func openBody(of exchange: Int) { openBodies[exchange] = waiting[exchange] }

    mutating func closeBody(of exchange: Int) { openBodies[exchange] = nil }

    var openBodyCount: Int { openBodies.count }
}

extension StubState {
    /// One line for each stub, and one for the queue if it has run empty.
    var offer: [String] {
        let count = dequeued == 1 ? "1 answer" : "\(dequeued) answers"
        let queued = queue.isEmpty && dequeued > 0 ? ["the queue: empty after \(count)"] : []
        return stubs.map { "\($0.name) (\($0.use), \($0.location))" } + queued
    }

    /// The problems that a test probably overlooked, collected at its end.
    var problems: [String] {
        let unused = stubs.filter(\.isUnused).map { "\($0.name): \($0.use) (\($0.location))" }
        let queued = queue.map { "queued \($0.answer.summary): not used (\($0.location))" }
        let waiting = waiting.sorted { $0.key < $1.key }.map { $0.value.problem("has no response yet") }
        let open = openBodies.sorted { $0.key < $1.key }.map {
            $0.value.problem("its streamed response was neither read to the end nor discarded")
        }
        return unused + queued + waiting + open
    }
}
