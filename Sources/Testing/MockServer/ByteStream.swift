/// The result of one attempt to move bytes.
enum Transfer {
    /// The number of bytes moved: at least one, unless none were offered.
    case moved(Int)
    /// No bytes could be moved. Try again when `poll` reports these events.
    case wait(Int16)
    /// The peer sends no more.
    case end
    /// The connection is broken.
    case failed
}

/// The bytes of one connection, used only by the connection's thread. No call blocks.
protocol ByteStream: AnyObject {
    /// The descriptor to poll after an attempt returned `wait`. Polling earlier may hang, because a stream can buffer bytes
    /// that the system no longer reports.
    var descriptor: Int32 { get }
    /// Reads bytes that have arrived.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer
    /// Writes all or some of the bytes.
    func write(_ bytes: UnsafeRawBufferPointer) -> Transfer
    /// Ends the sending direction. Reading remains possible.
    func endWriting()
    /// Closes the connection. Called exactly once, as the last call.
    ///
    /// - Parameter byReset: whether the peer sees a reset instead of an orderly end.
    func close(byReset: Bool)
}

/// A connection without encryption.
final class PlainStream: ByteStream {
    let descriptor: Int32

    /// Takes ownership of the descriptor.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer { Descriptors.receive(descriptor, into: buffer) }

    func write(_ bytes: UnsafeRawBufferPointer) -> Transfer { Descriptors.send(descriptor, bytes) }

    func endWriting() { Descriptors.endSending(descriptor) }

    func close(byReset: Bool) {
        if byReset { Descriptors.resetOnClose(descriptor) }
        Descriptors.close(descriptor)
    }
}
