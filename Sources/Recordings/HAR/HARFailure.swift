internal import InterceptorsTransport

/// Failures as programs name them in the text `_error` or `_failureText` of an archive's response.
enum HARFailure {
    /// The code for a failure; `nil` if the caller cancelled the request.
    ///
    /// Chrome and Playwright write `net::ERR_…` or the text of WebKit or Firefox, a journal the type and the code of the error.
    static func code(of text: String, hasHead: Bool) -> HTTPErrorCode? {
        if cancellations.contains(where: text.contains) { return nil }
        if let known = codes.first(where: { text.contains($0.part) })?.code { return known }
        return hasHead ? .truncated : .transportFailed
    }

    private static let cancellations = ["ERR_ABORTED", "NS_BINDING_ABORTED", "CancellationError", "cancelled"]

    private static let codes: [(part: String, code: HTTPErrorCode)] = [
        ("ERR_CONTENT_LENGTH_MISMATCH", .truncated), ("ERR_INCOMPLETE_CHUNKED_ENCODING", .truncated),
        ("NS_ERROR_NET_PARTIAL_TRANSFER", .truncated), (".truncated", .truncated),
        ("ERR_NAME_NOT_RESOLVED", .cannotFindHost), ("NS_ERROR_UNKNOWN_HOST", .cannotFindHost),
        (".cannotFindHost", .cannotFindHost),
        ("ERR_CONNECTION_REFUSED", .cannotConnect), ("ERR_ADDRESS_UNREACHABLE", .cannotConnect),
        ("NS_ERROR_CONNECTION_REFUSED", .cannotConnect), (".cannotConnect", .cannotConnect),
        ("ERR_INTERNET_DISCONNECTED", .offline), ("NS_ERROR_OFFLINE", .offline), (".offline", .offline),
        ("ERR_CONNECTION_TIMED_OUT", .timedOut), ("ERR_TIMED_OUT", .timedOut), ("NS_ERROR_NET_TIMEOUT", .timedOut),
        (".timedOut", .timedOut),
        ("ERR_CONNECTION_RESET", .connectionLost), ("ERR_CONNECTION_CLOSED", .connectionLost),
        ("ERR_EMPTY_RESPONSE", .connectionLost), ("ERR_NETWORK_CHANGED", .connectionLost),
        ("NS_ERROR_NET_RESET", .connectionLost), ("NS_ERROR_NET_INTERRUPT", .connectionLost),
        (".connectionLost", .connectionLost),
        ("ERR_CERT_", .tlsFailed), ("ERR_SSL_", .tlsFailed), ("SEC_ERROR_", .tlsFailed), (".tlsFailed", .tlsFailed),
        ("ERR_INVALID_HTTP_RESPONSE", .invalidResponse), (".invalidResponse", .invalidResponse),
    ]
}
