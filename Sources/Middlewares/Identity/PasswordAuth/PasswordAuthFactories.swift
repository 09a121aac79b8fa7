extension Interceptor where Self == PasswordAuthInterceptor {
    /// Answers challenges for a name and a password, the strongest first.
    ///
    /// See ``PasswordAuthInterceptor``, and ``PasswordAuthInterceptor/init(schemes:origins:random:credentials:)`` for the
    /// parameters.
    public static func passwordAuth(
        schemes: Set<PasswordAuthInterceptor.Scheme> = [.digest, .basic],
        origins: Set<Origin>? = nil,
        random: RandomSource = .system,
        credentials: @escaping PasswordAuthInterceptor.Credentials
    ) -> Self {
        Self(schemes: schemes, origins: origins, random: random, credentials: credentials)
    }

    /// Answers a proxy's challenges to requests over plain http.
    ///
    /// See ``PasswordAuthInterceptor/init(proxy:schemes:random:credentials:)``.
    public static func passwordAuth(
        proxy: Origin,
        schemes: Set<PasswordAuthInterceptor.Scheme> = [.digest],
        random: RandomSource = .system,
        credentials: @escaping PasswordAuthInterceptor.Credentials
    ) -> Self {
        Self(proxy: proxy, schemes: schemes, random: random, credentials: credentials)
    }

    /// Answers digest challenges (RFC 7616) with this name and password: see ``PasswordAuthInterceptor``.
    ///
    /// - Parameters:
    ///   - username: the user's name.
    ///   - password: the password, which is never sent, only its digest.
    ///   - origins: the origins whose challenges are answered; `nil` for the origin of the base URL of the client that sends
    ///     a request.
    ///   - random: the source of the client nonces.
    public static func digestAuth(
        username: String,
        password: String,
        origins: Set<Origin>? = nil,
        random: RandomSource = .system
    ) -> Self {
        let credential = PasswordCredential(username: username, password: password)
        return Self(schemes: [.digest], origins: origins, random: random) { _, _ in credential }
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
