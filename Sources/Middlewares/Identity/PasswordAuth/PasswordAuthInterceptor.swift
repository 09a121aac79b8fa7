/// Answers the challenges of servers that ask for a name and a password: digest (RFC 7616) and basic (RFC 7617); and, made
/// for one (``init(proxy:schemes:random:credentials:)``), those of a proxy.
///
/// ```swift
/// .digestAuth(username: "Mufasa", password: password)
/// .basicAuth(username: "Aladdin", password: password, atOnce: true)
/// .passwordAuth { realm, origin in await keychain.credential(for: realm) }
/// ```
/// ## Its place
/// Inside of `validateStatus` and `followRedirects`; outside of `coalesce` and a cache, which must know who asks: inside of
/// them it throws a ``ChainOrderError``, unless the request names a partition, which a digest needs to be found again in a
/// cache. Outside of `retry`: it answers a 401 by running the rest again. What changes the URL or the
/// content stands outside of it or of the transport alone: a digest covers the target as it is sent, and with `auth-int` the
/// content too.
///
/// ## What it does
/// - A request goes out as it is until the server asks. From then on requests to that origin carry the answer in advance,
///   a digest with its nonce counted on; a stale nonce is replaced, and one given in `Authentication-Info` is used.
/// - Of several challenges the strongest is answered: digest with SHA-256 or SHA-512-256, with MD5, then basic. Where digest
///   is allowed, basic is answered over https alone, so that nobody in between can ask for the password instead.
/// - A closure that speaks for a user who may change needs ``signOut()`` at the change.
/// - Where an answer in advance is rejected, the closure is asked again: the password may have changed, or another realm may
///   want another one. A basic credential that it gives unchanged is not sent twice.
/// - A credential that a realm rejected, and never had accepted, is not used for it again; the 401 is the answer. So is one
///   whose challenge can't be answered: an unknown algorithm, or `auth-int` for a one-shot body; and one that comes after a
///   redirect, followed inside, which shows that the request itself was acted on.
/// - Names and passwords are taken as UTF-8. They go to their origins only. A request with an `Authorization` field of its own
///   keeps it; one that is to go without says so in its context (``Interceptors/HTTPContext/authorization``).
/// - Of a request whose rejection means something else (``AuthorizationMode/notRenewed``), a 401 to an answer is the
///   caller's, and neither is the closure asked again nor the credential given up; a first challenge and a stale nonce are
///   answered.
/// - A one-shot body that the challenged request used up is not sent again: the call fails with
///   ``TransportError/Code/bodyNotReplayable``, and the next one carries the answer in advance.
public struct PasswordAuthInterceptor: Interceptor {
    /// A way to prove that one knows a password.
    public struct Scheme: Sendable, Hashable {
        let name: String

        /// RFC 7617: name and password as they are, readable by whoever reads the connection.
        public static let basic = Self(name: "basic")
        /// RFC 7616: a digest that the password can't be read from.
        public static let digest = Self(name: "digest")
    }

    /// Gives the credential for a realm of an origin, `nil` for none.
    public typealias Credentials = @Sendable (_ realm: String, _ origin: Origin) async throws -> PasswordCredential?

    private let credentials: Credentials
    private let atOnce: PasswordCredential?
    private let schemes: Set<Scheme>
    private let origins: Set<Origin>?
    private let random: RandomSource
    private let challenger: Challenger
    private let shared = SharedPasswordAuthMemory()

    // What was answered is rejected twice at most: a stale nonce or an old password, and then for good.
    private static let mostAnswers = 2

    /// An interceptor that asks for the credential when a server does. Its copies share what they know of servers.
    ///
    /// - Parameters:
    ///   - schemes: what it may answer.
    ///   - origins: whose challenges are answered; `nil` for the origin of the base URL of the client that sends a request.
    ///   - random: where a digest's client nonces come from.
    ///   - credentials: asked once for each challenge that is to be answered.
    public init(
        schemes: Set<Scheme> = [.digest, .basic],
        origins: Set<Origin>? = nil,
        random: RandomSource = .system,
        credentials: @escaping Credentials
    ) {
        self.init(schemes: schemes, origins: origins, random: random, atOnce: nil, credentials: credentials)
    }

