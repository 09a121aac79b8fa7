public import Foundation

/// The access token of one account: holds it, refreshes it once for all who wait, and hands it only to its origins.
///
/// One store is shared by ``BearerAuthInterceptor``, which sends the token, and ``RetryOnUnauthorizedInterceptor``, which
/// has it refreshed when a server rejects it:
///
/// ```swift
/// let tokens = TokenStore(
///     keychain.load(),
///     persist: { token in await keychain.save(token) },
///     refresh: { rejected in
///         guard let refreshToken = rejected?.refreshToken else { throw LogInNeeded() }
///         return try await logInServer.exchange(refreshToken)
///     }
/// )
/// let api = Client(
///     baseURL: baseURL,
///     interceptors: [.retryOnUnauthorized(tokens), .bearerAuth(tokens)],
///     transport: .platform()
/// )
/// ```
///
/// ## Refreshing
/// - At most one refresh is under way; whoever needs its token waits for it. It has a task of its own: cancelling those
///   who wait, the one that began it too, leaves it running, and its token is kept and persisted.
/// - A token is refreshed when a server rejects it, whatever the local clock thinks of it, and before it is sent when it
///   expires within the leeway.
/// - A refresh that fails fails all who wait for it, with the closure's own error; the next request tries anew.
/// - The closure may send requests through the very chain that waits for it: to its task (``CredentialRefresh/isCurrent``)
///   `bearerAuth` gives no token, and `retryOnUnauthorized` passes a rejection through. So it brings the credentials it
///   needs, usually the refresh token, itself. Tasks it starts count too, detached ones don't.
/// - After a refresh, a rejection of the new token within `pause` starts no other refresh, unless a server has accepted the
///   token: the caller gets the rejection. So a server that rejects every token doesn't cause a refresh for each request.
/// - A closure that never ends keeps everyone waiting (each can be cancelled): give its requests a timeout.
///
/// ## Sessions
/// ``signIn(_:)`` and ``signOut()`` overtake a refresh under way, whose token is then discarded. After `signIn`, those who
/// waited go on with the new token. `signOut` ends the session: those who wait fail with
/// ``AuthenticationError/Code/signedOut``, requests go out without a token, and nothing is refreshed until the next
/// `signIn`. A request that is rejected after a sign-out is not sent again with a token from after it, so to change the
/// user, sign out before you sign in. A redirect or a retry from further outside asks for the token of its moment,
/// as a new request does: cancel what the old user began.
///
/// ## Without a token
/// A store that never had a token lets requests go without one, so that a log-in and public endpoints work; the first
/// rejection calls the closure with `nil`. With `fetchesFirstToken` the first request waits for a token instead.
///
/// ## Log-in through the same chain
/// A log-in has no token to be rejected: a 401 says that the password is wrong, and is for the caller to see. So say that
/// the request is to go without, and hand in the token that it gives:
///
/// ```swift
/// var context = HTTPContext()
/// context.authorization = .omitted
/// let session = try await api.post("/login", body: form, as: Session.self, context: context)
/// tokens.signIn(session.token)
/// ```
/// Where the session is good and a 401 means something else, as for a password that is to be confirmed, say
/// ``AuthorizationMode/notRenewed``: the token is sent, and not refreshed for the answer's sake.
public final class TokenStore: Sendable {
    let refresher: CredentialRefresher<HeldToken>
    private let origins: Set<Origin>?
    private let leeway: Duration
    private let fetchesFirstToken: Bool
    private let now: @Sendable () -> Date
    private let persistence: Persistence<Token?>?

