internal import Foundation
internal import Synchronization

/// The running server. Its threads retain the core rather than ``MockServer``, so that the server can be released while they
/// run.
final class ServerCore: Sendable {
    /// The server's threads: those at work, and those that have ended and must be joined.
    private struct Threads {
        var accepting: ServerThread?
        var working: [Int: ServerThread] = [:]
        var ended: [ServerThread] = []

        mutating func takeEnded() -> [ServerThread] {
            defer { ended = [] }
            return ended
        }

        mutating func takeAll() -> [ServerThread] {
            defer { self = Threads() }
            return Array(working.values) + ended
        }
    }

    let clock: any Clock<Duration>
    let limits: MockServer.Limits
    let port: UInt16
    private let makeStream: @Sendable (Int32) -> any ByteStream
    private let listener: Int32
    private let stopping: WakePipe
    let state = Watched(ServerState())
    private let threads = Mutex(Threads())
    // Held while the server stops, so that a concurrent second call also returns only after the stop.
    private let isStopped = Mutex(false)

    init(
        clock: any Clock<Duration>,
        limits: MockServer.Limits = MockServer.Limits(),
        port: UInt16 = 0,
        makeStream: @escaping @Sendable (Int32) -> any ByteStream
    ) throws {
        self.clock = clock
        self.limits = limits
        self.makeStream = makeStream
        stopping = try WakePipe()
        do {
            (listener, self.port) = try Descriptors.listen(on: port)
        } catch {
            stopping.close()
            throw error
        }
    }

    func start() throws {
        let thread = ServerThread(named: threadName) { self.acceptConnections() }
        guard let thread else {
            stop()
            throw MockServerError("start a thread", code: EAGAIN)
        }
        threads.withLock { $0.accepting = thread }
    }

    private var threadName: String { "mock:\(port)" }

    func stop() {
        isStopped.withLock { isStopped in
            guard !isStopped else { return }
            isStopped = true
            state.change { $0.isStopped = true }
            stopping.signal()
            threads.withLock(\.accepting)?.join()
            Descriptors.close(listener)
            for thread in threads.withLock({ $0.takeAll() }) { thread.join() }
            stopping.close()
        }
        // Drops the routes, because a route that captures the server would otherwise keep both alive.
        let dropped = state.change { state in
            defer { (state.routes, state.fallback) = ([], nil) }
            return (state.routes, state.fallback)
        }
        withExtendedLifetime(dropped) {}
    }

    /// Whether the server has been told to stop. Unlike polling `stopDescriptor`, this needs no system call.
    var hasStopped: Bool { state.read(\.isStopped) }

    /// Becomes readable when the server is told to stop.
    var stopDescriptor: Int32 { stopping.reading }

    /// Waits until the condition holds, the server has stopped, or the task is cancelled.
    func wait(until isDone: @escaping @Sendable (ServerState) -> Bool) async {
        await state.first { $0.isStopped || isDone($0) ? true : nil }
    }

    func closeConnections() {
        for control in state.read({ Array($0.connections.values) }) { control.drop() }
    }
}

extension ServerCore {
    private func acceptConnections() {
        var entries = [
            pollfd(fd: stopDescriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
        ]
        var accepted = 0
        while true {
            Descriptors.wait(&entries)
            if entries[0].revents != 0 { return }
            for thread in threads.withLock({ $0.takeEnded() }) { thread.join() }
            if let descriptor = Descriptors.accept(on: listener) {
                accepted += 1
                serve(descriptor, as: accepted)
            } else if !Descriptors.acceptMayBeTriedAgain {
                // Out of descriptors or memory: the listener stays readable, so wait instead of spinning.
                entries[1].fd = -1
                Descriptors.wait(&entries, milliseconds: 10)
                entries[1].fd = listener
                if entries[0].revents != 0 { return }
            }
        }
    }

    private func serve(_ descriptor: Int32, as id: Int) {
        guard let wake = try? WakePipe() else { return Descriptors.close(descriptor) }
        // Under the lock, so that the thread can't end before `working` contains it.
        let isServed = threads.withLock { threads in
            threads.working[id] = ServerThread(named: threadName) {
                self.run(id, ConnectionControl(wake: wake), descriptor)
            }
            return threads.working[id] != nil
        }
        if isServed { return }
        Descriptors.close(descriptor)
        wake.close()
    }

    private func run(_ id: Int, _ control: ConnectionControl, _ descriptor: Int32) {
        state.change { state in
            state.opened += 1
            state.connections[id] = control
        }
        let connection = ServerConnection(id: id, server: self, control: control, stream: makeStream(descriptor))
        let isClosedByPeer = connection.run()
        // Closed before the state changes, so that anybody who sees the connection gone also finds its descriptors closed.
        control.wake.close()
        state.change { state in
            state.connections[id] = nil
            if isClosedByPeer { state.closedByPeer += 1 }
        }
        threads.withLock { threads in
            if let thread = threads.working.removeValue(forKey: id) { threads.ended.append(thread) }
        }
    }
}

/// The state shared by a server's threads and its users.
struct ServerState: Sendable {
    var routes: [Route] = []
    var queue: [StubAnswer] = []
    /// Answers what no route and no queued response answers.
    var fallback: (@Sendable (MockServer.Request) async -> StubAnswer)?
    /// Answers what no route and no queued response answers, and sees the head before the content is read.
    var admit: (@Sendable (MockServer.Request) -> MockServer.Intake)?
    private(set) var requests: [MockServer.Request] = []
    /// Whether received requests are kept. A program that serves for days keeps none.
    var keepsRequests = true
    /// The number of accepted connections.
    var opened = 0
    /// The number of connections that clients have ended.
    var closedByPeer = 0
    /// The open connections, with the controls of their threads.
    var connections: [Int: ConnectionControl] = [:]
    var isStopped = false
    private var queueTaken = 0

