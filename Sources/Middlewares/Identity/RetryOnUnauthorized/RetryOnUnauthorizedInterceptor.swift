/// The implementation of `.retryOnUnauthorized(…)`, documented there.
struct RetryOnUnauthorizedInterceptor: PlacedInterceptor {
    let tokens: TokenStore
    let condition: OutcomeCondition

    @inline(__always)
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard let record = try track(&request) else { return try await next(request) }
        let answer = await next.outcome(of: copy request)
        guard condition.matches(answer, to: request) else {
            if case .success(let response) = answer { tokens.noteAnswer(response, to: record) }
            return try answer.get()
        }
        guard !answer.hasChangedMethod, isRepeatable(request, after: answer) else {
            request.note(.notRefreshed("the server may have acted on an earlier attempt"))
            return try answer.get()
        }
        guard let rejected = record.generation(in: answer.answered), tokens.isWorthRenewing(rejected) else {
            request.note(.notRefreshed("the request carried no credential of the store, or a refresh was just made"))
            return try answer.get()
        }
        answer.answered?.body.discard()
        let renewed = try await tokens.value(rejecting: rejected, for: copy request, because: answer.cause)
        if tokens.isForLogIns { record.note(renewed.generation) }
        guard request.body.isReadable else {
            let message =
                "The credential was renewed, but the request was not sent again, because its body is a one-shot stream that was"
                + " used up. Send it with a new body, or use HTTPBody.restartable, bytes or a file."
            throw TransportError(.bodyNotReplayable, message, request: request)
        }
        return try await sendAgain(request, next, record)
    }

    /// Prepares a request for one run of the rest of the chain. Returns `nil` if the request's outcome isn't handled here.
    private func track(_ request: inout HTTPRequest) throws -> AuthorizationRecord? {
        // If two interceptors have the same store, the outer one does the work. Requests of the refresh need no exception:
        // the store adds no token to them, so a response can't reject one.
        var authorization = request.context.authorizations[tokens]
        guard request.context.authorization == .automatic, authorization.record == nil else { return nil }
        if authorization.isHandled { throw AuthenticationError.wrongOrder(of: request) }
        let record: AuthorizationRecord
        if tokens.isForLogIns {
            // Requests carry no recognisable sign of the session, so the record notes its generation up front.
            guard !CredentialRefresh.isCurrent(of: tokens), let origin = Origin(request.url) else { return nil }
            let origins = tokens.origins ?? [request.context.clientOrigin ?? origin]
            guard origins.contains(origin) else { return nil }
            record = AuthorizationRecord(tokens.generation, origins: origins)
        } else {
            record = AuthorizationRecord()
        }
        authorization.record = record
        request.context.authorizations[tokens] = authorization
        return record
    }

    /// Whether the request may be sent again after an inner `retry`: the server may have acted on an attempt before it rejected
    /// the credential.
    private func isRepeatable(_ request: borrowing HTTPRequest, after answer: Result<HTTPResponse, any Error>) -> Bool {
        // No `||`: its right side is a closure, which can't capture a borrowed request on Apple's platforms.
        if request.isIdempotent { return true }
        return !answer.mayHaveActed(on: copy request)
    }

    private func sendAgain(
        _ request: consuming HTTPRequest,
        _ next: Next,
        _ record: AuthorizationRecord
    ) async throws -> HTTPResponse {
        request.context.resendCount += 1
        request.context.callShape.willResend?()
        request.note(.sentAgain)
        let answer = await next.outcome(of: copy request)
        if condition.matches(answer, to: request) {
            tokens.noteRejectedAgain(answer.answered, to: record)
        } else if case .success(let response) = answer {
            tokens.noteAnswer(response, to: record)
        }
        return try answer.get()
    }

    var placement: [ChainRole] {
        [tokens.isForLogIns ? .renewsCredentials : .renewsCredentials.of(tokens, for: tokens.origins)]
    }
}