    /// A store.
    ///
    /// - Parameters:
    ///   - initial: the token to begin with, as it was persisted; `nil` for none.
    ///   - origins: where the token may be sent; `nil` for the origin of the base URL of the client that sends a request.
    ///   - leeway: how long before its expiry a token is refreshed, 30 seconds by default. A token that the closure returns
    ///     with less than twice that to live is refreshed at half its life.
    ///   - fetchesFirstToken: whether a request without a token waits for `refresh(nil)` instead of going without one.
    ///   - pause: the time after a refresh in which a rejection of the new token starts no other refresh, unless a server has
    ///     accepted the token; 10 seconds by default, `.zero` for no pause. ``signIn(_:)`` ends the pause.
    ///   - clock: measures the pause.
    ///   - now: the wall clock that expiries are compared with.
    ///   - persist: called with the token after each change, `nil` after a sign-out: one call after the other, in the order
    ///     of the changes, and never for a discarded token. No request waits for it.
    ///   - refresh: gets a new token in the place of the rejected or expired one, or of none. If the new one brings no
    ///     refresh token, that of the old one is kept (RFC 6749 §6).
    public convenience init(
        _ initial: Token? = nil,
        origins: Set<Origin>? = nil,
        leeway: Duration = .seconds(30),
        fetchesFirstToken: Bool = false,
        pause: Duration = CredentialRefresh.defaultPause,
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() },
        persist: (@Sendable (Token?) async -> Void)? = nil,
        refresh: @escaping @Sendable (_ rejected: Token?) async throws -> Token
    ) {
        self.init(
            initial,
            origins: origins,
            leeway: leeway,
            fetchesFirstToken: fetchesFirstToken,
            pause: pause,
            clock: clock,
            now: now,
            persist: persist,
            observe: { _ in },
            refresh: refresh
        )
    }

    /// A store that tells what goes on inside.
    init(
        _ initial: Token? = nil,
        origins: Set<Origin>? = nil,
        leeway: Duration = .seconds(30),
        fetchesFirstToken: Bool = false,
        pause: Duration = CredentialRefresh.defaultPause,
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() },
        persist: (@Sendable (Token?) async -> Void)? = nil,
        observe: @escaping @Sendable (RefreshEvent) -> Void,
        refresh: @escaping @Sendable (_ rejected: Token?) async throws -> Token
    ) {
        self.origins = origins
        self.leeway = leeway
        self.fetchesFirstToken = fetchesFirstToken
        self.now = now
        let persistence = persist.map(Persistence.init)
        self.persistence = persistence
        refresher = CredentialRefresher(
            HeldToken(initial, leeway: leeway),
            pause: pause,
            clock: clock,
            onChange: { persistence?.enqueue($0.token) },
            observe: observe,
            refresh: { rejected in
                var token = try await refresh(rejected.token)
                token.refreshToken = token.refreshToken ?? rejected.token?.refreshToken
                token.account = token.account ?? rejected.token?.account
                return HeldToken(received: token, at: now(), leeway: leeway)
            }
        )
    }

    /// The token as it is now, whether or not it is still good; `nil` where there is none.
    public var current: Token? { refresher.current.value.token }

    /// Sets a token that was got outside of the refresh, as by a log-in.
    ///
    /// A refresh under way is overtaken: its token will be discarded, and those who wait for it go on with this one. Where
    /// the token names another account than the last one (``Token/account``), a new session begins: those who wait fail with
    /// ``AuthenticationError/Code/signedOut``, and a request that was sent with the last token isn't sent again with this one.
    /// Without accounts, call ``signOut()`` before another user signs in.
    public func signIn(_ token: Token) {
        refresher.replace(with: HeldToken(token, leeway: leeway)) { last in
            last.isToken && last.token?.account != token.account
        }
    }

    /// Forgets the token and ends the session.
    ///
    /// A refresh under way is overtaken: its token will be discarded, and those who wait for it fail with
    /// ``AuthenticationError/Code/signedOut``. Nothing is refreshed until ``signIn(_:)``.
    public func signOut() {
        refresher.close(with: .none)
    }

    /// Waits until `persist` has returned for every change made so far, for instance before the process ends.
    public func waitUntilPersisted() async {
        await persistence?.finishPending()
    }
}

