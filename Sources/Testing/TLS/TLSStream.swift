#if os(Linux)
internal import CInterceptorsOpenSSL
internal import Glibc
internal import InterceptorsCore

/// The server's side of a TLS connection. The first read or write performs the handshake.
final class TLSStream: ByteStream {
    let descriptor: Int32
    private let ssl: UnsafeMutableRawPointer
    private let onHandshake: (_ isResumed: Bool) -> Void
    private var isEstablished = false
    private var isBroken = false

    /// Takes ownership of the descriptor and the SSL object. Must run on the connection's thread, whose signal mask it changes.
    init(_ descriptor: Int32, _ ssl: UnsafeMutableRawPointer, onHandshake: @escaping (_ isResumed: Bool) -> Void) {
        self.descriptor = descriptor
        self.ssl = ssl
        self.onHandshake = onHandshake
        _ = cossl_SSL_set_fd(ssl, descriptor)
        cossl_SSL_set_accept_state(ssl)
        // OpenSSL writes without MSG_NOSIGNAL, so writing to a closed connection would raise SIGPIPE and end the process.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        if isBroken { return drain(into: buffer) }
        let transfer = outcome(cossl_SSL_read(ssl, buffer.baseAddress, Int32(clamping: buffer.count)))
        guard case .failed = transfer else { return transfer }
        // The alert has been sent. Closing with unread bytes would reset the connection, and the client might lose the alert.
        isBroken = true
        Descriptors.endSending(descriptor)
        return drain(into: buffer)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        guard !bytes.isEmpty else { return .moved(0) }
        guard !isBroken else { return .failed }
        return outcome(cossl_SSL_write(ssl, bytes.baseAddress, Int32(clamping: bytes.count)))
    }

    func endWriting() {
        if isEstablished, !isBroken { _ = cossl_SSL_shutdown(ssl) }
        Descriptors.endSending(descriptor)
    }

    func close(byReset: Bool) {
        if byReset { Descriptors.resetOnClose(descriptor) }
        cossl_SSL_free(ssl)
        Descriptors.close(descriptor)
    }

    private func drain(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        while true {
            let transfer = Descriptors.receive(descriptor, into: buffer)
            guard case .moved = transfer else { return transfer }
        }
    }

    private func outcome(_ result: Int32) -> Transfer {
        defer { cossl_ERR_clear_error() }
        noteHandshake()
        if result > 0 { return .moved(Int(result)) }
        return switch cossl_SSL_get_error(ssl, result) {
        case Int32(COSSL_SSL_ERROR_WANT_READ.rawValue): .wait(Int16(POLLIN))
        case Int32(COSSL_SSL_ERROR_WANT_WRITE.rawValue): .wait(Int16(POLLOUT))
        case Int32(COSSL_SSL_ERROR_ZERO_RETURN.rawValue): .end
        default: .failed
        }
    }

    private func noteHandshake() {
        guard !isEstablished, cossl_SSL_is_init_finished(ssl) == 1 else { return }
        isEstablished = true
        onHandshake(cossl_SSL_session_reused(ssl) == 1)
    }
}
#endif
