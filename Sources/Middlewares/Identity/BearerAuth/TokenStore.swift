internal import Foundation
internal import Synchronization

/// Holds the access token of one account, refreshes it once for all waiting requests, and sends it only to its origins.
///
/// `bearerAuth`, which sends the token, and `retryOnUnauthorized`, which refreshes it when a server
/// rejects it, share one store:
///
/// ```swift
/// let tokens = TokenStore(
///     keychain.load(),
///     options: TokenStore.Options(
///         persist: { token in await keychain.save(token) },
///         onSignOut: { error in Task { @MainActor in showLogIn(error) } }
///     ),
///     refresh: { rejected in
///         guard let refreshToken = rejected?.refreshToken else {
///             throw AuthenticationError.signedOut(because: LogInNeeded())
///         }
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
/// - At most one refresh runs at a time, and every request that needs its token waits for it. The refresh is a separate task:
///   cancelling the waiting requests doesn't cancel it, and the store keeps and persists its token.
/// - A token is refreshed when a server rejects it, whatever its expiry, and before it is sent if it expires within the
///   leeway.
/// - If a refresh fails, all waiting requests fail with an ``AuthenticationError`` whose `underlying` error is the closure's. The
///   next request tries again.
/// - If the closure throws ``AuthenticationError/signedOut(because:)``, no refresh can succeed any more, and the store signs out.
/// - The closure may send requests through the same chain that waits for it. For the closure's task
///   (`Task.isRefreshingCredential`), `bearerAuth` adds no token and `retryOnUnauthorized` passes a rejection through. The
///   closure must therefore add the credentials it needs, usually the refresh token. Tasks that the closure starts count too;
///   detached tasks don't.
/// - Within ``Options/pause`` after a refresh, a rejection of the new token starts no other refresh: the caller gets the
///   rejection. The pause ends early when a server accepts the token, unless a request was rejected with both tokens, the old
///   and the new. So an endpoint that rejects every token doesn't cause a refresh for each request, even if other endpoints
///   accept them.
/// - A closure that never returns keeps every request waiting (each can be cancelled): give its requests a timeout.
///
/// ## Sessions
/// ``signIn(_:)`` and ``signOut()`` supersede a running refresh, whose token is then discarded. After `signIn`, the waiting
/// requests continue with the new token. `signOut` ends the session: the waiting requests fail with
/// ``InterceptorsTransport/HTTPErrorCode/signedOut``, requests carry no token, and nothing is refreshed until the next `signIn`.
///
/// A refresh closure that throws ``AuthenticationError/signedOut(because:)`` ends the session too: the waiting requests fail with
/// that error, ``Options/persist`` gets `nil`, and ``Options/onSignOut`` is called once. The closure of an earlier session ends no
/// later one.
///
/// A request rejected after a sign-out is not sent again with a later token, so sign out before another user signs in. A
/// redirect or a retry further outside asks for the current token, as a new request does: cancel the old user's calls.
///
/// ## Without a token
/// Until a store has a token, requests go without one, so log-ins and public endpoints work. The first rejection calls the
/// closure with `nil`. With ``Options/fetchesFirstToken``, the first request waits for a token instead.
///
/// ## Log-in through the same chain
/// A log-in carries no token that could be rejected: its 401 means a wrong password, and the caller must see it. Omit the
/// token from the log-in request, and pass the new token to the store:
///
/// ```swift
/// var context = HTTPContext()
/// context.authorization = .omitted
/// let session = try await api.post("/login", body: form, as: Session.self, context: context)
/// tokens.signIn(session.tokens)
/// ```
/// If the session is valid and a 401 means something else, such as a wrong password in a confirmation, use
/// ``AuthorizationMode/notRenewed``: the request carries the token, and a rejection doesn't refresh it.
public final class TokenStore: Sendable {
    /// How a store keeps, refreshes and persists its token.
    public struct Options: Sendable {
        /// How long before its expiry a token is refreshed, 30 seconds by default. If the closure returns a token with less
        /// than twice the leeway to live, the store refreshes the token at half its life.
        public var leeway: Duration
        /// Whether a request waits for `refresh(nil)` while the store has no token; by default it goes without a token.
        public var fetchesFirstToken: Bool
        /// The time after a refresh in which a rejection of the new token starts no other refresh; 10 seconds by default,
        /// `.zero` for no pause. ``TokenStore`` says when it ends early. ``TokenStore/signIn(_:)`` ends the pause.
        public var pause: Duration
        /// Called with the token after each change, and with `nil` after a sign-out. The calls are serial, in the order of the
        /// changes, and never contain a discarded token. No request waits for them.
        public var persist: (@Sendable (Token?) async -> Void)?
        /// Called once when a refresh has ended the session, with the error that the waiting requests get.
        /// ``TokenStore/signOut()`` doesn't call it. It must return quickly.
        public var onSignOut: @Sendable (AuthenticationError) -> Void
        /// Called with each event, for tests.
        var observe: @Sendable (RefreshEvent) -> Void = { _ in }

