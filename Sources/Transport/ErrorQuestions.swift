internal import Foundation

// These properties extend `Error`, not only `HTTPError`, so that a plain `catch` can use them. Also, a cancellation is always
// an unwrapped `CancellationError`. An app's own extension of `Error` takes precedence over these.
//
// Each property holds for an error of any type: by its code, by the status of its response, and by its causes, because an
// ``HTTPError/underlying`` error is the same failure as a lower layer reported it.
extension Error {
    /// Whether the device has no connection to a network: the code is ``HTTPErrorCode/offline``, or the system says so. A server
    /// that is down doesn't count.
    ///
    /// On Apple platforms the system reports this. On Linux only an unreachable network counts, because the system can't tell a
    /// missing network from a wrong host name.
    public var isOffline: Bool { isOrIsCausedBy { $0.has(.offline) || $0.saysOffline } }

    /// Whether a time limit passed, the transport's, the system's or the call's: the code is ``HTTPErrorCode/timedOut``.
    public var isTimeout: Bool {
        isOrIsCausedBy { $0.has(.timedOut) || ($0 as? URLError)?.code == .timedOut || $0.isPOSIX([ETIMEDOUT]) }
    }

    /// Whether the call was cancelled: a `CancellationError`, or the similar error of URLSession. No code means a cancellation.
    ///
    /// Calls of this package throw `CancellationError` itself, never wrapped in another error.
    public var isCancelled: Bool {
        isOrIsCausedBy { $0 is CancellationError || ($0 as? URLError)?.code == .cancelled }
    }

    /// Whether the server failed: the response has a status from 500 to 599. The 504 that a cache makes while the server can't
    /// be reached doesn't count.
    public var isServerFault: Bool {
        isOrIsCausedBy { error in
            guard let response = (error as? any HTTPError)?.response else { return false }
            return response.status.kind == .serverError && !response.context.isMadeLocally
        }
    }
}

extension Error {
    /// Whether a condition holds for this error or for one of the errors that caused it.
    package func isOrIsCausedBy(_ condition: (any Error) -> Bool) -> Bool {
        causes.contains(where: condition)
    }

    /// Whether this error, or one of the errors that caused it, has one of these codes.
    package func isOrIsCausedBy(_ codes: Set<HTTPErrorCode>) -> Bool {
        isOrIsCausedBy { ($0 as? any HTTPError).map { codes.contains($0.code) } ?? false }
    }

    /// The response of this error, or of the nearest cause with a response.
    package var receivedResponse: HTTPResponse? {
        causes.lazy.compactMap { ($0 as? any HTTPError)?.response }.first
    }

    /// This error, its cause, the cause's cause and so on.
    package var causes: [any Error] {
        // Limited, because an error that is a class may be its own cause.
        Array(sequence(first: self as any Error) { ($0 as? any HTTPError)?.cause }.prefix(CauseDepth.limit))
    }

    fileprivate func has(_ code: HTTPErrorCode) -> Bool { (self as? any HTTPError)?.code == code }

    fileprivate var saysOffline: Bool {
        switch (self as? URLError)?.code {
        case .notConnectedToInternet, .internationalRoamingOff, .callIsActive, .dataNotAllowed: true
        default: isPOSIX([ENETDOWN, ENETUNREACH])
        }
    }

    fileprivate func isPOSIX(_ codes: Set<Int32>) -> Bool {
        guard !(self is any HTTPError) else { return false }
        let error = self as NSError
        return error.domain == NSPOSIXErrorDomain && codes.contains(Int32(truncatingIfNeeded: error.code))
    }
}
