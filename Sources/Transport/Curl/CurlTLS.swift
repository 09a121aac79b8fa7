#if os(Linux)
internal import CCurl
internal import COpenSSL
internal import Foundation
internal import Synchronization

/// The TLS settings of one transport, as its transfers get them.
///
/// libcurl's own pins see the server's certificate alone, and what a callback has set up is no part of how libcurl chooses
/// a kept-alive connection or a session to resume. So a transport has one configuration and one multi handle, which shares
/// nothing with others, and sessions are not resumed: every connection that a request can meet was verified as it says.
struct CurlTLS: Sendable {
    private let tls: TLSConfiguration
    private let verifier: ChainVerifier?
    /// Whether there is nothing to verify but what libcurl verifies by itself.
    let isPlain: Bool

    /// Throws where the system's libraries can't do what the settings ask for.
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
        guard SSLContextIndex.value >= 0 else { throw TransportError(.other, "OpenSSL is out of memory.") }
    }

    /// Why a libcurl can't be told whom to trust; `nil` if it can. A callback may only be given to the very library that
    /// libcurl uses: one that it is merely linked with, through another library, would never call it.
    ///
    /// - Parameters:
    ///   - libraries: the TLS libraries of libcurl in its own words; those that it doesn't use are in parentheses.
    ///   - isShared: whether the OpenSSL that libcurl is linked with is the one that is used here.
    static func refusal(libraries: String, isShared: Bool) -> TransportError? {
        let isUsed = libraries.split(separator: " ").contains { $0.hasPrefix("OpenSSL/") }
        guard !isUsed || !isShared else { return nil }
        return TransportError(
            .unsupported,
            "The TLS settings need a libcurl that uses the system's OpenSSL 3; this one's TLS library is"
                + " \(libraries.isEmpty ? "none" : libraries). Install libcurl with OpenSSL (Debian, Ubuntu: libcurl4)."
        )
    }

    /// Whether the OpenSSL of a connection has read bytes that libcurl has not taken. Only the system's OpenSSL can be asked.
    static func hasUnreadBytes(_ easy: EasyHandle) -> Bool {
        usesOpenSSL && hasUnreadBytes(ccurl_easy_ssl(easy.pointer))
    }

    static func hasUnreadBytes(_ ssl: UnsafeMutableRawPointer?) -> Bool {
        ssl.map { cossl_SSL_has_pending($0) == 1 } ?? false
    }

    /// Whether the peer has said that it sends no more, and so nobody has cut the connection. A TLS library that can't be asked is
    /// believed.
    static func hasEnded(_ easy: EasyHandle) -> Bool {
        guard usesOpenSSL, let ssl = ccurl_easy_ssl(easy.pointer) else { return !usesOpenSSL }
        return cossl_SSL_get_shutdown(ssl) & Int32(COSSL_SSL_RECEIVED_SHUTDOWN.rawValue) != 0
    }

    /// Whether libcurl's TLS library is the OpenSSL that is used here.
    private static let usesOpenSSL =
        (try? OpenSSLLibrary.load()) != nil
        && refusal(libraries: CurlLibrary.tlsLibraries, isShared: isOpenSSLShared) == nil

    /// OpenSSL's verification result for a certificate that names no host.
    static let nameMissing = Int(COSSL_X509_V_ERR_HOSTNAME_MISMATCH.rawValue)

    private static var isOpenSSLShared: Bool {
        let function = "SSL_CTX_set_cert_verify_callback"
        return cossl_symbol(function).map { $0 == ccurl_symbol(function) } ?? false
    }

    /// Sets on a handle what all transfers share.
    func prepare(_ easy: EasyHandle) {
        let version = tls.minimumVersion >= .tls13 ? CCURL_SSLVERSION_TLSv1_3 : CCURL_SSLVERSION_TLSv1_2
        easy.set(CCURLOPT_SSLVERSION, Int(version.rawValue))
        easy.set(CCURLOPT_PROXY_SSLVERSION, Int(version.rawValue))
        // Tells the SSL_CTX of a proxy from that of a server: it sets an option that TLS 1.2 and later have no use for.
        easy.setIfKnown(CCURLOPT_PROXY_SSL_OPTIONS, Int(CCURLSSLOPT_ALLOW_BEAST.rawValue))
        guard verifier != nil else {
            if Self.usesOpenSSL { _ = ccurl_easy_setopt_ssl_context_callback(easy.pointer, onPlainSSLContext) }
            return CertificateBundle.system.use(in: easy)
        }
        // The verifier has roots of its own; those of libcurl are not even read.
        easy.set(CCURLOPT_CAPATH, nil)
        easy.set(CCURLOPT_CAINFO, nil)
        easy.set(CCURLOPT_SSL_SESSIONID_CACHE, 0)
    }

    /// Sets a handle up for a request. What it returns must live as long as the handle uses it.
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
            // Never without the checks that were asked for.
            throw TransportError(.unsupported, "This libcurl can't verify as the TLS settings say.", request: request)
        }
        return handshake
    }
}

/// The handshakes of one transfer, and what became of them. Each SSL_CTX that is made for them holds it, since a
/// connection outlives its first transfer and can be asked to verify again.
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

    /// Why the last verification refused the server, if it did.
    var failure: TransportError? { state.withLock(\.refusal) }

    /// The SSL of the proxy that was verified last.
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

/// OpenSSL's own verification with the settings that libcurl has made, and then that the server's certificate names a host.
private func verifyAsLibcurlSays(_ storeContext: UnsafeMutableRawPointer) -> Bool {
    guard cossl_X509_verify_cert(storeContext) == 1 else { return false }
    if let leaf = cossl_X509_STORE_CTX_get0_cert(storeContext), ChainVerifier.namesHost(leaf) { return true }
    cossl_X509_STORE_CTX_set_error(storeContext, Int32(COSSL_X509_V_ERR_HOSTNAME_MISMATCH.rawValue))
    return false
}

/// Where an SSL_CTX keeps its handshake.
private enum SSLContextIndex {
    static let value = cossl_ssl_context_index { value in
        if let value { Unmanaged<CurlHandshake>.fromOpaque(value).release() }
    }
}

/// libcurl takes a connection that ends without close_notify for one that ends well: then anybody on the way could cut a body
/// that ends with its connection (RFC 9112 §9.8).
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

private let onVerify: cossl_verify_callback = { storeContext, argument in
    guard let storeContext, let argument else { return 0 }
    return Unmanaged<CurlHandshake>.fromOpaque(argument).takeUnretainedValue().verify(storeContext, isProxy: false)
        ? 1 : 0
}

private let onVerifyProxy: cossl_verify_callback = { storeContext, argument in
    guard let storeContext, let argument else { return 0 }
    return Unmanaged<CurlHandshake>.fromOpaque(argument).takeUnretainedValue().verify(storeContext, isProxy: true)
        ? 1 : 0
}
#endif
