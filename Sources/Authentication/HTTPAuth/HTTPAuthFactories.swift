extension Interceptor where Self == AnyInterceptor {
    /// Answers the challenges of servers that ask for a name and a password, with digest (RFC 7616) or basic (RFC 7617).
    ///
    /// A proxy's password (407) belongs to the transport: `CurlTransport(proxy: .url(…))` takes it in the URL.
    ///
    /// ```swift
    /// .digestAuth(username: "Mufasa", password: password)
    /// .basicAuth(username: "Aladdin", password: password, atOnce: true)
    /// .httpAuth { realm, origin in await keychain.credential(for: realm) }
    /// ```
    ///
    /// ## Order
    /// Put this interceptor inside `validateStatus` and `followRedirects`, and outside `retry`: it answers a 401 by running the
    /// rest of the chain again. Put it outside `coalesce` and `cache`, which must know whose request they see. Inside
    /// `coalesce` or `cache`, this interceptor throws a `TransportError` unless the request names a partition. With digest,
    /// a cache can find its responses again only by a partition.
    ///
    /// An interceptor that changes the URL or the content belongs outside this interceptor; only the transport may do so
    /// inside. A digest covers the target as it is sent and, with `auth-int`, the content too.
    ///
    /// ## Behaviour
    /// - A request carries no credentials until the server asks for them. Later requests to the origin carry an answer in
    ///   advance: a digest with the next nonce count, or basic. A stale nonce is replaced, and a nonce from
    ///   `Authentication-Info` is used.
    /// - The strongest challenge is answered: digest with SHA-256, then digest with MD5, then basic. If both
    ///   schemes are allowed, basic is answered only over https, so that nobody in between can downgrade digest to basic.
    /// - If the closure's credential depends on the signed-in user, pass a `session`, and call ``PasswordSession/signOut()``
    ///   when the user changes.
    /// - If an answer in advance is rejected, the closure is called again: the password may have changed, or another realm may
    ///   need another credential. If the closure returns the same basic credential, it is not sent twice.
    /// - If a realm rejects a credential that it has never accepted, the caller gets the 401, and the credential is not used
    ///   for the realm again.
    /// - A 401 that goes to the caller says why it wasn't answered: in the journal, and in the error that `validateStatus` makes of
    ///   it.
    /// - The caller also gets a 401 that can't be answered (an unknown algorithm, or `auth-int` for a one-shot body). So does a
    ///   401 after a redirect that an inner interceptor followed and that changed the method: the server has already acted on
    ///   the request.
    /// - Names and passwords are sent as UTF-8, and only to their origins. A request that already has an `Authorization` field
    ///   keeps that field. To send a request without credentials, set its `context.authorization`.
    /// - With `.notRenewed`, a 401 to a request with credentials goes to the caller. The closure isn't called again, and the
    ///   credential stays in use. A first challenge and a stale nonce are still answered.
    /// - If the challenged request used up a one-shot body, the call fails with `HTTPErrorCode.bodyNotReplayable`. The
    ///   next call carries the answer in advance.
    /// - If the scheme can't carry the name or the password, the call fails with `HTTPErrorCode.invalidCredential`.
    ///
    /// Copies share their knowledge of servers, so the same value can be part of several chains.
    ///
    /// - Parameters:
    ///   - schemes: the schemes that it may use.
    ///   - origins: the origins whose challenges are answered; `nil` for the origin of the base URL of the client that sends
    ///     a request. Without either, a request fails with `HTTPErrorCode.unknownOrigin`.
    ///   - session: ends the use of a user's credentials.
    ///   - time: the source of a digest's client nonces.
    ///   - credentials: called once for each challenge to answer, with its realm and origin. `nil` leaves the challenge to the
    ///     caller, who also gets an error that the closure throws.
    public static func httpAuth(
        schemes: Set<PasswordScheme> = [.digest, .basic],
        origins: Set<Origin>? = nil,
        session: PasswordSession = PasswordSession(),
        time: TimeSource = .system,
        credentials: @escaping @Sendable (_ realm: String, _ origin: Origin) async throws -> PasswordCredential?
    ) -> Self {
        Self(
            HTTPAuthInterceptor(
                schemes: schemes,
                origins: origins,
                random: time.random,
                memory: HTTPAuthMemory(session),
                credentials: credentials
            )
        )
    }

    /// Answers digest challenges (RFC 7616) with this name and password. See
    /// ``httpAuth(schemes:origins:session:time:credentials:)``.
    ///
    /// - Parameters:
    ///   - username: the user's name.
    ///   - password: the password, which is never sent, only its digest.
    ///   - origins: the origins whose challenges are answered; `nil` for the origin of the base URL of the client that sends
    ///     a request.
    ///   - time: the source of the client nonces.
    public static func digestAuth(
        username: String,
        password: String,
        origins: Set<Origin>? = nil,
        time: TimeSource = .system
    ) -> Self {
        let credential = PasswordCredential(username: username, password: password)
        return httpAuth(schemes: [.digest], origins: origins, time: time) { _, _ in credential }
    }

    /// Answers basic challenges (RFC 7617) with this name and password, in UTF-8. See
    /// ``httpAuth(schemes:origins:session:time:credentials:)``.
    ///
    /// Over http, anyone on the network path can read the password.
    ///
    /// - Parameters:
    ///   - username: the user's name, without a colon.
    ///   - password: the password.
    ///   - origins: the origins whose challenges are answered; `nil` for the origin of the base URL of the client that sends
    ///     a request.
    ///   - atOnce: whether requests carry the password before a server asks for it; `false` by default.
    public static func basicAuth(
        username: String,
        password: String,
        origins: Set<Origin>? = nil,
        atOnce: Bool = false
    ) -> Self {
        let credential = PasswordCredential(username: username, password: password)
        return Self(
            HTTPAuthInterceptor(
                schemes: [.basic],
                origins: origins,
                random: .system,
                atOnce: atOnce ? credential : nil,
                credentials: { _, _ in credential }
            )
        )
    }
}
