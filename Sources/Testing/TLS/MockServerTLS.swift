#if os(Linux)
internal import CInterceptorsOpenSSL
internal import Foundation
internal import Glibc
internal import Synchronization

extension MockServer {
    /// Starts a server that speaks TLS. Its URL is `https://127.0.0.1:PORT`. Linux only, because the server uses the system's
    /// OpenSSL.
    ///
    /// ```swift
    /// let root = try TestAuthority()
    /// let server = try MockServer(tls: root.issue())
    /// ```
    /// The limits on requests are the usual ones of a server.
    ///
    /// - Parameters:
    ///   - identity: the server's certificate, key, and additional certificates to send.
    ///   - clientRoots: the roots of required client certificates; by default `nil`: the server requests none.
    ///   - maximumVersion: the newest TLS version that the server accepts; 1.3 by default.
    ///   - time: its clock measures the pauses in responses.
    /// - Throws: an error that says what the system refused, a socket or a thread, and `TransportError` if OpenSSL can't
    ///   be used.
    public convenience init(
        tls identity: TestIdentity,
        clientRoots: [TLSCertificate]? = nil,
        maximumVersion: TLSVersion = .tls13,
        time: TimeSource = .system
    ) throws {
        let server = try ServerTLS(identity, clientRoots: clientRoots, maximumVersion: maximumVersion)
        try self.init(scheme: "https", ServerCore(clock: time.clock) { server.stream($0) }) { server.handshakes }
    }
}

/// State shared by all connections of a TLS server.
final class ServerTLS: Sendable {
    private let context: OpenSSLObject
    private let counts = Mutex((completed: 0, resumed: 0))

    init(_ identity: TestIdentity, clientRoots: [TLSCertificate]? = nil, maximumVersion: TLSVersion = .tls13) throws {
        try OpenSSLLibrary.load()
        guard let pointer = cossl_SSL_CTX_new(cossl_TLS_server_method()) else { throw CertificateMaker.failure }
        context = OpenSSLObject(pointer) { cossl_SSL_CTX_free($0) }
        func control(_ command: cossl_number, _ number: Int, _ object: UnsafeMutableRawPointer? = nil) {
            _ = cossl_SSL_CTX_ctrl(pointer, Int32(command.rawValue), number, object)
        }
        // A repeated write may pass the bytes at another address, and may send only some of them.
        let modes = COSSL_SSL_MODE_ENABLE_PARTIAL_WRITE.rawValue | COSSL_SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER.rawValue
        control(COSSL_SSL_CTRL_MODE, Int(modes))
        control(COSSL_SSL_CTRL_SET_MAX_PROTO_VERSION, maximumVersion == .tls12 ? 0x0303 : 0x0304)
        let chain = identity.chain.compactMap { OpenSSLObject.certificate($0.der) }
        guard let own = chain.first, cossl_SSL_CTX_use_certificate(pointer, own.pointer) == 1,
            cossl_SSL_CTX_use_PrivateKey(pointer, identity.key.pointer) == 1
        else { throw CertificateMaker.failure }
        for issuer in chain.dropFirst() { control(COSSL_SSL_CTRL_CHAIN_CERT, 1, issuer.pointer) }
        // OpenSSL requires a session ID context of servers that verify clients.
        _ = cossl_SSL_CTX_set_session_id_context(pointer, Array("mock".utf8), 4)
        if let roots = clientRoots { try Self.demandClients(pointer, roots) }
    }

    private static func demandClients(_ context: UnsafeMutableRawPointer, _ roots: [TLSCertificate]) throws {
        guard let store = cossl_X509_STORE_new() else { throw CertificateMaker.failure }
        for root in roots {
            guard let certificate = OpenSSLObject.certificate(root.der) else { continue }
            _ = cossl_X509_STORE_add_cert(store, certificate.pointer)
        }
        cossl_SSL_CTX_set_cert_store(context, store)
        let mode = COSSL_SSL_VERIFY_PEER.rawValue | COSSL_SSL_VERIFY_FAIL_IF_NO_PEER_CERT.rawValue
        cossl_SSL_CTX_set_verify(context, Int32(mode), nil)
    }

    /// The number of completed handshakes, and how many of them resumed a session.
    var handshakes: (completed: Int, resumed: Int) { counts.withLock { $0 } }

    func stream(_ descriptor: Int32) -> any ByteStream {
        guard let ssl = cossl_SSL_new(context.pointer) else { return PlainStream(descriptor) }
        return TLSStream(descriptor, ssl) { [self] isResumed in
            counts.withLock { counts in
                counts.completed += 1
                if isResumed { counts.resumed += 1 }
            }
        }
    }
}

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