extension Interceptor where Self == AnyInterceptor {
    /// Renews the credential when a server rejects it, and runs the rest of the chain again, once.
    ///
    /// The new credential comes from a ``TokenStore``, or, if an interceptor further inside adds a cookie or another
    /// credential, from a closure that logs in:
    ///
    /// ```swift
    /// interceptors: [.followRedirects(), .retryOnUnauthorized(tokens), .bearerAuth(tokens), .retry(…)]
    /// interceptors: [.retryOnUnauthorized { try await logIn() }, .cookies(jar)]
    /// interceptors: [
    ///     .retryOnUnauthorized(tokens, when: .status(401) || .error(EnvelopeError.self) { $0.serverCode == 1001 }),
    ///     .unwrapEnvelope(payload: "object"), .bearerAuth(tokens),
    /// ]
    /// ```
    ///
    /// ## Order
    /// Put `retryOnUnauthorized` outside the interceptor that adds the credential, because only the rest of the chain runs
    /// again, and inside every interceptor that turns a 401 into an error. If a server hides a 401 in an envelope with status
    /// 200, put `unwrapEnvelope` inside too, and pass a condition that matches its error.
    ///
    /// ## Behaviour
    /// - One refresh serves all rejected requests. If a request was rejected with an older credential than the current one, it
    ///   is sent again without a refresh.
    /// - The request is sent again as this interceptor received it, without the changes of inner interceptors. The rejected
    ///   response's body is discarded before the refresh, so that it holds no connection meanwhile.
    /// - A second rejection goes to the caller.
    /// - A first rejection goes to the caller if it doesn't concern the credential. The request went to another origin, had an
    ///   `Authorization` field, belongs to a session that a sign-out has ended, or is part of the refresh
    ///   (`Task.isRefreshingCredential`). Or its context says that a rejection means something else
    ///   (``InterceptorsTransport/HTTPContext/authorization``).
    /// - A first rejection also goes to the caller after a redirect that an inner interceptor followed and that changed the
    ///   method: the server has already acted on the request. If a request isn't idempotent, its rejection goes to the caller
    ///   when the server may have acted on an earlier attempt of an inner `retry`.
    /// - A rejection of a new credential within `pause` after its refresh also goes to the caller, if no server has accepted
    ///   the credential yet, or if a request was rejected with it a second time. ``TokenStore/Options`` or the factory set
    ///   `pause`.
    /// - If the body can't be sent again, the call fails with `HTTPErrorCode.bodyNotReplayable` after the refresh, so
    ///   that the caller's next call with a new body succeeds.
    /// - If the refresh fails, the caller gets ``InterceptorsTransport/HTTPErrorCode/refreshFailed`` with the refresh's error as the cause, or
    ///   ``InterceptorsTransport/HTTPErrorCode/signedOut`` if the session ends. If `bearerAuth` is outside this interceptor, the call fails with ``InterceptorsTransport/HTTPErrorCode/wrongOrder``.
    ///
    /// An interceptor that limits concurrency must be inside both this interceptor and `bearerAuth`, or let the requests of a
    /// refresh pass (`Task.isRefreshingCredential`). Otherwise the requests that wait for the refresh may hold all permits, and
    /// the refresh deadlocks.
    ///
    /// - Parameters:
    ///   - tokens: the store whose token a `bearerAuth` further inside sends.
    ///   - condition: the outcomes that reject the token.
    public static func retryOnUnauthorized(
        _ tokens: TokenStore,
        when condition: OutcomeCondition = .status(401)
    ) -> Self {
        Self(RetryOnUnauthorizedInterceptor(tokens: tokens, condition: condition))
    }

    /// Logs in again when a server rejects the session, and runs the rest of the chain again, once. The interceptor's copies
    /// share one log-in, so it may be part of several chains. Order and behaviour are those of
    /// ``retryOnUnauthorized(_:when:)``.
    ///
    /// ```swift
    /// [.retryOnUnauthorized { try await logIn() }, .cookies(jar)]
    /// ```
    ///
    /// - Parameters:
    ///   - origins: the origins whose responses count; `nil` for the origin of the base URL of the client that sends a
    ///     request or, without a base URL, the request's origin.
    ///   - condition: the outcomes that reject the session.
    ///   - pause: the time after a log-in in which a rejection of the new session starts no other log-in, unless a server has
    ///     accepted the session; 10 seconds by default, `.zero` for no pause.
    ///   - time: measures the pause.
    ///   - logIn: logs in. The closure may send requests through the same chain, where their rejections pass through.
    public static func retryOnUnauthorized(
        origins: Set<Origin>? = nil,
        when condition: OutcomeCondition = .status(401),
        pause: Duration = .seconds(10),
        time: TimeSource = .system,
        logIn: @escaping @Sendable () async throws -> Void
    ) -> Self {
        retryOnUnauthorized(TokenStore(nil, origins, .init(pause: pause), time, .logIn(logIn)), when: condition)
    }
}
