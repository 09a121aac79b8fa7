extension Array where Element == any Interceptor {
    /// The chain that most apps need, in the order that *The order of a chain* explains.
    ///
    /// ```swift
    /// let client = Client(baseURL: url, interceptors: .standard(tokens))
    /// let anonymous = Client(baseURL: url, interceptors: .standard())         // without sign-in
    /// let own = Client(
    ///     baseURL: url,
    ///     interceptors: .standard(tokens, cache: .cache(.disk(at: cachesDirectory)), retry: .retry(maxAttempts: 5), log: nil)
    /// )
    /// ```
    /// The chain is this array; `print(client.chain)` shows it:
    ///
    /// ```swift
    /// [
    ///     .validateStatus(),                  // status: throws a StatusError for a status outside 2xx
    ///     .followRedirects(),                 // redirects
    ///     .retryOnUnauthorized(tokens),       // tokens: refreshes the token after a 401
    ///     .bearerAuth(tokens),                // tokens: sends the token to its origins
    ///     .cache(.memory()),                  // cache
    ///     .retry(maxAttempts: 3),             // retry: repeats only what is safe to repeat
    ///     .logging(),                         // log: to standard error, without secrets
    /// ]
    /// ```
    /// For another order or further interceptors, write the array.
    ///
    /// - Parameters:
    ///   - tokens: the store whose token the chain sends and refreshes; by default, the chain sends no token.
    ///   - status: turns statuses into errors.
    ///   - redirects: follows redirects.
    ///   - credentials: other interceptors that sign in, such as `[.cookies()]` or `[.bearerAuth { await keychain.token }]`.
    ///     They follow those of `tokens`.
    ///   - cache: stores responses; by default in memory, up to the limits of `.memory()`.
    ///   - retry: repeats failed requests, by default in up to three attempts.
    ///   - log: logs each exchange. `nil` leaves out this part, as it does each other part.
    public static func standard(
        _ tokens: TokenStore? = nil,
        status: (any Interceptor)? = .validateStatus(),
        redirects: (any Interceptor)? = .followRedirects(),
        credentials: [any Interceptor] = [],
        cache: (any Interceptor)? = .cache(.memory()),
        retry: (any Interceptor)? = .retry(maxAttempts: 3),
        log: (any Interceptor)? = .logging()
    ) -> Self {
        let signIn: Self = tokens.map { [.retryOnUnauthorized($0), .bearerAuth($0)] } ?? []
        return [status, redirects].compactMap(\.self) + signIn + credentials + [cache, retry, log].compactMap(\.self)
    }

    /// The same chain with a time source, for tests. `tokens` has its own.
    public static func standard(_ tokens: TokenStore? = nil, time: TimeSource) -> Self {
        standard(
            tokens,
            cache: .cache(.memory(), time: time),
            retry: .retry(maxAttempts: 3, time: time),
            log: .logging(time: time)
        )
    }
}
