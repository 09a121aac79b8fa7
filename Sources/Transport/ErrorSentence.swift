/// Sentences about errors for people who use an app. No sentence contains a code, a URL or text from the server.
enum ErrorSentence {
    static let offline = "The Internet connection appears to be offline."
    static let timeout = "The request timed out."
    static let unreachable = "The server can't be reached."
    static let insecure = "A secure connection to the server can't be made."
    static let unreadable = "The server's response can't be read."
    static let unsent = "The request could not be sent."
    static let failure = "The request failed."

    /// The sentence for an error without a specific sentence.
    static func about(_ error: some HTTPError) -> String {
        if error.isOffline { return offline }
        if error.isTimeout { return timeout }
        if let response = error.receivedResponse {
            guard response.context.isMadeLocally else { return about(response.status) }
            guard error.underlying != nil else { return "This is not available offline." }
        }
        if let underlying = error.underlying as? any HTTPError,
            let sentence = CauseDepth.descend({ underlying.errorDescription }) ?? nil
        {
            return sentence
        }
        return error.sentNothing ? unsent : failure
    }

    private static func about(_ status: HTTPResponse.Status) -> String {
        switch status.code {
        case 401: "You need to sign in."
        case 403: "You are not allowed to do this."
        case 404, 410: "This could not be found."
        case 408: timeout
        case 413: "This is too large to send."
        case 429: "There were too many requests. Please try again later."
        case 500...599: "The server has a problem. Please try again later."
        default: "The server did not accept the request."
        }
    }

    static func about(_ code: HTTPErrorCode) -> String? {
        switch code {
        case .offline: offline
        case .cannotFindHost, .cannotConnect: unreachable
        case .tlsFailed, .notACertificate, .notAPrivateKey, .keyMismatch, .notAnIdentity, .wrongPassword, .invalidPin,
            .invalidHostPattern, .invalidPublicKey, .pinsUnavailable, .pinsNotSigned, .pinsExpired, .pinsOutdated,
            .pinsLackHost, .pinsNotSaved, .malformed:
            insecure
        case .connectionLost, .truncated: "The connection to the server was lost."
        case .invalidResponse, .bodyTooLarge: unreadable
        case .unreadableFile: "The file can't be read."
        case .unwritableFile: "The file can't be saved."
        case .bodyNotReplayable: "The content can't be read or sent a second time."
        case .invalidRequest, .unsupportedURL, .unsupported, .sendingForbidden: unsent
        default: nil
        }
    }
}
