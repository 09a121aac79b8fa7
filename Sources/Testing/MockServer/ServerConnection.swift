internal import Foundation
internal import Synchronization

/// Commands to the thread of a connection from other threads.
final class ConnectionControl: Sendable {
    let wake: WakePipe
    private let isDropped = Atomic(false)

    init(wake: WakePipe) { self.wake = wake }

    var mustClose: Bool { isDropped.load(ordering: .acquiring) }

    /// Closes the connection, whatever its thread is doing.
    func drop() {
        isDropped.store(true, ordering: .releasing)
        wake.signal()
    }
}

/// One connection, owned by its thread. The thread blocks only in `poll`, where it waits for the client, for a command, and for
/// the server's stop.
final class ServerConnection {
    /// The reason a connection ends.
    enum Ending: Error, Equatable {
        /// The client closed or reset the connection.
        case peerGone
        /// A step closed the connection, the server stopped, or `drop()` was called.
        case closed
        case reset
        /// The server is finished, but the client may still be sending.
        case done
        /// The client sent an unacceptable request, which gets this status and reason.
        case refused(HTTPResponse.Status, _ reason: String)

        static func bad(_ reason: String) -> Self { .refused(400, reason) }
    }

    private static let readAheadLimit = 64 << 10

    let id: Int
    let server: ServerCore
    let control: ConnectionControl
    private let stream: any ByteStream
    /// Received bytes that haven't been used yet.
    var input: ArraySlice<UInt8> = []
    private var scratch = [UInt8](repeating: 0, count: 16 << 10)

    init(id: Int, server: ServerCore, control: ConnectionControl, stream: any ByteStream) {
        self.id = id
        self.server = server
        self.control = control
        self.stream = stream
    }

    /// Serves the connection until it ends.
    ///
    /// - Returns: whether the client ended the connection.
    func run() -> Bool {
        let ending = serve()
        if ending == .done { linger() }
        stream.close(byReset: ending == .reset)
        return ending == .peerGone
    }

    private func serve() -> Ending {
        var number = 1
        do {
            while try serveRequest(number: number) { number += 1 }
            return .done
        } catch .refused(let status, let reason) {
            return refuse(status, reason)
        } catch {
            return error
        }
    }

    private func refuse(_ status: HTTPResponse.Status, _ reason: String) -> Ending {
        let text = Data((reason + "\n").utf8)
        let fields: HTTPFields = [.connection: "close", .contentLength: String(text.count)]
        do { try send(MockContent.head(status, fields) + text) } catch { return error }
        return .done
    }

    /// Reads until the client has closed its side too. Closing with unread bytes would reset the connection, and the client
    /// might lose the response (RFC 9112 §9.6).
    private func linger() {
        stream.endWriting()
        do {
            while true {
                input = []
                try receive()
            }
        } catch {
            // The client has closed its side, or the server has stopped.
        }
    }
}

extension ServerConnection {
    /// Waits for bytes and appends them to `input`. May return without new bytes, so callers loop.
    func receive() throws(Ending) {
        while try !receiveAvailable() { try wait(for: Int16(POLLIN)) }
    }

    /// Sends all bytes.
    func send(_ bytes: Data) throws(Ending) {
        var sent = 0
        while sent < bytes.count {
            try checkOutside()
            let transfer = bytes.withUnsafeBytes { stream.write(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
            switch transfer {
            case .moved(let count): sent += count
            case .wait(let events): try wait(for: events)
            case .end, .failed: throw .peerGone
            }
        }
    }

    /// Runs an operation in a task and waits for its value. If the connection ends first, the task is cancelled.
    func value<Value: Sendable>(_ operation: @escaping @Sendable () async -> Value) throws(Ending) -> Value {
        let outcome = Guarded<Value?>(nil)
        let wake = control.wake
        let task = Task {
            let value = await operation()
            outcome.change { $0 = value }
            wake.signal()
        }
        do {
            while true {
                if let value = outcome.value { return value }
                try watchClient()
            }
        } catch {
            task.cancel()
            throw error
        }
    }

    /// Waits for an event: a command, the end of a task, or the client's departure.
    func watchClient() throws(Ending) {
        // Reads ahead from a client that keeps sending, to notice when it leaves, but only up to a limit.
        while input.count < Self.readAheadLimit {
            guard try receiveAvailable() else { return try wait(for: Int16(POLLIN)) }
        }
        try wait(for: Descriptors.hangup)
    }

    /// - Returns: whether to try again at once, rather than wait for bytes.
    private func receiveAvailable() throws(Ending) -> Bool {
        try checkOutside()
        switch scratch.withUnsafeMutableBytes({ stream.read(into: $0) }) {
        case .moved(let count):
            input += scratch[..<count]
            return true
        case .wait(let events):
            if events == Int16(POLLIN) { return false }
            // TLS may have to write before it can continue reading.
            try wait(for: events)
            return true
        case .end, .failed:
            throw .peerGone
        }
    }

    private func wait(for events: Int16) throws(Ending) {
        var entries = [
            pollfd(fd: server.stopDescriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: control.wake.reading, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stream.descriptor, events: events, revents: 0),
        ]
        Descriptors.wait(&entries)
        if entries[0].revents != 0 { throw .closed }
        if entries[1].revents != 0 { control.wake.drain() }
        if control.mustClose { throw .closed }
        if events == Descriptors.hangup, entries[2].revents != 0 { throw .peerGone }
    }

    private func checkOutside() throws(Ending) {
        if server.hasStopped || control.mustClose { throw .closed }
    }
}
