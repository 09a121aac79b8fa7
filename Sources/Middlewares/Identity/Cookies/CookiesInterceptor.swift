/// The implementation of `.cookies(…)`, documented there.
struct CookiesInterceptor: PlacedInterceptor {
    /// The jar that supplies and stores the cookies.
    let jar: CookieJar
    let origins: Set<Origin>?

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        let url = request.url
        let clearCount = jar.clearCount
        if isAllowed(Origin(url)) {
            // Even with an empty jar: the next request may carry cookies, and would get the response stored for this request.
            try request.requireUnshared(by: "cookies")
            addCookies(to: &request)
        }
        let response = try await next(request)
        let source = response.url ?? url
        if isAllowed(Origin(source)) {
            jar.receive(response.receivedCookies, from: source, unlessClearedSince: clearCount)
        }
        return response
    }

    private func isAllowed(_ origin: Origin?) -> Bool {
        guard let origin else { return false }
        return origins?.contains(origin) ?? true
    }

    private func addCookies(to request: inout HTTPRequest) {
        let cookies = jar.cookies(for: request.url)
        guard !cookies.isEmpty else { return }
        let own = request.headers[.cookie]
        let names = own.map { Self.names(in: $0) } ?? []
        let added = cookies.filter { !names.contains($0.name) }.map { "\($0.name)=\($0.value)" }
        guard !added.isEmpty else { return }
        request.headers[.cookie] = ([own].compactMap { $0 } + added).joined(separator: "; ")
    }

    private static func names(in field: String) -> Set<String> {
        Set(
            field.utf8.split(separator: UInt8(ascii: ";")).map { pair in
                String(Substring(pair.prefix { $0 != UInt8(ascii: "=") }.drop { $0 == 0x20 || $0 == 0x09 }))
            }
        )
    }

    var placement: [ChainRole] { [.addsCredentials(in: .cookie), .keepsCookies.of(jar)] }
}

extension Interceptor where Self == AnyInterceptor {
    /// Sends the cookies of a jar, and stores the cookies that responses set (RFC 6265).
    ///
    /// ```swift
    /// .cookies()                    // a jar of this client's own
    /// .cookies(jar)                 // one that is shared or looked into
    /// .cookies(CookieJar(file: file)) // cookies that last across launches
    /// ```
    ///
    /// ## Order
    /// Put `cookies` inside `followRedirects`, so that each hop sends and sets its own cookies, and outside `sign` and
    /// `logging`. Put `cookies` outside `coalesce` and `cache`, which must know whose request they see: inside them, it throws
    /// a `TransportError`, even with an empty jar, unless the request names a partition. Without `cache` and `coalesce`,
    /// `cookies` may be inside `retry`: each attempt then carries the cookies that the previous attempt received.
    ///
    /// The jar ignores the cookies of a response from the cache, because it stored them when the response first arrived
    /// (``InterceptorsTransport/HTTPResponse/receivedCookies``).
    ///
    /// A `Cookie` field already in the request stays first, and the jar adds its cookies except those with a name in that
    /// field. A cookie goes to the host that set it, or to the hosts of its domain, on any port (RFC 6265).
    ///
    /// - Parameters:
    ///   - jar: the jar that supplies and stores the cookies; by default a new jar that nothing else shares.
    ///   - origins: the only origins that may set and get cookies; `nil` for all, under the rules of RFC 6265.
    public static func cookies(_ jar: CookieJar = CookieJar(), origins: Set<Origin>? = nil) -> Self {
        Self(CookiesInterceptor(jar: jar, origins: origins))
    }
}
