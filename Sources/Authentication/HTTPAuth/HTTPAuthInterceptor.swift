/// The implementation of `.httpAuth(…)`, documented there.
struct HTTPAuthInterceptor: PlacedInterceptor {
    typealias Credentials = @Sendable (_ realm: String, _ origin: Origin) async throws -> PasswordCredential?

    private typealias Sent = (answer: HTTPAuthAnswer, value: String)

    let schemes: Set<PasswordScheme>
    let origins: Set<Origin>?
    let random: RandomSource
    var memory = HTTPAuthMemory(PasswordSession())
    var atOnce: PasswordCredential?
    let credentials: Credentials

    // One request gets at most two answers: the second may replace a stale nonce or an old password, and its rejection is
    // final.
    private static let mostAnswers = 2

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        let request = request
        let mode = request.context.authorization
        guard !request.headers.contains(.authorization), mode != .omitted else {
            return try await next(request)
        }
        guard let origin = try origin(of: request) else { return try await sendWithout(request, next) }
        try request.requireUnshared(by: elementName, changesEachTime: schemes == [.digest])
        let session = memory.generation
        var sent = try await answerInAdvance(to: request, origin, session)
        var answersLeft = Self.mostAnswers
        while true {
            var attempt = request
            attempt.headers[.authorization] = sent?.value
            if answersLeft < Self.mostAnswers { attempt.context.resendCount += Self.mostAnswers - answersLeft }
            let response = try await next(attempt)
            let reason = response.disregardedChallenge(to: origin)
            guard response.status == 401, reason == nil else {
                if let sent {
                    memory.inSession(session) { $0.learn(from: response, to: sent.answer, at: origin, random) }
                }
                return explained(response, reason, request)
            }
            let wasInAdvance = answersLeft == Self.mostAnswers
            let offer = ChallengeOffer(response, schemes, origin, rejected: sent?.answer, wasInAdvance: wasInAdvance)
            if mode == .notRenewed, sent != nil, !offer.isStale { return explained(response, .notRenewed, request) }
            do {
                guard answersLeft > 0 else { throw CredentialNote.rejected }
                sent = try await answer(to: offer, request, response, origin, session)
            } catch let reason as CredentialNote {
                if let sent, !offer.isStale { memory.inSession(session) { $0.reject(sent.answer, at: origin) } }
                return explained(response, reason, request)
            }
            answersLeft -= 1
            request.note(.challengeAnswered(response.status))
            response.body.discard()
            guard request.body.isReadable else { throw Self.bodyUsedUp(request) }
            request.context.callShape.willResend?()
        }
    }

    /// The name of the factory that the caller used, for error messages.
    private var elementName: String {
        switch schemes {
        case [.basic]: "basicAuth"
        case [.digest]: "digestAuth"
        default: "httpAuth"
        }
    }

    private func origin(of request: HTTPRequest) throws -> Origin? {
        let remedy = ".digestAuth(username: …, password: …, origins: [origin])"
        let unknown = { AuthenticationError.unknownOrigin(of: request, for: "password", remedy: remedy) }
        return try request.origin(among: origins, orThrow: unknown())
    }

    private func sendWithout(_ request: HTTPRequest, _ next: Next) async throws -> HTTPResponse {
        let response = try await next(request)
        guard response.status == 401 else { return response }
        let reason = CredentialNote.withheld(from: request, origins) { target, allowed in
            "The password is for \(allowed), and wasn't sent to \(target). \(elementName)(origins:) names the origins."
        }
        return explained(response, reason, request)
    }

    /// The response with the reason that its challenge isn't answered, unless an inner element has given one. The reason replaces
    /// that of an inner token.
    private func explained(_ response: HTTPResponse, _ reason: CredentialNote?, _ request: HTTPRequest) -> HTTPResponse
    {
        guard response.status == 401, var reason, let text = reason.note,
            response.context.credentialNote?.isOfChallenge != true
        else { return response }
        request.note(.challengeUnanswered(text))
        var response = response
        reason.isOfChallenge = true
        response.context.credentialNote = reason
        return response
    }

    private func answerInAdvance(
        to request: HTTPRequest,
        _ origin: Origin,
        _ session: UInt64
    ) async throws -> Sent? {
        let answer = memory.inSession(session) { $0.answerInAdvance(to: origin, atOnce: atOnce) }
        guard let answer, let value = try await answer.value(for: request) else { return nil }
        return (answer, value)
    }

    /// The answer to the offer. Throws a ``CredentialNote`` without an answer. If this method throws another error, it discards
    /// the response, which nobody will read.
    @inline(never)
    private func answer(
        to offer: ChallengeOffer,
        _ request: HTTPRequest,
        _ response: HTTPResponse,
        _ origin: Origin,
        _ session: UInt64
    ) async throws -> Sent {
        do {
            guard let realm = offer.realm else { throw offer.refusal ?? .rejected }
            guard let credential = try await credentials(realm, origin) else { throw CredentialNote.noCredential }
            guard offer.isAnswered(by: credential) else { throw CredentialNote.rejected }
            // After a sign-out the closure may return another user's credential.
            guard session == memory.generation else { throw CredentialNote.signedOut }
            let answer = memory.inSession(session) { $0.answer(to: offer, with: credential, at: origin, random) }
            guard let answer else { throw CredentialNote.alreadyRejected }
            guard let value = try await answer.value(for: request) else { throw CredentialNote.oneShotBody }
            return (answer, value)
        } catch {
            if !(error is CredentialNote) { response.body.discard() }
            throw error
        }
    }

    private static func bodyUsedUp(_ request: HTTPRequest) -> TransportError {
        TransportError(
            .bodyNotReplayable,
            "The server asked for a password after the body, a one-shot stream, had been read, so the request was not sent"
                + " again. Send it again with a new body: it then carries the answer from the start. Or use"
                + " HTTPBody.restartable, bytes or a file.",
            request: request
        )
    }

    var placement: [ChainRole] {
        let roles: [ChainRole] = [
            .spelled(elementName), .addsCredentials(in: .authorization), .answersChallenges, .readsStatus.only([401]),
            .inside(.compresses, because: "A digest must cover the content as it is sent, or the server refuses it."),
        ]
        return schemes == [.digest] ? roles + [.changesEachTime] : roles
    }
}

extension HTTPResponse {
    /// The reason that a 401 isn't a challenge of an origin (RFC 9110 §11.6.1); `nil` if it is, or the status is another.
    fileprivate func disregardedChallenge(to origin: Origin) -> CredentialNote? {
        guard status == 401 else { return nil }
        if context.hasChangedMethod { return .changedMethod }
        return mayBeFrom(origin) ? nil : .afterRedirect
    }
}
