internal import Foundation
internal import Interceptors
internal import Synchronization

/// Runs the chain of a client on a request, up to the point where the request would be sent.
///
/// The request doesn't get a response then, but a `CancellationError`. Every interceptor passes this error on: it isn't retried,
/// stored, judged or counted. A made-up response could be stored by a cache, opened as an envelope, or close a circuit.
///
/// After a 401, the chain first gets that response, so that `retryOnUnauthorized` replaces the credential. If the request has
/// another token than the rejected one, somebody has replaced it already, and the request is right.
struct RequestPreparation: Sendable {
    /// The 401 to the earlier attempt.
    struct Rejection: Sendable {
        let response: HTTPResponse
        /// The hash of the token that the server rejected, if it is known: the earlier attempt may be of another launch.
        let token: Int?
    }

    private let client: Client
    private let replacement: SessionReplacement?

    /// - Parameter replacement: the conditions of the system's session; `nil` if the process runs the transfers.
    init(_ client: Client, replacement: SessionReplacement? = nil) {
        self.replacement = replacement
        self.client = Client(
            baseURL: client.baseURL,
            interceptors: client.chain.interceptors,
            transport: Self.ending(client.chain.transport)
        )
    }

    /// The transport inside all chains and clients, whose interceptors have prepared the request.
    static func innermost(_ transport: any Transport) -> any Transport {
        switch transport {
        case let chain as InterceptorChain: innermost(chain.transport)
        case let client as Client: innermost(client.chain.transport)
        default: transport
        }
    }

    /// The transport with its own interceptors, if it has some.
    private static func ending(_ transport: any Transport) -> any Transport {
        switch transport {
        case let chain as InterceptorChain: InterceptorChain(chain.interceptors, transport: ending(chain.transport))
        case let client as Client: RequestPreparation(client).client
        default: CapturingTransport(base: transport)
        }
    }

    /// Returns the request as the chain would send it.
    ///
    /// - Parameter rejection: the 401 to the earlier attempt, if any.
    /// - Throws: ``TransferError`` with `answeredByChain`, or with `unsupported` if the system's session can't send it; errors of
    ///   the chain, such as that of a refresh.
    func prepare(_ request: HTTPRequest, after rejection: Rejection? = nil) async throws -> HTTPRequest {
        let capture = RequestCapture(rejection: rejection)
        var given = request
        given.context.capture = capture
        // So that no cache answers.
        given.context.callShape.mayStore = false
        // So that no call for a response joins this one, whose response is an error.
        given.context.responseBody = .streamed
        var failure: (any Error)?
        do {
            try await client.send(given).body.discard()
        } catch {
            failure = error
        }
        try Task.checkCancellation()
        let result = capture.result
        guard var prepared = result.request else {
            if let failure, !(failure is CancellationError) { throw failure }
            let message =
                "An interceptor answered the request or joined it to another one, so there is nothing to enqueue. Prepare"
                + " background transfers with a chain that only adds what a request needs, such as fields and credentials."
            throw TransferError(.answeredByChain, message, request: request)
        }
        // Otherwise the request with the rejected token would be sent again.
        if let failure, result.isRejected, !failure.isReplayedRejection { throw failure }
        prepared.context.callShape = request.context.callShape
        prepared.context.responseBody = request.context.responseBody
        // They were for the call that ends here.
        prepared.context.timeouts = nil
        prepared.context.deadline = nil
        try prepared.validate()
        try replacement?.check(prepared)
        return prepared
    }
}

extension HTTPRequest {
    /// The hash of the bearer token, by the function of this process: it tells tokens apart without keeping them. `nil` for a request
    /// without one. Other credentials, such as signatures, differ with each request.
    var tokenHash: Int? {
        guard let value = headers[.authorization], value.lowercased().hasPrefix("bearer ") else { return nil }
        return value.hashValue
    }
}

/// The first request that reaches the end of the chain, or the one after the rejection. An interceptor that repeats every failure
/// may send more.
private final class RequestCapture: Sendable {
    private struct State {
        var request: HTTPRequest?
        var rejection: RequestPreparation.Rejection?
        var isRejected = false
    }

    private let state: Mutex<State>

    init(rejection: RequestPreparation.Rejection?) { state = Mutex(State(rejection: rejection)) }

    /// The request, and whether it got the rejection, and no other followed.
    var result: (request: HTTPRequest?, isRejected: Bool) { state.withLock { ($0.request, $0.isRejected) } }

    /// Takes a request. Returns the response to it, or `nil` if it ends here.
    func take(_ request: HTTPRequest) -> HTTPResponse? {
        state.withLock { state in
            if state.request == nil || state.isRejected {
                state.request = request
                // Otherwise this object would keep itself alive.
                state.request?.context.capture = nil
            }
            state.isRejected = false
            guard let rejection = state.rejection else { return nil }
            state.rejection = nil
            if let sent = rejection.token, let next = request.tokenHash, next != sent { return nil }
            state.isRejected = true
            return rejection.response
        }
    }
}

extension Error {
    /// Whether an interceptor made this error, or its cause, of the replayed rejection.
    fileprivate var isReplayedRejection: Bool {
        isOrIsCausedBy { ($0 as? any HTTPError)?.response?.context.capture != nil }
    }
}

extension HTTPContext {
    private enum CaptureKey: HTTPContextKey { static var defaultValue: RequestCapture? { nil } }

    /// On a request that is being prepared: where its final form goes. On a response: it is the 401 to the earlier attempt.
    fileprivate var capture: RequestCapture? {
        get { self[CaptureKey.self] }
        set { self[CaptureKey.self] = newValue }
    }
}

/// The end of a chain that prepares requests.
private struct CapturingTransport: Transport {
    /// Sends the requests that interceptors make themselves, such as one for a new token.
    let base: any Transport

    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        guard let capture = request.context.capture else { return try await base.send(request) }
        guard var rejection = capture.take(request) else { throw CancellationError() }
        rejection.url = request.url
        rejection.context.capture = capture
        return rejection
    }
}
