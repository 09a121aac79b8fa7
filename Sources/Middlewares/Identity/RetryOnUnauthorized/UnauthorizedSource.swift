/// What `retryOnUnauthorized` gets a new credential from.
protocol UnauthorizedSource: Sendable {
    /// Prepares a request for one run of the rest of the chain. `nil` if its answer is not this source's to handle.
    func track(_ request: inout HTTPRequest) throws -> AuthorizationRecord?

    /// What the answer rejects: `nil` if it was not sent with this source's credential, or if that can't be renewed.
    func generation(
        rejectedBy answer: Result<HTTPResponse, any Error>,
        to record: AuthorizationRecord
    ) -> CredentialGeneration?

    /// Waits for a credential newer than the rejected one.
    ///
    /// - Parameter record: notes the new credential, unless an inner interceptor does.
    func renew(_ rejected: CredentialGeneration, _ record: AuthorizationRecord) async throws

    /// Records a response that doesn't reject the credential.
    func noteAnswer(_ answer: HTTPResponse, to record: AuthorizationRecord)

    /// Records that the request was rejected again after it was sent again with a new credential.
    func noteRejectedAgain(_ record: AuthorizationRecord)
}

/// Tokens that `bearerAuth`, further inside, sends and notes in the record.
struct TokenSource: UnauthorizedSource {
    let tokens: TokenStore

    func track(_ request: inout HTTPRequest) throws -> AuthorizationRecord? {
        // A second interceptor with the same store leaves the work to the first. What belongs to the refresh itself needs
        // no exception: the store gives it no token, and notes nothing that an answer could reject.
        guard request.context.authorization == .automatic, request.context.authorizationRecord(of: tokens) == nil else {
            return nil
        }
        guard request.context.authorizers.first(where: { $0 == ObjectIdentifier(tokens) }) == nil else {
            throw AuthenticationError.wrongOrder(of: request)
        }
        let record = AuthorizationRecord(owner: tokens)
        request.context.authorizationRecords.append(record)
        return record
    }

    func generation(
        rejectedBy answer: Result<HTTPResponse, any Error>,
        to record: AuthorizationRecord
    ) -> CredentialGeneration? {
        guard case .used(let generation) = record.last, tokens.refresher.isWorthRenewing(generation) else { return nil }
        return generation
    }

    func noteAnswer(_ answer: HTTPResponse, to record: AuthorizationRecord) {
        tokens.refresher.noteAnswer(answer, to: record)
    }

    func noteRejectedAgain(_ record: AuthorizationRecord) { tokens.refresher.noteRejectedAgain(record) }

    func renew(_ rejected: CredentialGeneration, _ record: AuthorizationRecord) async throws {
        _ = try await tokens.refresher.value(rejecting: rejected)
    }
}

/// A session that a closure begins anew, and of which no request carries a trace that could be recognised.
struct SessionSource: UnauthorizedSource {
    private let refresher: CredentialRefresher<Void>
    private let origins: Set<Origin>?

    init(
        origins: Set<Origin>?,
        pause: Duration = CredentialRefresh.defaultPause,
        clock: any Clock<Duration> = ContinuousClock(),
        observe: @escaping @Sendable (RefreshEvent) -> Void = { _ in },
        logIn: @escaping @Sendable () async throws -> Void
    ) {
        self.origins = origins
        refresher = CredentialRefresher((), pause: pause, clock: clock, observe: observe) { _ in try await logIn() }
    }

    func track(_ request: inout HTTPRequest) throws -> AuthorizationRecord? {
        guard request.context.authorization == .automatic, !refresher.isRefreshedByCurrentTask,
            request.context.authorizationRecord(of: refresher) == nil,
            let origin = Origin(request.url)
        else { return nil }
        let origins = origins ?? [request.context.clientOrigin ?? origin]
        guard origins.contains(origin) else { return nil }
        let record = AuthorizationRecord(owner: refresher, origins: origins)
        record.note(.used(refresher.current.generation))
        request.context.authorizationRecords.append(record)
        return record
    }

    func generation(
        rejectedBy answer: Result<HTTPResponse, any Error>,
        to record: AuthorizationRecord
    ) -> CredentialGeneration? {
        guard !isFromElsewhere(answer, record), case .used(let generation) = record.last, refresher.isWorthRenewing(generation) else { return nil }
        return generation
    }

    func noteAnswer(_ answer: HTTPResponse, to record: AuthorizationRecord) {
        if !isFromElsewhere(.success(answer), record) { refresher.noteAnswer(answer, to: record) }
    }

    func noteRejectedAgain(_ record: AuthorizationRecord) { refresher.noteRejectedAgain(record) }

    // A redirect, followed inside, may have led to another origin.
    private func isFromElsewhere(_ answer: Result<HTTPResponse, any Error>, _ record: AuthorizationRecord) -> Bool {
        answer.answered?.url.flatMap(Origin.init).map { !record.origins.contains($0) } ?? false
    }

    func renew(_ rejected: CredentialGeneration, _ record: AuthorizationRecord) async throws {
        record.note(.used(try await refresher.value(rejecting: rejected).generation))
    }
}
