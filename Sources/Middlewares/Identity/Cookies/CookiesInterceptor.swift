/// Sends the cookies of a jar, and keeps those that responses set (RFC 6265).
///
/// ```swift
/// .cookies()                    // a jar of this client's own
/// .cookies(jar)                 // one that is shared, looked into or kept
/// ```
/// ## Its place
/// Inside of `followRedirects`, so that each hop sets and gets its own cookies; outside of `coalesce` and a cache, which must
/// know who asks, and of `sign` and `logging`. Inside of those two it throws a ``ChainOrderError``, with an empty jar too,
/// unless the request names a partition. Without them it may stand inside of `retry`: then each attempt carries what the
/// one before it was given. The jar ignores the cookies of a stored
/// response, because it has taken them before (``Interceptors/HTTPResponse/receivedCookies``).
///
/// A `Cookie` field that the request has already stays, and the jar's cookies follow it but for those of the same names. To
/// whom cookies go is RFC 6265's to say: to the host that set them, or the hosts of its domain, whatever the port.
public struct CookiesInterceptor: Interceptor {
    /// The jar.
    public let jar: CookieJar
    private let origins: Set<Origin>?

    /// An interceptor over a jar.
    ///
    /// - Parameters:
    ///   - jar: where cookies are kept, by default one of its own.
    ///   - origins: the only origins that may set and get cookies; `nil` for all, under the rules of RFC 6265.
    public init(_ jar: CookieJar = CookieJar(), origins: Set<Origin>? = nil) {
        self.jar = jar
        self.origins = origins
    }

    /// Adds the cookies for the request's URL, passes it on, and keeps what the response sets.
    ///
    /// - Throws: ``ChainOrderError`` inside of `cache` or `coalesce`; what the rest of the chain throws.
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        let url = request.url
        let clearCount = jar.clearCount
        if isAllowed(Origin(url)) {
            // An empty jar may be full for the next request, which would get what is stored for this one.
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
        let own = request.headerFields[.cookie]
        let names = own.map { Self.names(in: $0) } ?? []
        let added = cookies.filter { !names.contains($0.name) }.map { "\($0.name)=\($0.value)" }
        guard !added.isEmpty else { return }
        request.headerFields[.cookie] = ([own].compactMap { $0 } + added).joined(separator: "; ")
    }

    private static func names(in field: String) -> Set<String> {
        Set(
            field.utf8.split(separator: UInt8(ascii: ";")).map { pair in
                String(Substring(pair.prefix { $0 != UInt8(ascii: "=") }.drop { $0 == 0x20 || $0 == 0x09 }))
            }
        )
    }
}

extension Interceptor where Self == CookiesInterceptor {
    /// Sends the cookies of a jar and keeps those that responses set: see ``CookiesInterceptor``.
    ///
    /// - Parameters:
    ///   - jar: where cookies are kept, by default one that nobody shares.
    ///   - origins: the only origins that may set and get cookies; `nil` for all, under the rules of RFC 6265.
    public static func cookies(_ jar: CookieJar = CookieJar(), origins: Set<Origin>? = nil) -> Self {
        Self(jar, origins: origins)
    }
}
