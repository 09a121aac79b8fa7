#if os(Linux)
internal import CInterceptorsCurl
internal import CInterceptorsOpenSSL
internal import Foundation
internal import Synchronization

/// Applies one transport's TLS settings to its transfers.
///
/// libcurl's pinning sees only the server's certificate. And libcurl ignores a callback's settings when it chooses a
/// kept-alive connection or a TLS session to resume. A transport therefore has one TLS configuration and one multi handle
/// that shares nothing, and resumes no sessions: every connection that a request can use was verified under these settings.
struct CurlTLS: Sendable {
    private let tls: TLSConfiguration
    private let verifier: ChainVerifier?
    /// Whether libcurl's usual verification suffices.
    let isPlain: Bool

    /// Throws if the system's libraries can't apply the settings.
    init(_ tls: TLSConfiguration) throws {
        self.tls = tls
        isPlain = tls.isPlain
        guard !isPlain else {
            verifier = nil
            return
        }
        do {
            verifier = try ChainVerifier(tls)
        } catch {
            throw TransportError(
                .unsupported,
                "CurlTransport can't do what the TLS settings ask for.",
                underlying: error
            )
        }
        if let refusal = Self.refusal(libraries: CurlLibrary.tlsLibraries, isShared: Self.isOpenSSLShared) {
            throw refusal
        }
        guard SSLContextIndex.value >= 0 else { throw TransportError(.transportFailed, "OpenSSL is out of memory.") }
    }

    /// The reason libcurl can't apply TLS settings; `nil` if it can. The verification callback must be registered with the
    /// very library that libcurl uses. A library that libcurl is only linked with, through another library, would never call
    /// it.
    ///
    /// - Parameters:
    ///   - libraries: libcurl's description of its TLS libraries; unused ones are in parentheses.
    ///   - isShared: whether libcurl is linked with the same OpenSSL as this package.
    static func refusal(libraries: String, isShared: Bool) -> TransportError? {
        let isUsed = libraries.split(separator: " ").contains { $0.hasPrefix("OpenSSL/") }
        guard !isUsed || !isShared else { return nil }
        return TransportError(
            .unsupported,
            "The TLS settings need a libcurl that uses the system's OpenSSL 3; this one's TLS library is"
                + " \(libraries.isEmpty ? "none" : libraries). Install libcurl with OpenSSL (Debian, Ubuntu: libcurl4)."
        )
    }

    /// Whether a connection's OpenSSL holds bytes that libcurl hasn't taken. Always `false` with another TLS library, which
    /// can't be asked.
    static func hasUnreadBytes(_ easy: EasyHandle) -> Bool {
        usesOpenSSL && hasUnreadBytes(ccurl_easy_ssl(easy.pointer))
    }

    static func hasUnreadBytes(_ ssl: UnsafeMutableRawPointer?) -> Bool {
        ssl.map { cossl_SSL_has_pending($0) == 1 } ?? false
    }

    /// Whether the peer has signalled the end of its data, so that the connection wasn't cut. Assumed for a TLS library that
    /// can't be asked.
    static func hasEnded(_ easy: EasyHandle) -> Bool {
        guard usesOpenSSL, let ssl = ccurl_easy_ssl(easy.pointer) else { return !usesOpenSSL }
        return cossl_SSL_get_shutdown(ssl) & Int32(COSSL_SSL_RECEIVED_SHUTDOWN.rawValue) != 0
    }

    /// Whether a connection negotiated HTTP/2. `false` if the TLS library can't be asked.
    static func speaksHTTP2(_ easy: EasyHandle) -> Bool {
        guard usesOpenSSL, let ssl = ccurl_easy_ssl(easy.pointer) else { return false }
        var (name, count) = (nil as UnsafePointer<UInt8>?, UInt32(0))
        cossl_SSL_get0_alpn_selected(ssl, &name, &count)
        return count == 2 && name?[0] == UInt8(ascii: "h") && name?[1] == UInt8(ascii: "2")
    }

    /// The parameters that a connection negotiated with the server; `nil` without TLS, and with a TLS library that can't be
    /// asked.
    static func parameters(
        of easy: EasyHandle,
        for request: HTTPRequest
    ) -> (version: TLSVersion?, cipherSuite: String?)? {
        // For an http URL, the TLS connection would be a proxy's.
        guard usesOpenSSL, let ssl = ccurl_easy_ssl(easy.pointer), request.url.isHTTPS else { return nil }
        let cipher = cossl_SSL_get_current_cipher(ssl)
        return (
            TLSVersion(negotiated: UInt16(truncatingIfNeeded: cossl_SSL_version(ssl))),
            cipher.map { TLSCipherSuite.name(of: cossl_SSL_CIPHER_get_protocol_id($0)) }
        )
    }