extension TokenStore {
    /// Adds the token to a request, for interceptors that do what ``BearerAuthInterceptor`` doesn't.
    ///
    /// It waits for a refresh that is under way, or that an expired token needs; a request for which nothing may be sent
    /// (``HTTPContext/sendingForbidden``) gets the token as it is. A request that has an `Authorization` field keeps it; one to an origin that the token is not for goes without; so do the requests of a refresh
    /// (``CredentialRefresh/isCurrent``), and those that want none (``AuthorizationMode/omitted``). What was done is noted
    /// in the request's context, so that ``RetryOnUnauthorizedInterceptor`` knows what an answer rejects: call `next` with
    /// this request.
    ///
    /// - Throws: ``AuthenticationError`` with ``AuthenticationError/Code/unknownOrigin`` if neither the store nor the request's
    ///   client names an origin, ``AuthenticationError/Code/signedOut``, ``AuthenticationError/Code/invalidToken``;
    ///   ``ChainOrderError`` inside of `cache` or `coalesce`; what the refresh throws; `CancellationError`.
    public func authorize(_ request: inout HTTPRequest) async throws {
        guard let waiting = try authorizeAtOnce(&request) else { return }
        try await authorize(&request, after: waiting)
    }

    /// What a request waits for.
    struct Waiting {
        /// What is to be replaced; `nil` for a refresh that is under way.
        let rejected: CredentialGeneration?
        let record: AuthorizationRecord?
    }

    /// The same as far as it needs no waiting; otherwise gives what for, and the rest is for ``authorize(_:after:)``.
    func authorizeAtOnce(_ request: inout HTTPRequest) throws -> Waiting? {
        let id = ObjectIdentifier(self)
        guard !refresher.isRefreshedByCurrentTask, request.context.authorizers.first(where: { $0 == id }) == nil else {
            return nil
        }
        request.context.authorizers.append(id)
        let record = request.context.authorizationRecord(of: self)
        record?.note(.withheld)
        guard !request.headerFields.contains(.authorization), request.context.authorization != .omitted,
            try isForRequest(request)
        else { return nil }
        try request.requireUnshared(by: "bearerAuth")

        let (credential, isRefreshing, isClosed) = refresher.state
        if request.context.sendingForbidden != nil {
            // A cache finds what is stored by the token, expired or not; a refresh would send something.
            try add(credential, to: &request, record)
            return nil
        }
        if isRefreshing { return Waiting(rejected: nil, record: record) }
        let isMissing = !credential.value.isToken && fetchesFirstToken && !isClosed
        if isMissing || credential.value.isDue(at: now()) {
            return Waiting(rejected: credential.generation, record: record)
        }
        try add(credential, to: &request, record)
        return nil
    }

    func authorize(_ request: inout HTTPRequest, after waiting: Waiting) async throws {
        try add(await refresher.value(rejecting: waiting.rejected), to: &request, waiting.record)
    }

    private func add(
        _ credential: Credential<HeldToken>,
        to request: inout HTTPRequest,
        _ record: AuthorizationRecord?
    ) throws {
        if let partition = request.context.tokenPartitions.last(where: { $0.store == ObjectIdentifier(self) }),
            partition.account != credential.value.token?.account
        {
            throw AuthenticationError.changedAccount(of: request)
        }
        record?.note(.used(credential.generation))
        guard credential.value.isToken else { return }
        guard let field = credential.value.field else { throw AuthenticationError.invalidToken(for: request) }
        request.headerFields.append(field)
    }

    private func isForRequest(_ request: HTTPRequest) throws -> Bool {
        // Asked for each request, and nearly always so.
        if let origins, origins.contains(where: { $0.isPlainly(of: request.url) }) { return true }
        guard let allowed = origins ?? request.context.clientOrigin.map({ [$0] }) else {
            throw AuthenticationError.unknownOrigin(of: request)
        }
        return Origin(request.url).map(allowed.contains) ?? false
    }
}

extension TokenStore: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What it holds, without secrets.
    public var description: String { "TokenStore(\(current?.description ?? "no token"))" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// A mirror without secrets.
    public var customMirror: Mirror { Mirror(self, children: ["current": current as Any], displayStyle: .class) }
}
