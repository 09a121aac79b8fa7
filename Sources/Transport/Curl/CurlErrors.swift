#if os(Linux)
internal import CInterceptorsCurl
internal import Foundation

extension HTTPErrorCode {
    /// Internal: the request was sent on a kept-alive connection that the server may have closed. Callers get
    /// ``connectionLost``.
    static let staleConnection = Self(rawValue: "staleConnection")
    /// Internal: libcurl chose a connection on which a limit had passed. ``CurlEngine`` sends the request elsewhere.
    static let retiredConnection = Self(rawValue: "retiredConnection")
}

extension TransportError {
    static var staleConnection: Self {
        Self(
            .staleConnection,
            "The server closed its kept-alive connection, or refused the request there, before it answered."
        )
    }

    static var retiredConnection: Self {
        Self(.retiredConnection, "A limit passed on the connection before, so nothing was sent on it.")
    }

    static func namelessCertificate(_ host: String) -> Self {
        let message =
            "The certificate of \(host) has no subjectAltName that names a host. A common name is not compared (RFC 9525 §6.3)."
        return Self(.tlsFailed, message)
    }

    static func otherName(_ host: String) -> Self { Self(.tlsFailed, "The certificate doesn't name \(host).") }

    static var shutDown: Self { Self(.connectionLost, "The transport was shut down.") }

    /// The error with a request attached. ``staleConnection`` becomes ``connectionLost``.
    func about(_ request: HTTPRequest) -> Self {
        guard code == .staleConnection else { return withRequest(request) }
        let fate =
            " Whether it saw the request is unknown; one that is not idempotent, or can't be read again, is not sent again."
        return Self(.connectionLost, message + fate, request: request)
    }
}

extension CurlTransfer {
    /// The error of a transfer that ran into a time limit.
    func timeout(_ limit: TimeLimits.Limit, after length: Duration) -> TransportError {
        guard timeLimits.isInLine else { return TransportError(.timedOut, limit.message(after: length)) }
        let message =
            limit == .line
            ? limit.message(after: length)
            : limit.message(after: length) + " It waited for one of the transport's own connections."
        return TransportError(.timedOut, message, underlying: UnsentError(wait: .zero))
    }

    /// The error with the fact that nothing was sent, if the transfer never had a connection.
    ///
    /// libcurl's prerequest callback runs after the TLS handshake and before the first byte of the request.
    func precise(_ error: any Error) -> any Error {
        guard attempts == 0, !isRepetition, var error = error as? TransportError else { return error }
        error.precedesSending = true
        return error
    }

    /// Translates libcurl's result code to an error.
    func error(_ code: Int32) -> any Error {
        if let failure { return failure }
        if let failure = upload?.failure { return failure }
        if let failure = handshake?.failure { return failure }
        if code == CCURLE_OUT_OF_MEMORY.rawValue { return whatWasTooMuch }
        if code == CCURLE_BAD_FUNCTION_ARGUMENT.rawValue, attempts > 0, !head.isComplete {
            return TransportError(.invalidResponse, "The first field line of the response begins with a space.")
        }
        if metEndingConnection(ccurl_code(UInt32(bitPattern: code))) { return TransportError.staleConnection }
        if let refusal = proxy.refusal(errorMessage) { return refusal }
        if code == CCURLE_PEER_FAILED_VERIFICATION.rawValue,
            easy.long(CCURLINFO_SSL_VERIFYRESULT) == CurlTLS.nameMissing
        {
            return TransportError.namelessCertificate(request.url.host() ?? "The server")
        }
        let detail = detail(code)
        if attempts == 0, code == CCURLE_SSL_CONNECT_ERROR.rawValue, TLSAlert.isLostHandshake(errorMessage) {
            return TransportError(.connectionLost, "The connection ended within the TLS handshake: \(detail).")
        }
        // The status of the proxy's response to CONNECT; 0 without a tunnel.
        let isTunnelRefused = !(0..<300).contains(easy.long(CCURLINFO_HTTP_CONNECTCODE))
        // libcurl reports malformed chunks with the code of a lost connection.
        let isMalformed = detail.contains("in chunked-encoding")
        let meaning: HTTPErrorCode =
            isTunnelRefused
            ? .cannotConnect
            : isMalformed
                ? .invalidResponse : Self.meaning(of: ccurl_code(UInt32(bitPattern: code)), headCame: head.isComplete)
        let isNoConnection = meaning == .cannotConnect || meaning == .cannotFindHost
        if isNoConnection, attempts > 0 || isRepetition {
            // The request was sent on a kept-alive connection that the server closed. Only the connection that should replace
            // it can't be made.
            let message = "The server closed its kept-alive connection before it answered, and then: \(detail)."
            return TransportError(.connectionLost, message)
        }
        return Self.refusalByServer(meaning, detail)
            ?? unconnected(meaning, "\(detail).\(Self.advice(meaning, detail))")
    }

    private func unconnected(_ meaning: HTTPErrorCode, _ message: String) -> TransportError {
        let network = missingNetwork(meaning)
        return TransportError(network == nil ? meaning : .offline, message, underlying: network)
    }

    /// The system's error if no network is available.
    private func missingNetwork(_ meaning: HTTPErrorCode) -> (any Error)? {
        guard meaning == .cannotConnect else { return nil }
        let code = POSIXErrorCode(rawValue: Int32(truncatingIfNeeded: easy.long(CCURLINFO_OS_ERRNO)))
        return code.flatMap { [.ENETDOWN, .ENETUNREACH].contains($0) ? POSIXError($0) : nil }
    }