    /// Whether libcurl's TLS library is the same OpenSSL as this package's.
    private static let usesOpenSSL =
        (try? OpenSSLLibrary.load()) != nil
        && refusal(libraries: CurlLibrary.tlsLibraries, isShared: isOpenSSLShared) == nil

    /// OpenSSL's verification result for a certificate that names no host.
    static let nameMissing = Int(COSSL_X509_V_ERR_HOSTNAME_MISMATCH.rawValue)

    private static var isOpenSSLShared: Bool {
        let function = "SSL_CTX_set_cert_verify_callback"
        return cossl_symbol(function).map { $0 == ccurl_symbol(function) } ?? false
    }

    /// Applies the settings that all transfers share to a handle.
    func prepare(_ easy: EasyHandle) {
        let version = tls.minimumVersion >= .tls13 ? CCURL_SSLVERSION_TLSv1_3 : CCURL_SSLVERSION_TLSv1_2
        easy.set(CCURLOPT_SSLVERSION, Int(version.rawValue))
        easy.set(CCURLOPT_PROXY_SSLVERSION, Int(version.rawValue))
        // Marks the SSL_CTX of a proxy, to tell it from a server's: this option has no effect on TLS 1.2 and later.
        easy.setIfKnown(CCURLOPT_PROXY_SSL_OPTIONS, Int(CCURLSSLOPT_ALLOW_BEAST.rawValue))
        guard verifier != nil else {
            if Self.usesOpenSSL { _ = ccurl_easy_setopt_ssl_context_callback(easy.pointer, onPlainSSLContext) }
            guard let file = OpenSSLLibrary.certificateFile else { return }
            // Switches libcurl's cache of the file on. Debian's default is a folder, which each new connection would read again, in
            // 28 ms of CPU time.
            easy.set(CCURLOPT_CAPATH, nil)
            return easy.set(CCURLOPT_CAINFO, text: file)
        }
        // The verifier supplies the trusted roots, so libcurl doesn't read any.
        easy.set(CCURLOPT_CAPATH, nil)
        easy.set(CCURLOPT_CAINFO, nil)
        easy.set(CCURLOPT_SSL_SESSIONID_CACHE, 0)
    }

    /// Prepares a handle for a request. The returned handshake must live as long as the handle uses it.
    func prepareHandshake(
        _ easy: EasyHandle,
        for request: HTTPRequest,
        through proxy: CurlTransport.Proxy
    ) throws -> CurlHandshake? {
        guard verifier != nil || Self.usesOpenSSL && proxy.mayUseTLS else { return nil }
        let host = request.url.host(percentEncoded: false) ?? ""
        let handshake = CurlHandshake(verifier: verifier, host: host, proxyAddress: proxy.addressOverTLS)
        if verifier != nil, tls.acceptsAnyHostName(from: host) { easy.set(CCURLOPT_SSL_VERIFYHOST, 0) }
        easy.set(CCURLOPT_SSL_CTX_DATA, Unmanaged.passUnretained(handshake).toOpaque())
        guard ccurl_easy_setopt_ssl_context_callback(easy.pointer, onSSLContext) == CCURLE_OK.rawValue else {
            // Never send without the requested checks.
            throw TransportError(.unsupported, "This libcurl can't verify as the TLS settings say.", request: request)
        }
        return handshake
    }
}

/// The verifications of one transfer's handshakes, and their results. Each SSL_CTX retains the handshake, because a
/// connection outlives its first transfer and may verify again.
final class CurlHandshake: Sendable {
    private struct State {
        var refusal: TransportError?
        var proxySSL: UInt?
    }

    fileprivate let verifier: ChainVerifier?
    private let host: String
    private let proxyAddress: String?
    private let state = Mutex(State())

    init(verifier: ChainVerifier?, host: String, proxyAddress: String?) {
        self.verifier = verifier
        self.host = host
        self.proxyAddress = proxyAddress
    }

    /// The reason the last verification refused the server; `nil` if it succeeded.
    var failure: TransportError? { state.withLock(\.refusal) }

