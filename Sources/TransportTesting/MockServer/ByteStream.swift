/// What came of an attempt to move bytes.
enum Transfer {
    /// So many bytes, at least one unless none were offered.
    case moved(Int)
    /// Nothing yet: try again when `poll` reports these events.
    case wait(Int16)
    /// The peer sends no more.
    case end
    /// The connection is broken.
    case failed
}

/// The bytes of one connection, as its thread uses them. No call blocks.
protocol ByteStream: AnyObject {
    /// What to wait for between attempts. Only after an attempt said so: a stream may hold bytes that the system no
    /// longer reports.
    var descriptor: Int32 { get }
    /// Takes the bytes that have arrived.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer
    /// Hands over bytes to be sent, or some of them.
    func write(_ bytes: UnsafeRawBufferPointer) -> Transfer
    /// Says that nothing more will be sent, and goes on reading.
    func endWriting()
    /// Closes the connection. Called once, as the last of all calls.
    ///
    /// - Parameter byReset: whether the peer is to see a reset instead of an orderly end.
    func close(byReset: Bool)
}

/// A connection without encryption.
final class PlainStream: ByteStream {
    let descriptor: Int32

    /// Owns the descriptor from now on.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer { Descriptors.receive(descriptor, into: buffer) }

    func write(_ bytes: UnsafeRawBufferPointer) -> Transfer { Descriptors.send(descriptor, bytes) }

    func endWriting() { Descriptors.endSending(descriptor) }

    func close(byReset: Bool) {
        if byReset { Descriptors.resetOnClose(descriptor) }
        Descriptors.close(descriptor)
    }
}