    mutating func note(_ request: MockServer.Request) { if keepsRequests { requests.append(request) } }

    /// The route that answers a request: the most specific matching route, or else the newest.
    func route(for request: MockServer.Request) -> Route? {
        StubScope.mostSpecific(of: routes.reversed().filter { $0.matches(request) }, scope: \.scope)
    }

    /// Notes a request, and returns its answer: that of its route, the next of the queue, the fallback's, or a 404 that lists the
    /// routes.
    mutating func answer(to request: MockServer.Request, by route: Route?) -> Route.Answer {
        note(request)
        if let route { return route.answer }
        guard queue.isEmpty else {
            queueTaken += 1
            return .response(queue.removeFirst())
        }
        if let fallback { return .closure(fallback) }
        let offered =
            routes.isEmpty ? "There are no routes." : "No route takes it:\n" + routes.map { "  \($0)\n" }.joined()
        let hint = StubScope.hint(for: request.method, request.target, among: routes.map(\.scope))
        let text = """
            No answer for \(request).\(hint.map { " " + $0 } ?? "")
            \(offered)
            The queue is empty; \(queueTaken) of its answers were taken.

            """
        return .response(.text(text, status: 404))
    }
}

/// An answer for requests with a given method, or any method, whose targets match a pattern.
struct Route: Sendable {
    enum Answer: Sendable {
        /// A fixed response, which the connection's thread sends without a task.
        case response(StubAnswer)
        case closure(@Sendable (MockServer.Request) async throws -> StubAnswer)
    }

    let scope: StubScope
    let readsBody: Bool
    let answer: Answer
    let location: CodeLocation

    func matches(_ request: MockServer.Request) -> Bool { scope.matches(request.method, request.target) }
}

extension Route: CustomStringConvertible {
    var description: String { "\(scope) (\(location))" }
}

/// A thread of the server. A thread may block, which a task must not, and can be joined.
///
/// `@unchecked Sendable` because `pthread_t` is a pointer on Darwin. The pointer only names the thread. Only the caller that
/// removes the value from the server's state joins the thread.
struct ServerThread: @unchecked Sendable {
    private let handle: pthread_t

    private final class Work {
        let run: () -> Void

        init(_ run: @escaping () -> Void) { self.run = run }
    }

    /// Starts a thread. Returns `nil` if the system has none left.
    ///
    /// - Parameter name: the name shown in a debugger. Linux keeps its first 15 bytes.
    init?(named name: String, _ run: @escaping @Sendable () -> Void) {
        let named = {
            Thread.current.name = name
            run()
        }
        let work = Unmanaged.passRetained(Work(named))
        let started = Self.started {
            pthread_create($0, nil, { argument in ServerThread.run(argument) }, work.toOpaque())
        }
        guard let started else {
            work.release()
            return nil
        }
        handle = started
    }

    /// Waits until the thread has ended. Call it once. On the thread itself, it detaches instead.
    func join() {
        if pthread_equal(handle, pthread_self()) != 0 {
            pthread_detach(handle)
        } else {
            pthread_join(handle, nil)
        }
    }

    // The handle's type is inferred, because pthread_create fills an optional on Darwin and a non-optional elsewhere.
    private static func started<Handle>(_ create: (UnsafeMutablePointer<Handle>) -> Int32) -> pthread_t? {
        let handle = UnsafeMutablePointer<Handle>.allocate(capacity: 1)
        defer { handle.deallocate() }
        return create(handle) == 0 ? handle.pointee as? pthread_t : nil
    }

    private static func run(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().run() }
        return nil
    }
}