    /// The SSL of the last verified proxy connection.
    var proxySSL: UnsafeMutableRawPointer? {
        state.withLock(\.proxySSL).flatMap { UnsafeMutableRawPointer(bitPattern: $0) }
    }

    fileprivate func verify(_ storeContext: UnsafeMutableRawPointer, isProxy: Bool) -> Bool {
        if isProxy {
            let ssl = ChainVerifier.ssl(storeContext).map { UInt(bitPattern: $0) }
            state.withLock { $0.proxySSL = ssl }
        }
        guard let verifier else { return verifyAsLibcurlSays(storeContext) }
        let failure = verifier.verify(storeContext, namedHost: isProxy ? proxyAddress : host)
        state.withLock { $0.refusal = failure }
        return failure == nil
    }
}

/// Verifies with OpenSSL under libcurl's settings, and then requires that the server's certificate names a host.
private func verifyAsLibcurlSays(_ storeContext: UnsafeMutableRawPointer) -> Bool {
    guard cossl_X509_verify_cert(storeContext) == 1 else { return false }
    if let leaf = cossl_X509_STORE_CTX_get0_cert(storeContext), ChainVerifier.namesHost(leaf) { return true }
    cossl_X509_STORE_CTX_set_error(storeContext, Int32(COSSL_X509_V_ERR_HOSTNAME_MISMATCH.rawValue))
    return false
}

/// The index at which an SSL_CTX stores its handshake.
private enum SSLContextIndex {
    static let value = cossl_ssl_context_index { value in
        if let value { Unmanaged<CurlHandshake>.fromOpaque(value).release() }
    }
}

/// Treats a connection that ends without close_notify as cut. libcurl would accept it, so that anyone on the network path
/// could shorten content that ends with its connection (RFC 9112 §9.8).
private func demandProperEnd(_ sslContext: UnsafeMutableRawPointer) {
    _ = cossl_SSL_CTX_clear_options(sslContext, UInt64(COSSL_SSL_OP_IGNORE_UNEXPECTED_EOF.rawValue))
}

private let onPlainSSLContext: ccurl_ssl_context_callback = { _, sslContext, _ in
    guard let sslContext else { return Int32(CCURLE_SSL_CERTPROBLEM.rawValue) }
    demandProperEnd(sslContext)
    cossl_SSL_CTX_set_cert_verify_callback(sslContext, onPlainVerify, nil)
    return Int32(CCURLE_OK.rawValue)
}

private let onSSLContext: ccurl_ssl_context_callback = { _, sslContext, context in
    let refused = Int32(CCURLE_SSL_CERTPROBLEM.rawValue)
    guard let sslContext, let context, SSLContextIndex.value >= 0 else { return refused }
    let handshake = Unmanaged<CurlHandshake>.fromOpaque(context).takeUnretainedValue()
    let held = Unmanaged.passRetained(handshake)
    guard cossl_SSL_CTX_set_ex_data(sslContext, SSLContextIndex.value, held.toOpaque()) == 1 else {
        held.release()
        return refused
    }
    demandProperEnd(sslContext)
    let mark = UInt64(COSSL_SSL_OP_DONT_INSERT_EMPTY_FRAGMENTS.rawValue)
    let isProxy = cossl_SSL_CTX_get_options(sslContext) & mark != 0
    cossl_SSL_CTX_set_cert_verify_callback(sslContext, isProxy ? onVerifyProxy : onVerify, held.toOpaque())
    guard let verifier = handshake.verifier else { return Int32(CCURLE_OK.rawValue) }
    return verifier.present(to: sslContext) ? Int32(CCURLE_OK.rawValue) : refused
}

private let onPlainVerify: cossl_verify_callback = { storeContext, _ in
    storeContext.map(verifyAsLibcurlSays) == true ? 1 : 0
}

private let onVerify: cossl_verify_callback = { verify($0, $1, isProxy: false) }

private let onVerifyProxy: cossl_verify_callback = { verify($0, $1, isProxy: true) }

private func verify(
    _ storeContext: UnsafeMutableRawPointer?,
    _ handshake: UnsafeMutableRawPointer?,
    isProxy: Bool
) -> Int32 {
    guard let storeContext, let handshake else { return 0 }
    let isVerified = Unmanaged<CurlHandshake>.fromOpaque(handshake).takeUnretainedValue().verify(
        storeContext,
        isProxy: isProxy
    )
    return isVerified ? 1 : 0
}
#endif
