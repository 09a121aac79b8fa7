#if os(Linux)
internal import COpenSSL
internal import Foundation
public import Interceptors
internal import Synchronization

extension MockServer {
    /// How a server speaks TLS. On Linux only: it uses the system's OpenSSL.
    public struct TLS: Sendable {
        /// Its certificate, key, and what it sends along.
        public var identity: TestIdentity
        /// The roots of the client certificates that it demands; by default it asks for none.
        public var clientRoots: [TLSCertificate]?
        /// The newest version that it speaks.
        public var maximumVersion: TLSVersion

        /// TLS with an identity.
        public init(
            identity: TestIdentity,
            clientRoots: [TLSCertificate]? = nil,
            maximumVersion: TLSVersion = .tls13
        ) {
            self.identity = identity
            self.clientRoots = clientRoots
            self.maximumVersion = maximumVersion
        }
    }

    /// Starts a server that speaks TLS: its URL is `https://127.0.0.1:PORT`.
    ///
    /// ```swift
    /// let root = try TestAuthority()
    /// let server = try MockServer(tls: .init(identity: root.issue()))
    /// ```
    /// - Parameters:
    ///   - tls: its certificate, and whether it demands one of the client.
    ///   - clock: what the pauses of answers are measured by.
    ///   - limits: what the server takes.
    /// - Throws: ``MockServerError`` if the system gives no socket or no thread, `TLSConfigurationError` if OpenSSL can't be
    ///   used.
    public convenience init(
        tls: TLS,
        clock: any Clock<Duration> = ContinuousClock(),
        limits: Limits = Limits()
    ) throws {
        let server = try ServerTLS(tls)
        try self.init(scheme: "https", ServerCore(clock: clock, limits: limits) { server.stream($0) }) {
            server.handshakes
        }
    }
}

/// What all connections of a TLS server share.
final class ServerTLS: Sendable {
    private let context: OpenSSLObject
    private let counts = Mutex((completed: 0, resumed: 0))

    init(_ tls: MockServer.TLS) throws {
        try OpenSSLLibrary.load()
        guard let pointer = cossl_SSL_CTX_new(cossl_TLS_server_method()) else { throw CertificateMaker.failure }
        context = OpenSSLObject(pointer) { cossl_SSL_CTX_free($0) }
        func control(_ command: cossl_number, _ number: Int, _ object: UnsafeMutableRawPointer? = nil) {
            _ = cossl_SSL_CTX_ctrl(pointer, Int32(command.rawValue), number, object)
        }
        // The bytes to send may lie elsewhere at the next attempt, and need not go at once.
        let modes = COSSL_SSL_MODE_ENABLE_PARTIAL_WRITE.rawValue | COSSL_SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER.rawValue
        control(COSSL_SSL_CTRL_MODE, Int(modes))
        control(COSSL_SSL_CTRL_SET_MAX_PROTO_VERSION, tls.maximumVersion == .tls12 ? 0x0303 : 0x0304)
        let chain = tls.identity.chain.compactMap { OpenSSLObject.certificate($0.der) }
        guard let own = chain.first, cossl_SSL_CTX_use_certificate(pointer, own.pointer) == 1,
            cossl_SSL_CTX_use_PrivateKey(pointer, tls.identity.key.pointer) == 1
        else { throw CertificateMaker.failure }
        for issuer in chain.dropFirst() { control(COSSL_SSL_CTRL_CHAIN_CERT, 1, issuer.pointer) }
        // Sessions of a server that verifies its clients are bound to a name.
        _ = cossl_SSL_CTX_set_session_id_context(pointer, Array("mock".utf8), 4)
        if let roots = tls.clientRoots { try Self.demandClients(pointer, roots) }
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

    /// How many handshakes were completed, and how many of them resumed a session.
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
#endif