        /// Creates options. Each parameter sets the property of its name.
        public init(
            leeway: Duration = .seconds(30),
            fetchesFirstToken: Bool = false,
            pause: Duration = .seconds(10),
            persist: (@Sendable (Token?) async -> Void)? = nil,
            onSignOut: @escaping @Sendable (AuthenticationError) -> Void = { _ in }
        ) {
            self.leeway = leeway
            self.fetchesFirstToken = fetchesFirstToken
            self.pause = pause
            self.persist = persist
            self.onSignOut = onSignOut
        }
    }

    /// The closure that renews the credential.
    enum Renewal: Sendable {
        case token(@Sendable (_ rejected: Token?) async throws -> Token)
        case tokenThroughClient(@Sendable (_ rejected: Token?, _ api: Client) async throws -> Token)
        /// Renews a credential that the store doesn't hold, such as a cookie.
        case logIn(@Sendable () async throws -> Void)
    }

    let flights: Mutex<Flights>
    /// Whether ``SingleFlight/isUnproven`` is set: a copy outside the lock, because every response reads it. Written only
    /// under the lock.
    let isUnproven = Atomic(false)
    let renewal: Renewal
    /// The origins that may get the token; `nil` if they depend on the client.
    let origins: Set<Origin>?
    let options: Options
    let now: @Sendable () -> Date
    let stopwatch: Stopwatch
    let persistence: SerialPersister<Token?>?

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - initial: the persisted token to start with; `nil` for none.
    ///   - origins: the origins that may get the token; `nil` for the origin of the base URL of the client that sends a
    ///     request.
    ///   - options: how the token is kept, refreshed and persisted.
    ///   - time: measures the pause; its wall clock decides whether a token has expired.
    ///   - refresh: returns a token to replace the rejected or expired one; called with `nil` if there is no token. If the
    ///     new token has no refresh token, the store keeps the old one's (RFC 6749 §6). If it throws
    ///     ``AuthenticationError/signedOut(because:)``, the session ends.
    public convenience init(
        _ initial: Token? = nil,
        origins: Set<Origin>? = nil,
        options: Options = Options(),
        time: TimeSource = .system,
        refresh: @escaping @Sendable (_ rejected: Token?) async throws -> Token
    ) {
        self.init(initial, origins, options, time, .token(refresh))
    }

    /// Creates a store whose refreshes go through the client that uses the store.
    ///
    /// ```swift
    /// let tokens = TokenStore(keychain.load()) { rejected, api in
    ///     let fields: HTTPQuery = ["grant_type": "refresh_token", "refresh_token": rejected?.refreshToken]
    ///     return try await api.post("/oauth/token", body: .form(fields), as: Session.self).tokens
    /// }
    /// let api = Client(baseURL: baseURL, interceptors: [.retryOnUnauthorized(tokens), .bearerAuth(tokens)])
    /// ```
    /// - Parameters:
    ///   - initial: the persisted token to start with; `nil` for none.
    ///   - origins: the origins that may get the token, as in the other initializer.
    ///   - options: how the token is kept, refreshed and persisted.
    ///   - time: measures the pause; its wall clock decides whether a token has expired.
    ///   - refresh: returns a token to replace the rejected or expired one; called with `nil` if there is no token. `api` is the
    ///     client whose request needs the token. The calls of the closure go through its whole chain, without a token. If a
    ///     request that no `Client` made needs a refresh, it fails with
    ///     `HTTPErrorCode.unsupported`.
    public convenience init(
        _ initial: Token? = nil,
        origins: Set<Origin>? = nil,
        options: Options = Options(),
        time: TimeSource = .system,
        refresh: @escaping @Sendable (_ rejected: Token?, _ api: Client) async throws -> Token
    ) {
        self.init(initial, origins, options, time, .tokenThroughClient(refresh))
    }

    init(_ initial: Token?, _ origins: Set<Origin>?, _ options: Options, _ time: TimeSource, _ renewal: Renewal) {
        flights = Mutex(Flights(HeldToken(initial, leeway: options.leeway)))
        self.origins = origins
        self.options = options
        self.renewal = renewal
        now = time.now
        stopwatch = Stopwatch.starting(time.clock)
        persistence = options.persist.map(SerialPersister.init)
    }

    /// The current token, expired or not; `nil` if there is none.
    public var current: Token? { flights.withLock(\.current).value.token }

