internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// What Foundation's errors mean, in the words of ``TransportError``.
enum SessionFailure {
    /// The error of a task as a ``TransportError``. Of Foundation's, only the number is kept: its other parts hold the URL.
    static func error(_ error: any Error, in phase: TransferState.Phase, request: HTTPRequest) -> TransportError {
        if let error = error as? TransportError { return error }
        let failure = error as NSError
        guard failure.domain == NSURLErrorDomain else {
            let message = "The transfer failed: \(failure.domain) \(failure.code)."
            return TransportError(.other, message, request: request)
        }
        let hasHead =
            switch phase {
            case .buffering, .streaming: true
            case .preparing, .waiting, .ended: false
            }
        let detail = failure.userInfo[NSLocalizedDescriptionKey] as? String ?? ""
        let code = URLError.Code(rawValue: failure.code) as URLError.Code? ?? .unknown
        let meaning = meaning(of: code, detail: detail, hasHead: hasHead)
        return TransportError(
            meaning,
            message(meaning, printable(detail)),
            request: request,
            underlying: URLError(code)
        )
    }

    /// What a code says, together with the text that came with it: on Linux, many failures share the code -1.
    static func meaning(of code: URLError.Code, detail: String, hasHead: Bool) -> TransportError.Code {
        switch code {
        case .timedOut: .timedOut
        case .cannotFindHost, .dnsLookupFailed: hasHead ? .truncated : .cannotFindHost
        case .cannotConnectToHost, .notConnectedToInternet, .internationalRoamingOff, .callIsActive, .dataNotAllowed:
            // After the head there was a connection, and what is gone is the way to go on.
            hasHead ? .truncated : .cannotConnect
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired:
            .tlsFailed
        case .appTransportSecurityRequiresSecureConnection: .unsupported
        case .networkConnectionLost: hasHead ? .truncated : .connectionLost
        case .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData: .invalidResponse
        case .fileDoesNotExist, .noPermissionsToReadFile, .fileIsDirectory: .unreadableFile
        case .badURL: .unsupportedURL
        case .badServerResponse: detail.hasPrefix("Empty reply") ? .connectionLost : .invalidResponse
        // libcurl's "unsupported protocol", which it also says of what is no HTTP.
        case .unsupportedURL:
            detail.contains("HTTP") || detail.contains("response") ? .invalidResponse : .unsupportedURL
        case .unknown: meaning(ofText: detail, hasHead: hasHead)
        default: .other
        }
    }

    // libcurl's texts (lib/http.c, lib/transfer.c, lib/content_encoding.c, lib/vtls), the only thing that tells its errors
    // apart once Foundation has made -1 of them.
    private static func meaning(ofText text: String, hasHead: Bool) -> TransportError.Code {
        func says(_ parts: String...) -> Bool { parts.contains { text.contains($0) } }
        // What can't be read or written any more is a connection that stood, and the request may have gone over it.
        if says("SSL_read", "SSL_write", "GnuTLS recv", "GnuTLS send") {
            return hasHead ? .truncated : TLSAlert.isRefusal(text) ? .tlsFailed : .connectionLost
        }
        if !hasHead, says("SSL", "TLS", "certificate", "schannel") { return .tlsFailed }
        if says("encoding", "Encoding", "chunk", "malformed") { return .invalidResponse }
        if hasHead || says("transfer closed") { return .truncated }
        if says("Send failure", "Recv failure", "rewind", "aborted") { return .connectionLost }
        if says("header", "Header", "Content-Length", "Out of memory", "HTTP") { return .invalidResponse }
        return .other
    }

    private static func message(_ code: TransportError.Code, _ detail: String) -> String {
        let reason = detail.isEmpty ? "" : " (\(detail))"
        return switch code {
        case .timedOut: "The system's own time limit passed\(reason)."
        case .cannotFindHost: "The host name has no address\(reason)."
        case .cannotConnect: "No connection could be made\(reason)."
        case .tlsFailed: "No trusted TLS connection could be made\(reason)."
        case .connectionLost: "The connection ended before the response began\(reason)."
        case .truncated: "The connection ended before the content was complete\(reason)."
        case .invalidResponse: "What came back is no HTTP response that can be read\(reason)."
        case .unreadableFile: "The file to be sent can't be read\(reason)."
        case .unsupportedURL: "The system does not accept the URL\(reason)."
        case .unsupported: "App Transport Security refuses the connection\(reason)."
        default: "The transfer failed\(reason)."
        }
    }

    /// Text of the system as far as it can hold no URL: a host name is no secret, a query may be.
    private static func printable(_ detail: String) -> String {
        let bytes = detail.utf8
        let mayHoldURL =
            bytes.contains("://".utf8) || bytes.contains(UInt8(ascii: "?")) || bytes.contains(UInt8(ascii: "@"))
        return mayHoldURL || bytes.count > 300 ? "" : detail
    }
}
