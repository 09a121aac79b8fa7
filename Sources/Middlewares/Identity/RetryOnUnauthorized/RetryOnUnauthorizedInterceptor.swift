/// Gets a new credential when a server rejects the one that a request carried, and runs the rest of the chain again, once.
///
/// With a ``TokenStore``, or with a closure that logs in where the credential is a cookie or something else that an
/// interceptor further inside adds:
///
/// ```swift
/// interceptors: [.followRedirects(), .retryOnUnauthorized(tokens), .bearerAuth(tokens), .retry(…)]
/// interceptors: [.retryOnUnauthorized { try await logIn() }, .cookies(jar)]
/// ```
/// Its place is outside of what adds the credential, since only what stands inside runs again, and inside of what turns a
/// 401 into an error. What unwraps an envelope that hides a 401 in a 200 stands inside, with a condition for its error.
///
/// - However many requests are rejected, one refresh serves them all. One that was rejected with an older credential than
///   the current one is sent again without a refresh.
/// - The request is sent again as it came to this interceptor, never as those inside had changed it. The rejected response's
///   body is discarded before the refresh, so that it holds no connection meanwhile.
/// - A second rejection is the answer. So is the first where it doesn't concern the credential: the request went to
///   another origin, had an `Authorization` field of its own, belongs to a session that was signed out since, is part of
///   the refresh itself (``CredentialRefresh/isCurrent``), or says in its context that its rejection means something else
///   (``Interceptors/HTTPContext/authorization``). So is one that comes after a redirect, followed inside, which
///   shows that the request itself was acted on. So is a rejection of a new credential soon after its refresh (`pause`
///   of the ``TokenStore``, or of the factory), if no server has accepted the credential yet.
/// - A body that can't be sent again fails the call with ``TransportError/Code/bodyNotReplayable``, after the refresh, so
///   that the caller's next attempt with a new body succeeds.
///
/// What limits concurrency, and stands outside of this interceptor or of `bearerAuth`, must let the requests of a refresh
/// that goes through the same chain pass (``CredentialRefresh/isCurrent``): all permits may be held by requests that wait
/// for it. Inside of both it needs no such care.
public struct RetryOnUnauthorizedInterceptor: Interceptor {
    private let source: any UnauthorizedSource
    private let condition: UnauthorizedCondition

    /// An interceptor that has a store's rejected token refreshed.
    ///
    /// - Parameters:
    ///   - tokens: the store that ``BearerAuthInterceptor``, further inside, sends the token of.
    ///   - condition: which answers reject the token.
    public init(_ tokens: TokenStore, when condition: UnauthorizedCondition = .status(401)) {
        self.init(TokenSource(tokens: tokens), when: condition)
    }

    /// An interceptor that logs in anew. Its copies share one log-in, so it may stand in several chains.
    ///
    /// - Parameters:
    ///   - origins: whose answers count; `nil` for the origin of the base URL of the client that sends a request, or else
    ///     the origin that the request is for.
    ///   - condition: which answers reject the session.
    ///   - pause: the time after a log-in in which a rejection of the new session starts no other log-in, unless a response
    ///     has accepted the session; 10 seconds by default, `.zero` for no pause.
    ///   - clock: measures the pause.
    ///   - logIn: logs in. It may go through the same chain, in which its own rejections are passed through.
    public init(
        origins: Set<Origin>? = nil,
        when condition: UnauthorizedCondition = .status(401),
        pause: Duration = CredentialRefresh.defaultPause,
        clock: any Clock<Duration> = ContinuousClock(),
        logIn: @escaping @Sendable () async throws -> Void
    ) {
        self.init(SessionSource(origins: origins, pause: pause, clock: clock, logIn: logIn), when: condition)
    }

    init(_ source: any UnauthorizedSource, when condition: UnauthorizedCondition = .status(401)) {
        self.source = source
        self.condition = condition
    }

    /// Passes the request on, and once more with a new credential if it is rejected.
    ///
    /// - Throws: what the refresh throws; ``AuthenticationError`` with ``AuthenticationError/Code/wrongOrder`` if
    ///   `bearerAuth` stands outside, and with ``AuthenticationError/Code/signedOut`` if the session ends meanwhile;
    ///   ``TransportError`` with ``TransportError/Code/bodyNotReplayable``; `CancellationError`; what the rest throws.
    @inline(__always)
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard let record = try source.track(&request) else { return try await next(request) }
        let answer: Result<HTTPResponse, any Error>
        do {
            let response = try await next(copy request)
            guard condition.mayMatch(response.status) else {
                source.noteAnswer(response, to: record)
                return response
            }
            answer = .success(response)
        } catch {
            answer = .failure(error)
        }
        guard condition.matches(answer) else {
            if case .success(let response) = answer { source.noteAnswer(response, to: record) }
            return try answer.get()
        }
        guard !answer.hasChangedMethod,
            let rejected = source.generation(rejectedBy: answer, to: record)
        else {
            return try answer.get()
        }
        if case .success(let response) = answer { response.body.discard() }
        try await source.renew(rejected, record)
        guard request.body.isReadable else {
            throw TransportError(
                .bodyNotReplayable,
                "The server rejected the credential, and a new one was obtained; but the body is a one-shot stream that"
                    + " was used up, so the request was not sent again. Send it with a new body, or use"
                    + " HTTPBody.restartable, bytes or a file.",
                request: request
            )
        }
        return try await sendAgain(request, next, record)
    }

    private func sendAgain(
        _ request: consuming HTTPRequest,
        _ next: Next,
        _ record: AuthorizationRecord
    ) async throws -> HTTPResponse {
        do {
            let response = try await next(request)
            if condition.matches(.success(response)) {
                source.noteRejectedAgain(record)
            } else {
                source.noteAnswer(response, to: record)
            }
            return response
        } catch {
            if condition.matches(.failure(error)) { source.noteRejectedAgain(record) }
            throw error
        }
    }
}

extension Interceptor where Self == RetryOnUnauthorizedInterceptor {
    /// Refreshes the token of a store when a server rejects it, and runs the rest of the chain again, once.
    ///
    /// ```swift
    /// [.retryOnUnauthorized(tokens), .bearerAuth(tokens)]
    /// [.retryOnUnauthorized(tokens, when: .status(401) || .error(EnvelopeError.self) { $0.code == 1001 }), …]
    /// ```
    public static func retryOnUnauthorized(
        _ tokens: TokenStore,
        when condition: UnauthorizedCondition = .status(401)
    ) -> Self {
        Self(tokens, when: condition)
    }

    /// Logs in anew when a server says that a request is not authorised, and runs the rest of the chain again, once.
    ///
    /// ```swift
    /// [.retryOnUnauthorized { try await logIn() }, .cookies(jar)]
    /// ```
    public static func retryOnUnauthorized(
        origins: Set<Origin>? = nil,
        when condition: UnauthorizedCondition = .status(401),
        pause: Duration = CredentialRefresh.defaultPause,
        clock: any Clock<Duration> = ContinuousClock(),
        logIn: @escaping @Sendable () async throws -> Void
    ) -> Self {
        Self(origins: origins, when: condition, pause: pause, clock: clock, logIn: logIn)
    }
}
