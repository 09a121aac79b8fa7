internal import Foundation
internal import InterceptorsCore
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
        limits: MockServer.Limits,
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
