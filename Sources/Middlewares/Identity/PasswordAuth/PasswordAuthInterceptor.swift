/// Answers the challenges of servers that ask for a name and a password, with digest (RFC 7616) or basic (RFC 7617). For a
/// proxy's challenges, use `.passwordAuth(proxy: …)`.
///
/// ```swift
/// .digestAuth(username: "Mufasa", password: password)
/// .basicAuth(username: "Aladdin", password: password, atOnce: true)
/// .passwordAuth { realm, origin in await keychain.credential(for: realm) }
/// ```
///
/// ## Order
/// Put this interceptor inside `validateStatus` and `followRedirects`, and outside `retry`: it answers a 401 by running the
/// rest of the chain again. Put it outside `coalesce` and `cache`, which must know whose request they see. Inside `coalesce`
/// or `cache`, this interceptor throws a ``ChainOrderError`` unless the request names a partition. With digest, a cache can
/// find its responses again only by a partition.
///
/// An interceptor that changes the URL or the content belongs outside this interceptor; only the transport may do so inside.
/// A digest covers the target as it is sent and, with `auth-int`, the content too.
///
/// ## Behaviour
/// - A request carries no credentials until the server asks for them. Later requests to the origin carry an answer in
///   advance: a digest with the next nonce count, or basic. A stale nonce is replaced, and a nonce from `Authentication-Info`
///   is used.
/// - The strongest challenge is answered: digest with SHA-256 or SHA-512-256, then digest with MD5, then basic. If both
///   schemes are allowed, basic is answered only over https, so that nobody in between can downgrade digest to basic.
/// - If the closure's credential depends on the signed-in user, call ``signOut()`` when the user changes.
/// - If an answer in advance is rejected, the closure is called again: the password may have changed, or another realm may
///   need another credential. If the closure returns the same basic credential, it is not sent twice.
/// - If a realm rejects a credential that it has never accepted, the caller gets the 401, and the credential is not used for
///   the realm again.
/// - The caller also gets a 401 that can't be answered (an unknown algorithm, or `auth-int` for a one-shot body). So does a
///   401 after a redirect that an inner interceptor followed and that changed the method: the server has already acted on the
///   request.
/// - Names and passwords are sent as UTF-8, and only to their origins. A request that already has an `Authorization` field
///   keeps that field. To send a request without credentials, set ``Interceptors/HTTPContext/authorization`` in its context.
/// - With ``AuthorizationMode/notRenewed``, a 401 to a request with credentials goes to the caller. The closure isn't called
///   again, and the credential stays in use. A first challenge and a stale nonce are still answered.
/// - If the challenged request used up a one-shot body, the call fails with ``TransportError/Code/bodyNotReplayable``. The
///   next call carries the answer in advance.
public struct PasswordAuthInterceptor: Interceptor {
    /// An authentication scheme for a name and a password.
    public struct Scheme: Sendable, Hashable {
        let name: String

        /// RFC 7617: sends the name and the password in clear; without TLS, anyone on the network path can read them.
        public static let basic = Self(name: "basic")
        /// RFC 7616: sends a digest that doesn't reveal the password.
        public static let digest = Self(name: "digest")
    }

    /// Returns the credential for a realm of an origin; `nil` to leave the challenge to the caller.
    public typealias Credentials = @Sendable (_ realm: String, _ origin: Origin) async throws -> PasswordCredential?

    private let credentials: Credentials
    private let atOnce: PasswordCredential?
    private let schemes: Set<Scheme>
    private let origins: Set<Origin>?
    private let random: RandomSource
    private let challenger: Challenger
    private let shared = SharedPasswordAuthMemory()

    // One request gets at most two answers: the second may replace a stale nonce or an old password, and its rejection is
    // final.
    private static let mostAnswers = 2

    init(
        schemes: Set<Scheme>,
        origins: Set<Origin>?,
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
    }

    /// Forgets all accepted and rejected credentials, in all copies. Call it when the user of the closure's credentials
    /// changes.
    ///
    /// A challenge to a request already under way is then not answered, because the closure may return another user's
    /// credential.
    public func signOut() { shared.forget() }

    /// Passes the request on, and again with credentials if it is challenged.
    ///
    /// - Throws: ``AuthenticationError`` with ``AuthenticationError/Code/unknownOrigin`` if neither the interceptor nor the
    ///   client names an origin, with ``AuthenticationError/Code/invalidCredential`` if the scheme can't carry the
    ///   credential; ``ChainOrderError`` inside `cache` or `coalesce`; ``TransportError`` with
    ///   ``TransportError/Code/bodyNotReplayable``; any error of the closure or of the rest of the chain.
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        let request = request
        // The mode concerns credentials for the server, not for a proxy.
        let mode = challenger.proxy == nil ? request.context.authorization : .automatic
        guard !request.headerFields.contains(challenger.credentials), mode != .omitted,
            let origin = try origin(of: request)
        else {
            return try await next(request)
        }
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
                return response
            }
            let offer = ChallengeOffer(
                response,
                schemes,
                origin,
                by: challenger,
                rejected: sent?.answer,
                wasInAdvance: answersLeft == Self.mostAnswers
            )
            if mode == .notRenewed, sent != nil, !offer.isStale { return response }
            guard answersLeft > 0, let field = try await field(for: request, offer, response, origin, memory) else {
                if let sent, !offer.isStale { memory.reject(sent.answer, at: origin) }
                return response
            }
            sent = field
            answersLeft -= 1
            response.body.discard()
            guard request.body.isReadable else { throw Self.bodyUsedUp(request) }
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

    /// The answer to the offer; `nil` if there is none. If this method throws, it discards the response, which nobody will
    /// read.
    private func field(
        for request: HTTPRequest,
        _ offer: ChallengeOffer,
        _ response: HTTPResponse,
        _ origin: Origin,
        _ memory: PasswordAuthMemory
    ) async throws -> PasswordAuthField? {
        guard let realm = offer.realm else { return nil }
        do {
            // After a sign-out the closure may return another user's credential.
            guard let credential = try await credentials(realm, origin), offer.isAnswered(by: credential),
                memory === shared.current
            else { return nil }
            return try await memory.answer(to: offer, with: credential, at: origin, random)?
                .field(for: request, to: challenger)
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
