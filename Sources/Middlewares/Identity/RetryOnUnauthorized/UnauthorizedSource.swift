/// Supplies `retryOnUnauthorized` with new credentials.
protocol UnauthorizedSource: Sendable {
    /// The store whose tokens the source renews; `nil` if a closure renews another credential.
    var store: TokenStore? { get }

    /// Prepares a request for one run of the rest of the chain. Returns `nil` if this source doesn't handle the request's
    /// outcome.
    func track(_ request: inout HTTPRequest) throws -> AuthorizationRecord?

    /// The generation that the outcome rejects; `nil` if the request didn't carry this source's credential, or the source
    /// can't renew it.
    func generation(
        rejectedBy answer: Result<HTTPResponse, any Error>,
        to record: AuthorizationRecord
    ) -> CredentialGeneration?

    /// Waits for a credential newer than the rejected one.
    ///
    /// - Parameters:
    ///   - record: updated with the new credential, unless an inner interceptor does that.
    ///   - request: the rejected request.
    ///   - cause: what rejected it, for the journal.
    func renew(
        _ rejected: CredentialGeneration,
        _ record: AuthorizationRecord,
        _ request: HTTPRequest,
        because cause: CallNote.Cause
    ) async throws

    /// Records a response that doesn't reject the credential.
    func noteAnswer(_ answer: HTTPResponse, to record: AuthorizationRecord)

    /// Records that the request was rejected again after it was sent again with a new credential.
    func noteRejectedAgain(_ record: AuthorizationRecord)
}

/// Supplies the tokens that `bearerAuth`, further inside, adds to requests and notes in their records.
struct TokenSource: UnauthorizedSource {
    let tokens: TokenStore

    var store: TokenStore? { tokens }

    func track(_ request: inout HTTPRequest) throws -> AuthorizationRecord? {
        // If two interceptors have the same store, the outer one does the work. Requests of the refresh need no exception:
        // the store adds no token to them, so a response can't reject one.
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

    func renew(
        _ rejected: CredentialGeneration,
        _ record: AuthorizationRecord,
        _ request: HTTPRequest,
        because cause: CallNote.Cause
    ) async throws {
        _ = try await tokens.refresher.value(
            rejecting: rejected,
            client: request.context.client,
            notes: request.notes,
            because: cause
        )
    }
}

/// Supplies a session that a closure renews. Requests carry no recognisable sign of the session, so the record notes its
/// generation up front.
struct SessionSource: UnauthorizedSource {
    private let refresher: CredentialRefresher<Void>
    private let origins: Set<Origin>?

    var store: TokenStore? { nil }

    init(
        origins: Set<Origin>?,
        pause: Duration = .seconds(10),
        time: TimeSource = .system,
        observe: @escaping @Sendable (RefreshEvent) -> Void = { _ in },
        logIn: @escaping @Sendable () async throws -> Void
    ) {
        self.origins = origins
        refresher = CredentialRefresher((), pause: pause, clock: time.clock, observe: observe) { _, _ in
            try await logIn()
        }
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
        guard !isFromElsewhere(answer, record), case .used(let generation) = record.last,
            refresher.isWorthRenewing(generation)
        else { return nil }
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

    func renew(
        _ rejected: CredentialGeneration,
        _ record: AuthorizationRecord,
        _ request: HTTPRequest,
        because cause: CallNote.Cause
    ) async throws {
        let credential = try await refresher.value(rejecting: rejected, notes: request.notes, because: cause)
        record.note(.used(credential.generation))
    }
}
