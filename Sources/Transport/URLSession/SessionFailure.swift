internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Maps Foundation's errors to `TransportError`.
package enum SessionFailure {
    /// Converts a task's error to a `TransportError`. Only the numbers of Foundation's error are kept, because its other
    /// parts contain the URL.
    ///
    /// - Parameters:
    ///   - hasHead: whether the head of a response had arrived.
    ///   - request: the request; `nil` for a task that outlived the call which started it.
    package static func error(_ error: any Error, hasHead: Bool, request: HTTPRequest? = nil) -> TransportError {
        if let error = error as? TransportError { return error }
        let failure = error as NSError
        guard failure.domain == NSURLErrorDomain else {
            let meaning = meaning(ofDomain: failure.domain, code: failure.code, hasHead: hasHead)
            let text = message(meaning, "\(failure.domain) \(failure.code)")
            let cause = NSError(domain: failure.domain, code: failure.code)
            return TransportError(meaning, text, request: request, underlying: cause)
        }
        let detail = failure.userInfo[NSLocalizedDescriptionKey] as? String ?? ""
        let code = URLError.Code(rawValue: failure.code) as URLError.Code? ?? .unknown
        let meaning = meaning(of: code, detail: detail, hasHead: hasHead)
        return TransportError(
            meaning,
            message(meaning, printable(detail)) + reasonWhyUnavailable(failure),
            request: request,
            underlying: URLError(code, userInfo: numbers(failure))
        )
    }

    /// The meaning of an error number from another domain than URLSession's.
    static func meaning(ofDomain domain: String, code: Int, hasHead: Bool) -> HTTPErrorCode {
        switch domain {
        case NSPOSIXErrorDomain: meaning(ofPOSIX: Int32(truncatingIfNeeded: code), hasHead: hasHead)
        case NSCocoaErrorDomain: meaning(ofCocoa: code)
        case "kCFErrorDomainCFNetwork": meaning(ofCFNetwork: code, hasHead: hasHead)
        default: .transportFailed
        }
    }

    // The ranges of FoundationErrors.h: a file that can't be read, and one that can't be written.
    private static func meaning(ofCocoa code: Int) -> HTTPErrorCode {
        switch code {
        case 256..<512: .unreadableFile
        case 512..<1024: .unwritableFile
        default: .transportFailed
        }
    }

    private static func meaning(ofPOSIX code: Int32, hasHead: Bool) -> HTTPErrorCode {
        switch code {
        // Only a refused connection proves that nothing was sent.
        case ECONNREFUSED: hasHead ? .truncated : .cannotConnect
        // A peer that violates HTTP/2 causes EPROTO.
        case ECONNABORTED, ECONNRESET, ENOTCONN, EPIPE, EPROTO, ETIMEDOUT, ESHUTDOWN, ENETRESET, ENETDOWN, ENETUNREACH,
            EHOSTDOWN, EHOSTUNREACH:
            hasHead ? .truncated : .connectionLost
        case ENOSPC, EDQUOT, EROFS: .unwritableFile
        default: .transportFailed
        }
    }

    // The codes are those of CFNetworkErrors.h; negative ones are those of NSURLErrorDomain.
    private static func meaning(ofCFNetwork code: Int, hasHead: Bool) -> HTTPErrorCode {
        switch code {
        case ..<0:
            (URLError.Code(rawValue: code) as URLError.Code?).map { meaning(of: $0, detail: "", hasHead: hasHead) }
                ?? .transportFailed
        case 302: hasHead ? .truncated : .connectionLost
        case 303: .invalidResponse
        // The proxy can't be reached or refuses the credentials, or its settings can't be read.
        case 306...311: hasHead ? .truncated : .cannotConnect
        default: .transportFailed
        }
    }

    // A number can't contain a URL. `URLError.networkUnavailableReason`, for instance, is a number.
    private static func numbers(_ failure: NSError) -> [String: Any] {
        failure.userInfo.filter { $0.value is NSNumber }
    }

    private static func reasonWhyUnavailable(_ failure: NSError) -> String {
        #if canImport(FoundationNetworking)
        return ""
        #else
        return switch (failure as? URLError)?.networkUnavailableReason {
        case .cellular: " The configuration allows no cellular network, and there is no other."
        case .expensive: " The request or the configuration allows no expensive network, and there is no other."
        case .constrained:
            " The request or the configuration allows no network in Low Data Mode, and there is no other."
        default: ""
        }
        #endif
    }

    /// The meaning of a code and its text: on Linux, many failures share the code -1.
    static func meaning(of code: URLError.Code, detail: String, hasHead: Bool) -> HTTPErrorCode {
        switch code {
        case .timedOut: .timedOut
        case .cannotFindHost, .dnsLookupFailed: hasHead ? .truncated : .cannotFindHost
        // The head proves that there was a connection, so only the rest of the content is lost.
        case .cannotConnectToHost: hasHead ? .truncated : .cannotConnect
        case .notConnectedToInternet, .internationalRoamingOff, .callIsActive, .dataNotAllowed:
            hasHead ? .truncated : .offline
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired:
            .tlsFailed
        case .appTransportSecurityRequiresSecureConnection: .unsupported
        case .networkConnectionLost: hasHead ? .truncated : .connectionLost
        case .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData, .downloadDecodingFailedMidStream,
            .downloadDecodingFailedToComplete:
            .invalidResponse
        case .requestBodyStreamExhausted: .bodyNotReplayable
        case .fileDoesNotExist, .noPermissionsToReadFile, .fileIsDirectory: .unreadableFile
        // A download task writes its content to a file, which can fail.
        case .cannotCreateFile, .cannotOpenFile, .cannotCloseFile, .cannotWriteToFile, .cannotRemoveFile,
            .cannotMoveFile:
            .unwritableFile
        case .badURL: .unsupportedURL
        case .badServerResponse: detail.hasPrefix("Empty reply") ? .connectionLost : .invalidResponse
        // Foundation's translation of libcurl's "unsupported protocol", which libcurl also reports for a response that isn't
        // HTTP.
        case .unsupportedURL:
            detail.contains("HTTP") || detail.contains("response") ? .invalidResponse : .unsupportedURL
        case .unknown: meaning(ofText: detail, hasHead: hasHead)
        default: .transportFailed
        }
    }

    // libcurl's texts (lib/http.c, lib/transfer.c, lib/content_encoding.c, lib/vtls). Foundation turns many of libcurl's
    // errors into -1, so only the texts distinguish them.
    private static func meaning(ofText text: String, hasHead: Bool) -> HTTPErrorCode {
        func says(_ parts: String...) -> Bool { parts.contains { text.contains($0) } }
        // A read or write error means that a connection existed, and that the request may have been sent.
        if says("SSL_read", "SSL_write", "GnuTLS recv", "GnuTLS send") {
            return hasHead ? .truncated : TLSAlert.isRefusal(text) ? .tlsFailed : .connectionLost
        }
        if !hasHead, TLSAlert.isLostHandshake(text) { return .connectionLost }
        if !hasHead, says("SSL", "TLS", "certificate", "schannel") { return .tlsFailed }
        if says("encoding", "Encoding", "chunk", "malformed") { return .invalidResponse }
        if hasHead || says("transfer closed") { return .truncated }
        if says("Send failure", "Recv failure", "rewind", "aborted") { return .connectionLost }
        if says("header", "Header", "Content-Length", "Out of memory", "HTTP") { return .invalidResponse }
        return .transportFailed
    }

    private static func message(_ code: HTTPErrorCode, _ detail: String) -> String {
        let reason = detail.isEmpty ? "" : " (\(detail))"
        return switch code {
        case .timedOut: "The system's own time limit passed\(reason)."
        case .cannotFindHost: "The host name has no address\(reason)."
        case .offline: "The device has no network\(reason)."
        case .cannotConnect: "No connection could be made\(reason)."
        case .tlsFailed: "No trusted TLS connection could be made\(reason)."
        case .connectionLost: "The connection ended before the response began\(reason)."
        case .truncated: "The connection ended before the content was complete\(reason)."
        case .invalidResponse: "What came back is no HTTP response that can be read\(reason)."
        case .unwritableFile: "The content can't be written to a file\(reason). Check the free space of the disk."
        case .unreadableFile: "The file to be sent can't be read\(reason)."
        case .unsupportedURL: "The system does not accept the URL\(reason)."
        case .unsupported: "App Transport Security refuses the connection\(reason)."
        default: "The transfer failed\(reason)."
        }
    }

    /// The system's text, or nothing if the text may contain a URL: a host name is no secret, but a query may be.
    private static func printable(_ detail: String) -> String {
        let bytes = detail.utf8
        let mayHoldURL =
            bytes.contains("://".utf8) || bytes.contains(UInt8(ascii: "?")) || bytes.contains(UInt8(ascii: "@"))
        return mayHoldURL || bytes.count > 300 ? "" : detail
    }
}
