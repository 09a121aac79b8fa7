/// The implementation of `.passwordAuth(…)`, documented there.
struct PasswordAuthInterceptor: Interceptor {
    typealias Credentials = @Sendable (_ realm: String, _ origin: Origin) async throws -> PasswordCredential?

    private let credentials: Credentials
    private let atOnce: PasswordCredential?
    private let schemes: Set<PasswordScheme>
    private let origins: Set<Origin>?
    private let random: RandomSource
    private let challenger: Challenger
    private let shared: SharedPasswordAuthMemory

    // One request gets at most two answers: the second may replace a stale nonce or an old password, and its rejection is
    // final.
    private static let mostAnswers = 2

    init(
        schemes: Set<PasswordScheme>,
        origins: Set<Origin>?,
        session: PasswordSession = PasswordSession(),
        random: RandomSource,
        challenger: Challenger = .server,
        atOnce: PasswordCredential? = nil,
        credentials: @escaping Credentials
    ) {
        self.challenger = challenger
        self.schemes = schemes
        self.origins = origins
        self.random = random
        self.atOnce = atOnce
        self.credentials = credentials
        shared = SharedPasswordAuthMemory(session)
    }

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        let request = request
        // The mode concerns credentials for the server, not for a proxy.
        let mode = challenger.proxy == nil ? request.context.authorization : .automatic
        guard !request.headerFields.contains(challenger.credentials), mode != .omitted else {
            return try await next(request)
        }
        guard let origin = try origin(of: request) else { return try await sendWithout(request, next) }
        // Credentials for a proxy don't decide whose response the origin sends.
        if challenger.proxy == nil {
            try request.requireUnshared(by: elementName, changesEachTime: schemes == [.digest])
        }
        let memory = shared.current
        var sent = try await memory.answerInAdvance(to: origin, atOnce: atOnce)?.field(for: request, to: challenger)
        var answersLeft = Self.mostAnswers
        while true {
            var attempt = request
            attempt.headerFields[challenger.credentials] = sent?.value
            if answersLeft < Self.mostAnswers { attempt.context.resendCount += Self.mostAnswers - answersLeft }
            let response = try await next(attempt)
            guard challenger.asks(in: response, for: origin) else {
                memory.learn(from: response, of: challenger, to: sent?.answer, at: origin, random)
                return explained(response, challenger.disregard(of: response), request)
            }
            let offer = ChallengeOffer(
                response,
                schemes,
                origin,
                by: challenger,
                rejected: sent?.answer,
                wasInAdvance: answersLeft == Self.mostAnswers
            )
            if mode == .notRenewed, sent != nil, !offer.isStale { return explained(response, .notRenewed, request) }
            do {
                guard answersLeft > 0 else { throw UnansweredChallenge.rejected }
                sent = try await field(for: request, offer, response, origin, memory)
            } catch let reason as UnansweredChallenge {
                if let sent, !offer.isStale { memory.reject(sent.answer, at: origin) }
                return explained(response, reason, request)
            }
            answersLeft -= 1
            request.note(.challengeAnswered(.status(response.status)))
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
        default: "passwordAuth"
        }
    }

    private func origin(of request: HTTPRequest) throws -> Origin? {
        if let proxy = challenger.proxy { return Challenger.goesByProxy(request.url) ? proxy : nil }
        guard let allowed = origins ?? request.context.clientOrigin.map({ [$0] }) else {
            throw AuthenticationError(
                .unknownOrigin,
                "The request was not sent, because no origin is named that may receive the password. Give the Client a base"
                    + " URL, or name the origins: .digestAuth(username: …, password: …, origins: [origin]).",
                request: request
            )
        }
        return Origin(request.url).flatMap { allowed.contains($0) ? $0 : nil }
    }

    private func sendWithout(_ request: HTTPRequest, _ next: Next) async throws -> HTTPResponse {
        let response = try await next(request)
        guard challenger.proxy == nil, response.status.code == challenger.status else { return response }
        let allowed = origins ?? request.context.clientOrigin.map { [$0] } ?? []
        let reason = UnansweredChallenge.anotherOrigin(Origin(request.url), allowed: allowed, by: elementName)
        return explained(response, reason, request)
    }

    /// The response with the reason that its challenge isn't answered, unless an inner element has given one.
    private func explained(
        _ response: HTTPResponse,
        _ reason: UnansweredChallenge?,
        _ request: HTTPRequest
    ) -> HTTPResponse {
        guard let reason, response.context.unansweredChallenge == nil else { return response }
        request.note(.challengeUnanswered(reason.reason))
        var response = response
        response.context.unansweredChallenge = reason
        return response
    }

    /// The answer to the offer. Throws ``UnansweredChallenge`` without an answer. If this method throws another error, it discards
    /// the response, which nobody will read.
    @inline(never)
    private func field(
        for request: HTTPRequest,
        _ offer: ChallengeOffer,
        _ response: HTTPResponse,
        _ origin: Origin,
        _ memory: PasswordAuthMemory
    ) async throws -> PasswordAuthField {
        do {
            guard let realm = offer.realm else { throw offer.refusal ?? .rejected }
            guard let credential = try await credentials(realm, origin) else { throw UnansweredChallenge.noCredential }
            guard offer.isAnswered(by: credential) else { throw UnansweredChallenge.rejected }
            // After a sign-out the closure may return another user's credential.
            guard memory === shared.current else { throw UnansweredChallenge.signedOut }
            guard let answer = memory.answer(to: offer, with: credential, at: origin, random) else {
                throw UnansweredChallenge.alreadyRejected
            }
            guard let field = try await answer.field(for: request, to: challenger) else {
                throw UnansweredChallenge.oneShotBody
            }
            return field
        } catch let reason as UnansweredChallenge {
            throw reason
        } catch {
            response.body.discard()
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
}

extension PasswordAuthInterceptor: PlacedInterceptor {
    var placement: Placement {
        guard challenger.proxy == nil else { return [.spelled(elementName), .answersChallenges, .readsStatus(407)] }
        let roles: [ChainRole] = [
            .spelled(elementName), .addsCredentials(in: .authorization), .answersChallenges, .readsStatus(401),
            .inside(.compresses, because: "A digest must cover the content as it is sent, or the server refuses it."),
        ]
        return Placement(schemes == [.digest] ? roles + [.changesEachTime] : roles)
    }
}
