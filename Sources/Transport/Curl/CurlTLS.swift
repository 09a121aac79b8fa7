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

    private static var isOpenSSLShared: Bool {
        let function = "SSL_CTX_set_cert_verify_callback"
        return cossl_symbol(function).map { $0 == ccurl_symbol(function) } ?? false
    }

    /// Sets on a handle what all transfers share.
    func prepare(_ easy: EasyHandle) {
        let version = tls.minimumVersion >= .tls13 ? CCURL_SSLVERSION_TLSv1_3 : CCURL_SSLVERSION_TLSv1_2
        easy.set(CCURLOPT_SSLVERSION, Int(version.rawValue))
        easy.set(CCURLOPT_PROXY_SSLVERSION, Int(version.rawValue))
        guard verifier != nil else { return CertificateBundle.system.use(in: easy) }
        // The verifier has roots of its own; those of libcurl are not even read.
        easy.set(CCURLOPT_CAPATH, nil)
        easy.set(CCURLOPT_CAINFO, nil)
        easy.set(CCURLOPT_SSL_SESSIONID_CACHE, 0)
    }

    /// Sets a handle up for a request. What it returns must live as long as the handle uses it.
    func prepareHandshake(_ easy: EasyHandle, for request: HTTPRequest) throws -> CurlHandshake? {
        guard let verifier else { return nil }
        let host = request.url.host(percentEncoded: false) ?? ""
        let handshake = CurlHandshake(verifier: verifier, host: host)
        if tls.acceptsAnyHostName(from: host) { easy.set(CCURLOPT_SSL_VERIFYHOST, 0) }
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
    fileprivate let verifier: ChainVerifier
    private let host: String
    private let refusal = Mutex<TransportError?>(nil)

    init(verifier: ChainVerifier, host: String) {
        self.verifier = verifier
        self.host = host
    }

    /// Why the last verification refused the server, if it did.
    var failure: TransportError? { refusal.withLock { $0 } }

    fileprivate func verify(_ storeContext: UnsafeMutableRawPointer) -> Bool {
        let failure = verifier.verify(storeContext, requestHost: host)
        refusal.withLock { $0 = failure }
        return failure == nil
    }
}

/// Where an SSL_CTX keeps its handshake.
private enum SSLContextIndex {
    static let value = cossl_ssl_context_index { value in
        if let value { Unmanaged<CurlHandshake>.fromOpaque(value).release() }
    }
}

private let onSSLContext: ccurl_ssl_context_callback = { _, sslContext, context in
    let refused = Int32(CCURLE_SSL_CERTPROBLEM.rawValue)
    guard let sslContext, let context else { return refused }
    let handshake = Unmanaged<CurlHandshake>.fromOpaque(context).takeUnretainedValue()
    let held = Unmanaged.passRetained(handshake)
    guard cossl_SSL_CTX_set_ex_data(sslContext, SSLContextIndex.value, held.toOpaque()) == 1 else {
        held.release()
        return refused
    }
    cossl_SSL_CTX_set_cert_verify_callback(sslContext, onVerify, held.toOpaque())
    return handshake.verifier.present(to: sslContext) ? Int32(CCURLE_OK.rawValue) : refused
}

private let onVerify: cossl_verify_callback = { storeContext, argument in
    guard let storeContext, let argument else { return 0 }
    return Unmanaged<CurlHandshake>.fromOpaque(argument).takeUnretainedValue().verify(storeContext) ? 1 : 0
}
#endif