    /// Creates an interceptor that answers a proxy's challenges (407) to requests over plain http.
    ///
    /// ```swift
    /// .passwordAuth(proxy: Origin(proxyURL)!) { realm, proxy in await keychain.credential(for: realm) }
    /// ```
    /// A transport doesn't tell whether a proxy or a server responded, so any 407 to plain http counts as the proxy's. By
    /// default, only digest challenges are answered, which don't reveal the password. Use this interceptor only with a
    /// transport that sends plain http through this proxy.
    ///
    /// A request over https goes through a tunnel. If the proxy refuses the tunnel with a 407, the transport throws
    /// ``TransportError/Code/cannotConnect``. Give the transport the credentials for tunnels: `CurlTransport` in the proxy's
    /// URL, `http://user:password@proxy.example:3128`. On Apple's platforms, `URLSessionTransport` answers every 407 itself,
    /// with the credentials of the system's settings.
    ///
    /// - Parameters:
    ///   - proxy: scheme, host and port of the proxy, which the closure gets.
    ///   - schemes: what it may answer.
    ///   - random: where a digest's client nonces come from.
    ///   - credentials: asked once for each challenge that is to be answered.
    public init(
        proxy: Origin,
        schemes: Set<Scheme> = [.digest],
        random: RandomSource = .system,
        credentials: @escaping Credentials
    ) {
        self.init(
            schemes: schemes,
            origins: nil,
            random: random,
            challenger: .proxy(proxy),
            atOnce: nil,
            credentials: credentials
        )
    }

    init(
        schemes: Set<Scheme>,
        origins: Set<Origin>?,
        random: RandomSource,
        challenger: Challenger = .server,
        atOnce: PasswordCredential?,
        credentials: @escaping Credentials
    ) {
        self.challenger = challenger
        self.schemes = schemes
        self.origins = origins
        self.random = random
        self.atOnce = atOnce
        self.credentials = credentials
    }

    /// Forgets what was used and rejected so far, in all copies: call it when the user whom the closure speaks for changes.
    ///
    /// A request that is under way is not answered with a credential that the closure gives from then on.
    public func signOut() { shared.forget() }

    /// Passes the request on, and again with an answer if it is challenged.
    ///
    /// - Throws: ``AuthenticationError`` with ``AuthenticationError/Code/unknownOrigin`` if it is not known whom the credential
    ///   is for, and with ``AuthenticationError/Code/invalidCredential`` if the scheme can't say it; ``ChainOrderError``
    ///   inside of `cache` or `coalesce`; ``TransportError`` with ``TransportError/Code/bodyNotReplayable``; what the closure
    ///   or the rest of the chain throws.
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        let request = request
        // The mode is about credentials for the server, not for a proxy.
        let mode = challenger.proxy == nil ? request.context.authorization : .automatic
        guard !request.headerFields.contains(challenger.credentials), mode != .omitted,
            let origin = try origin(of: request)
        else {
            return try await next(request)
        }
        try request.requireUnshared(by: elementName, changesEachTime: schemes == [.digest])
        let memory = shared.current
        var sent = try await memory.answerInAdvance(to: origin, atOnce: atOnce)?.field(for: request, to: challenger)
        var answersLeft = Self.mostAnswers
        while true {
            var attempt = request
            attempt.headerFields[challenger.credentials] = sent?.value
            let response = try await next(attempt)
            guard challenger.asks(in: response, for: origin) else {
                memory.learn(from: response, challenger.information, to: sent?.answer, at: origin, random)
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

    /// The name of the factory that makes such an interceptor.
    private var elementName: String {
        switch schemes {
        case [.basic] where challenger.proxy == nil: "basicAuth"
        case [.digest] where challenger.proxy == nil: "digestAuth"
        default: "passwordAuth"
        }
    }

    private func origin(of request: HTTPRequest) throws -> Origin? {
        if let proxy = challenger.proxy { return Challenger.goesByProxy(request.url) ? proxy : nil }
        guard let allowed = origins ?? request.context.clientOrigin.map({ [$0] }) else {
            throw AuthenticationError(
                .unknownOrigin,
                "It is not known which origin the password is for, and it is used for no other. Give the Client a base URL,"
                    + " or name the origins: .digestAuth(username: …, password: …, origins: [origin]).",
                request: request
            )
        }
        return Origin(request.url).flatMap { allowed.contains($0) ? $0 : nil }
    }

    /// The answer to what is offered; a response that nobody will see, because there is an error instead, is discarded.
    private func field(
        for request: HTTPRequest,
        _ offer: ChallengeOffer,
        _ response: HTTPResponse,
        _ origin: Origin,
        _ memory: PasswordAuthMemory
    ) async throws -> PasswordAuthField? {
        guard let realm = offer.realm else { return nil }
        do {
            // After a sign-out the closure may give the credential of another user.
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
            "The server asked for a password only after the body, a one-shot stream, was used up, so the request was not sent"
                + " again. Send it with a new body, which will carry the answer in advance, or use"
                + " HTTPBody.restartable, bytes or a file.",
            request: request
        )
    }
}
