extension Interceptor where Self == PasswordAuthInterceptor {
    /// Answers challenges for a name and a password, the strongest first. See ``PasswordAuthInterceptor``, whose copies share
    /// their knowledge of servers.
    ///
    /// - Parameters:
    ///   - schemes: the schemes that it may use.
    ///   - origins: the origins whose challenges are answered; `nil` for the origin of the base URL of the client that sends
    ///     a request.
    ///   - time: the source of a digest's client nonces.
    ///   - credentials: called once for each challenge to answer.
    public static func passwordAuth(
        schemes: Set<PasswordAuthInterceptor.Scheme> = [.digest, .basic],
        origins: Set<Origin>? = nil,
        time: TimeSource = .system,
        credentials: @escaping PasswordAuthInterceptor.Credentials
    ) -> Self {
        Self(schemes: schemes, origins: origins, random: time.random, credentials: credentials)
    }

    /// Answers a proxy's challenges (407) to requests over plain http.
    ///
    /// ```swift
    /// .passwordAuth(proxy: Origin(proxyURL)!) { realm, proxy in await keychain.credential(for: realm) }
    /// ```
    /// A transport doesn't tell whether a proxy or a server responded, so any 407 to plain http counts as the proxy's. By
    /// default, only digest challenges are answered, which don't reveal the password. Use this interceptor only with a
    /// transport that sends plain http through this proxy.
    ///
    /// A cache or `coalesce` may stand outside, and needs no partition: the credentials are for the proxy, and don't decide whose
    /// response the origin sends (RFC 9110 §11.7.2). If the proxy changes responses by user, name a partition for each of its
    /// users. Inside this interceptor, `coalesce` shares no requests, because each digest differs.
    ///
    /// A request over https goes through a tunnel. If the proxy refuses the tunnel with a 407, the transport throws
    /// ``TransportError/Code/cannotConnect``. A 407 that arrives over https comes from the origin, and goes to the caller: it
    /// neither gets the proxy's credentials nor rejects them. Give the transport the credentials for tunnels: `CurlTransport` in
    /// the proxy's URL, `http://user:password@proxy.example:3128`. On Apple's platforms, `URLSessionTransport` answers every
    /// 407 itself, with the credentials of the system's settings.
    ///
    /// - Parameters:
    ///   - proxy: scheme, host and port of the proxy, which are passed to the closure.
    ///   - schemes: the schemes that it may use.
    ///   - time: the source of a digest's client nonces.
    ///   - credentials: called once for each challenge to answer.
    public static func passwordAuth(
        proxy: Origin,
        schemes: Set<PasswordAuthInterceptor.Scheme> = [.digest],
        time: TimeSource = .system,
        credentials: @escaping PasswordAuthInterceptor.Credentials
    ) -> Self {
        Self(schemes: schemes, origins: nil, random: time.random, challenger: .proxy(proxy), credentials: credentials)
    }

    /// Answers digest challenges (RFC 7616) with this name and password: see ``PasswordAuthInterceptor``.
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
        return Self(schemes: [.digest], origins: origins, random: time.random, credentials: { _, _ in credential })
    }

    /// Answers basic challenges (RFC 7617) with this name and password, in UTF-8: see ``PasswordAuthInterceptor``.
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
            schemes: [.basic],
            origins: origins,
            random: .system,
            atOnce: atOnce ? credential : nil,
            credentials: { _, _ in credential }
        )
    }
}

extension AuthenticationError.Code {
    /// The scheme that the server asks for can't carry this name or password, such as a name with a colon for basic (RFC 7617
    /// §2).
    public static let invalidCredential = Self(rawValue: "invalidCredential")
    /// The system's cryptography, which the response to the challenge needs, is missing or failed.
    public static let unsupported = Self(rawValue: "unsupported")
}