    /// Sets a token that was obtained outside the refresh closure, such as by a log-in.
    ///
    /// A running refresh is superseded: its token is discarded, and the waiting requests continue with this token. If the
    /// token names another account than the last one (``Token/account``), a new session begins: the waiting requests fail
    /// with ``InterceptorsTransport/HTTPErrorCode/signedOut``, and a request sent with the last token isn't sent again with this one. If
    /// your tokens name no account, call ``signOut()`` before another user signs in.
    public func signIn(_ token: Token) {
        let held = HeldToken(token, leeway: options.leeway)
        let resumption = change { flights in
            let last = flights.current.value.token
            return flights.replace(held, inNewSession: last != nil && last?.account != token.account)
        }
        resumption.resume()
    }

    /// Forgets the token and ends the session.
    ///
    /// A running refresh is superseded: its token is discarded, and the waiting requests fail with
    /// ``InterceptorsTransport/HTTPErrorCode/signedOut``. Nothing is refreshed until ``signIn(_:)``.
    public func signOut() { change { $0.close(.none) }.resume() }

    /// Waits until `persist` has returned for every change made so far, for instance before the process ends.
    public func waitUntilPersisted() async { await persistence?.finishPending() }
}

extension TokenStore {
    /// Adds the token to a request, for custom interceptors that replace `bearerAuth`.
    ///
    /// The method waits for a running refresh, or for the refresh that an expired token needs. A request that must not be
    /// sent (`HTTPContext.sendingForbidden`) gets the current token, expired or not, without waiting.
    ///
    /// No token is added to a request that already has an `Authorization` field, goes to an origin that the token is not for,
    /// belongs to a refresh (`Task.isRefreshingCredential`), or has ``AuthorizationMode/omitted``. The request's context
    /// records the result, so that `retryOnUnauthorized` knows which token a response rejects: call `next` with
    /// this request.
    ///
    /// - Throws: ``AuthenticationError`` with ``InterceptorsTransport/HTTPErrorCode/unknownOrigin`` if neither the store nor the
    ///   request's client names an origin, ``InterceptorsTransport/HTTPErrorCode/signedOut``, ``InterceptorsTransport/HTTPErrorCode/invalidCredential``,
    ///   ``InterceptorsTransport/HTTPErrorCode/refreshFailed``; `TransportError` inside `cache` or `coalesce`; `CancellationError`.
    public func authorize(_ request: inout HTTPRequest) async throws { _ = try await addToken(to: &request) }

    /// Does what ``authorize(_:)`` does. Returns a note if the token isn't meant for the request's origin.
    func addToken(to request: inout HTTPRequest) async throws -> CredentialNote? {
        var authorization = request.context.authorizations[self]
        guard !CredentialRefresh.isCurrent(of: self), !authorization.isHandled else {
            let reason = "the request belongs to a refresh of the token, or has been authorized already"
            request.note(.tokenWithheld(reason))
            return nil
        }
        authorization.isHandled = true
        request.context.authorizations[self] = authorization
        authorization.record?.note(nil)
        guard !request.headers.contains(.authorization), request.context.authorization != .omitted else {
            request.note(.tokenWithheld("the request has an Authorization field, or asks for none"))
            return nil
        }
        let (remedy, parameter) = ("TokenStore(origins: [origin], …)", "TokenStore(origins:)")
        let withheld = try CredentialNote.token(for: origins, withheldFrom: request, remedy, parameter)
        if let withheld {
            request.note(.tokenWithheld(withheld.note ?? ""))
            return withheld
        }
        try request.requireUnshared(by: "bearerAuth")
        let credential = try await credential(for: request)
        if let partition = authorization.partition, partition.account != credential.value.token?.account {
            throw AuthenticationError.changedAccount(of: request)
        }
        authorization.record?.note(credential.generation)
        guard credential.value.token != nil else { return nil }
        guard let field = credential.value.field else { throw AuthenticationError.invalidToken(for: request) }
        request.headers.append(field)
        return nil
    }

    /// The current token, or the next one if a refresh is running or due.
    private func credential(for request: HTTPRequest) async throws -> Credential<HeldToken> {
        let (current, isRefreshing, isClosed) = flights.withLock { ($0.current, $0.flight != nil, $0.isClosed) }
        // The cache looks up the response under the current token, even an expired one; a refresh would send a request.
        if request.context.sendingForbidden != nil { return current }
        if isRefreshing { return try await value(rejecting: nil, for: request, because: "it has expired") }
        let isMissing = current.value.token == nil && options.fetchesFirstToken && !isClosed
        guard isMissing || current.value.isDue(at: now()) else { return current }
        let cause = isMissing ? "there is none yet" : "it has expired"
        return try await value(rejecting: current.generation, for: request, because: cause)
    }
}

extension TokenStore: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The token's description, without secrets.
    public var description: String { "TokenStore(\(current?.description ?? "no token"))" }

    /// Equal to ``description``.
    public var debugDescription: String { description }

    /// A mirror without secrets.
    public var customMirror: Mirror { Mirror(self, children: ["current": current as Any], displayStyle: .class) }
}
