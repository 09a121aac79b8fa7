internal import AsyncHTTPClient
internal import Foundation
internal import Interceptors
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL

/// Turns AsyncHTTPClient's errors into ours.
enum Failure {
    /// Whether a connection ended before any byte of the response.
    static func isLostConnection(_ error: any Error) -> Bool {
        error as? HTTPClientError == .remoteConnectionClosed || error is IOError || error is ChannelError
            || error as? NIOSSLError == .uncleanShutdown
    }

    /// Whether nothing can have been sent. An unreachable host proves nothing, because it also ends established connections.
    private static func isRefusal(_ error: any Error) -> Bool {
        [ECONNREFUSED, EADDRNOTAVAIL].contains((error as? IOError)?.errnoCode)
    }

    private static func isOffline(_ error: NIOConnectionError) -> Bool {
        error.connectionErrors.allSatisfy { [ENETUNREACH, ENETDOWN].contains(($0.error as? IOError)?.errnoCode) }
    }

    /// The error for the caller.
    ///
    /// - Parameters:
    ///   - error: the client's error.
    ///   - hasHead: whether the head of the response has arrived.
    ///   - source: the error of the request's body, if reading that failed.
    ///   - request: the request.
    static func error(
        _ error: any Error,
        hasHead: Bool,
        _ source: (any Error)?,
        _ request: HTTPRequest
    ) -> any Error {
        if let error = source ?? (error as? any HTTPError) { return bodyFailure(error, request) }
        let (code, message) = hasHead ? inContent(error) : beforeHead(error)
        return TransportError(code, message, request: request, underlying: error)
    }

    /// The error of a body's source, which may send requests itself: its error then says nothing about this request.
    private static func bodyFailure(_ error: any Error, _ request: HTTPRequest) -> any Error {
        // A body's own errors name no request.
        if let error = error as? TransportError, !error.sentNothing, error.request == nil {
            return TransportError(error.code, error.message, request: request, underlying: error.underlying)
        }
        return TransportError(
            .bodySourceFailed,
            "Reading the content of the request failed.",
            request: request,
            underlying: error
        )
    }

    private static func beforeHead(_ error: any Error) -> (HTTPErrorCode, String) {
        switch error {
        case _ where error as? HTTPClientError == .connectTimeout:
            (.timedOut, "No connection was established.")
        case _ where error as? HTTPClientError == .alreadyShutdown:
            (.transportFailed, "The transport was shut down.")
        case let error as NIOConnectionError where error.connectionErrors.isEmpty:
            (.cannotFindHost, "The host name has no address.")
        case let error as NIOConnectionError where isOffline(error): (.offline, "The device has no network.")
        case is SocketAddressError: (.cannotFindHost, "The host name has no address.")
        case _ where error is NIOConnectionError || isRefusal(error): (.cannotConnect, "No connection could be made.")
        case is HTTPParserError: (.invalidResponse, "The received bytes aren't an HTTP response.")
        case _ where isLostConnection(error) || error as? HTTPClientError == .cancelled || error is CancellationError:
            (.connectionLost, "The connection ended before the response began.")
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError:
            (.tlsFailed, "No trusted TLS connection could be made.")
        default: (.transportFailed, "The request failed.")
        }
    }

    private static func inContent(_ error: any Error) -> (HTTPErrorCode, String) {
        if let error = error as? HTTPParserError, error != .invalidEOFState {
            return (.invalidResponse, "The received bytes aren't an HTTP response.")
        }
        let isCut =
            isLostConnection(error) || error is HTTPParserError || error is CancellationError
            || error as? HTTPClientError == .cancelled
        return isCut
            ? (.truncated, "The response ended before its content was complete.")
            : (.transportFailed, "Receiving the content failed.")
    }
}
