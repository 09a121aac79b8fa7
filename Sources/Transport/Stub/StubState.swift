/// The mutable state of a ``StubTransport``. A state machine: mutate it under the lock, and resume the returned watchers
/// outside.
struct StubState {
    /// One registered stub.
    struct Stub: Sendable {
        let id: Int
        let name: String
        let place: String
        let matches: @Sendable (HTTPRequest) -> Bool
        let answer: StubAnswer
        let times: Int?
        var used = 0

        var isExhausted: Bool { times.map { used >= $0 } ?? false }
        var isUnused: Bool { used < (times ?? 1) }

        var description: String {
            let use = times.map { "used \(used) of \($0) times" } ?? "used \(used) times"
            return "\(name): \(answer.summary) (\(use), \(place))"
        }
    }

    private struct Queued {
        let answer: StubAnswer
        let place: String
    }

    struct Watcher {
        let id: Int
        let count: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    private(set) var requests: [HTTPRequest] = []
    private(set) var stubs: [Stub] = []
    private(set) var openBodies: Set<Int> = []
    private var queue: ArraySlice<Queued> = []
    private var dequeued = 0
    private var watchers: [Watcher] = []
    /// Watchers whose task was cancelled before they were added, or after they were removed.
    private var cancelledWatchers: Set<Int> = []
    private var lastID = 0

    mutating func nextID() -> Int {
        lastID += 1
        return lastID
    }

    mutating func add(
        _ name: String,
        _ place: String,
        times: Int?,
        answer: StubAnswer,
        matches: @escaping @Sendable (HTTPRequest) -> Bool
    ) {
        stubs.append(
            Stub(id: nextID(), name: name, place: place, matches: matches, answer: answer, times: times)
        )
    }

    mutating func enqueue(_ answers: [StubAnswer], place: String) {
        queue += answers.map { Queued(answer: $0, place: place) }
    }

    /// Records a request, and returns the watchers to resume.
    mutating func record(_ request: HTTPRequest) -> [Watcher] {
        requests.append(request)
        let due = watchers.filter { $0.count <= requests.count }
        watchers.removeAll { $0.count <= requests.count }
        return due
    }

    /// The stubs in matching order: limited stubs, oldest first, then unlimited stubs, newest first.
    var candidates: [Stub] {
        let open = stubs.filter { !$0.isExhausted }
        return open.filter { $0.times != nil } + open.filter { $0.times == nil }.reversed()
    }

    /// Uses a stub for one request. Returns `false` if other requests have used it up in the meantime.
    mutating func claim(_ id: Int) -> Bool {
        guard let index = stubs.firstIndex(where: { $0.id == id }), !stubs[index].isExhausted else { return false }
        stubs[index].used += 1
        return true
    }

    mutating func dequeue() -> StubAnswer? {
        guard let next = queue.popFirst() else { return nil }
        dequeued += 1
        return next.answer
    }

    mutating func openBody() -> Int {
        let id = nextID()
        openBodies.insert(id)
        return id
    }

    mutating func closeBody(_ id: Int) { openBodies.remove(id) }

    /// Adds a watcher. Returns `false` if it was cancelled or its requests have already arrived, so the caller resumes it at
    /// once.
    mutating func add(_ watcher: Watcher) -> Bool {
        if cancelledWatchers.remove(watcher.id) != nil || requests.count >= watcher.count { return false }
        watchers.append(watcher)
        return true
    }

    mutating func cancelWatcher(_ id: Int) -> Watcher? {
        guard let index = watchers.firstIndex(where: { $0.id == id }) else {
            cancelledWatchers.insert(id)
            return nil
        }
        return watchers.remove(at: index)
    }

    mutating func forgetWatcher(_ id: Int) { cancelledWatchers.remove(id) }

    /// One line for each stub, and one for the queue if it has run empty.
    var offer: [String] {
        let count = dequeued == 1 ? "1 answer" : "\(dequeued) answers"
        let queued = queue.isEmpty && dequeued > 0 ? ["the queue: empty after \(count)"] : []
        return stubs.map(\.description) + queued
    }

    /// One line for each stub or queued answer that was used less often than registered.
    var unused: [String] {
        stubs.filter(\.isUnused).map(\.description)
            + queue.map { "queued: \($0.answer.summary) (\($0.place))" }
    }
}