    /// libcurl's description of the failure, or a general text if libcurl's may contain a secret.
    private func detail(_ code: Int32) -> String {
        let text = errorMessage
        guard !text.isEmpty, !proxy.mayBeRevealed(by: text) else { return String(cString: ccurl_easy_strerror(code)) }
        return Redaction.standard.text(text)
    }

    /// Whether the request met ending connections before any response: each connection that libcurl tried, or an HTTP/2
    /// connection without streams left. A failure on a new connection has another cause.
    private func metEndingConnection(_ code: ccurl_code) -> Bool {
        guard !head.isComplete else { return false }
        return switch code {
        case CCURLE_SEND_ERROR, CCURLE_RECV_ERROR: attempts >= CurlLibrary.tries
        case CCURLE_HTTP2: attempts > 1 || easy.long(CCURLINFO_NUM_CONNECTS) == 0
        default: false
        }
    }

    /// libcurl reports "out of memory" if a field or a head is longer than its limit.
    private var whatWasTooMuch: TransportError {
        guard easy.long(CCURLINFO_REQUEST_SIZE) > 0 else {
            return TransportError(
                .invalidRequest,
                "The head of the request is longer than the 1 MB that libcurl allows."
            )
        }
        guard head.isComplete else {
            return TransportError(
                .invalidResponse,
                "A field of the response is longer than the 100 KB that libcurl allows."
            )
        }
        return TransportError(.transportFailed, "libcurl has no memory for more of the content.")
    }

    /// Advice for a person about a failure; empty if the detail suffices.
    private static func advice(_ meaning: HTTPErrorCode, _ detail: String) -> String {
        func says(_ text: String) -> Bool { detail.localizedCaseInsensitiveContains(text) }
        return switch meaning {
        case .invalidResponse where says("HTTP/0.9"):
            " The response has no head: is this the port of https, or of another protocol?"
        case .tlsFailed where says("self-signed") || says("self signed") || says("local issuer"):
            " To trust its authority, or it, name it in TLSConfiguration.trust."
        case .tlsFailed where says("wrong version number") || says("packet length too long"):
            " The server doesn't speak TLS there: is this the port of http?"
        case .cannotConnect where says("unreachable"), .cannotFindHost:
            " Is this machine online, and the name right?"
        default: ""
        }
    }

    /// The error for a server that refused the client with a TLS alert; `nil` for other failures.
    static func refusalByServer(_ meaning: HTTPErrorCode, _ detail: String) -> TransportError? {
        switch meaning {
        case .tlsFailed where detail.contains("alert"): break
        case .connectionLost where TLSAlert.isRefusal(detail): break
        default: return nil
        }
        let message = "The server refused the TLS connection: \(detail)."
        guard TLSAlert.isAboutIdentity(detail) else { return TransportError(.tlsFailed, message) }
        let hint = " It asks for another client certificate: see TLSConfiguration.identity."
        return TransportError(.tlsFailed, message + hint)
    }

    private static func meaning(of code: ccurl_code, headCame: Bool) -> HTTPErrorCode {
        switch code {
        case CCURLE_URL_MALFORMAT: .unsupportedURL
        case CCURLE_COULDNT_RESOLVE_HOST, CCURLE_COULDNT_RESOLVE_PROXY: .cannotFindHost
        case CCURLE_COULDNT_CONNECT, CCURLE_PROXY: .cannotConnect
        case CCURLE_SSL_CONNECT_ERROR, CCURLE_SSL_ENGINE_NOTFOUND, CCURLE_SSL_CERTPROBLEM, CCURLE_SSL_CIPHER,
            CCURLE_PEER_FAILED_VERIFICATION, CCURLE_SSL_CACERT_BADFILE, CCURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CCURLE_SSL_INVALIDCERTSTATUS, CCURLE_SSL_CLIENTCERT:
            .tlsFailed
        case CCURLE_PARTIAL_FILE: headCame ? .truncated : .connectionLost
        case CCURLE_UNSUPPORTED_PROTOCOL, CCURLE_WEIRD_SERVER_REPLY, CCURLE_BAD_CONTENT_ENCODING:
            .invalidResponse
        case CCURLE_SEND_FAIL_REWIND: .staleConnection
        case CCURLE_GOT_NOTHING, CCURLE_SEND_ERROR: .connectionLost
        case CCURLE_RECV_ERROR, CCURLE_HTTP2, CCURLE_HTTP2_STREAM: headCame ? .truncated : .connectionLost
        case CCURLE_OPERATION_TIMEDOUT: .timedOut
        default: .transportFailed
        }
    }
}

extension TransferTimings {
    init(_ easy: EasyHandle) {
        func duration(_ info: ccurl_info) -> Duration { .microseconds(easy.int64(info)) }
        let nameLookup = duration(CCURLINFO_NAMELOOKUP_TIME_T)
        let firstByte = duration(CCURLINFO_STARTTRANSFER_TIME_T)
        self.init(
            nameLookup: nameLookup,
            // Zero on a kept-alive connection.
            connect: max(nameLookup, duration(CCURLINFO_CONNECT_TIME_T)),
            tls: duration(CCURLINFO_APPCONNECT_TIME_T),
            firstByte: firstByte,
            // While content arrives, libcurl's figure may be older than the head.
            total: max(firstByte, duration(CCURLINFO_TOTAL_TIME_T)),
            reusedConnection: easy.long(CCURLINFO_NUM_CONNECTS) == 0
        )
    }
}
#endif
