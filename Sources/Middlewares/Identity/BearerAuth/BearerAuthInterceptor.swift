/// The implementation of `.bearerAuth(…)`, documented there.
struct BearerAuthInterceptor: Interceptor {
    private enum Source: Sendable {
        case store(TokenStore)
        case token(BearerToken)
    }

    private let source: Source

    init(_ tokens: TokenStore) { source = .store(tokens) }

    init(_ token: BearerToken) { source = .token(token) }

    @inline(__always)
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        let withheld: WithheldToken?
        switch source {
        case .store(let tokens): withheld = try await tokens.addToken(to: &request)
        case .token(let token): withheld = try await token.add(to: &request)
        }
        if let withheld {
            return try await send(request, without: withheld, next)
        }
        var response = try await next(request)
        if response.status.code == 401 { response.context.hasSentToken = true }
        return response
    }

    // Only a 401 gets the note, because its error must explain the missing token.
    private func send(
        _ request: consuming HTTPRequest,
        without withheld: WithheldToken,
        _ next: Next
    ) async throws -> HTTPResponse {
        do {
            var response = try await next(request)
            if response.status.code == 401, !response.context.hasSentToken { response.context.withheldToken = withheld }
            return response
        } catch {
            guard var contextual = error as? any HTTPError, let response = contextual.receivedResponse,
                response.status.code == 401, !response.context.hasSentToken
            else { throw error }
            contextual.context.withheldToken = withheld
            throw contextual
        }
    }
}

extension BearerAuthInterceptor: PlacedInterceptor {
    var placement: Placement {
        switch source {
        case .store(let tokens):
            [
                .addsCredentials(in: .authorization), .addsCredentials.of(tokens, for: tokens.knownOrigins),
                .awaitsRenewal,
            ]
        case .token(let token):
            [
                .addsCredentials(in: .authorization),
                .addsCredentials.of(token, for: token.origins, isConstant: token.isConstant),
            ]
        }
    }
}

extension Interceptor where Self == AnyInterceptor {
    /// Sends the token of a store as `Authorization: Bearer …` (RFC 6750 §2.1), to the token's origins only.
    ///
    /// ```swift
    /// interceptors: [.followRedirects(), .retryOnUnauthorized(tokens), .bearerAuth(tokens), .retry(3)]
    /// interceptors: [.bearerAuth { await keychain.token }]        // asked for each request
    /// interceptors: [.bearerAuth("a1b2c3")]                       // always the same
    /// ```
    /// A ``TokenStore`` also refreshes its token, once for all waiting requests. An expired token is refreshed before the
    /// request is sent, and a rejected one if `bearerAuth` is inside ``retryOnUnauthorized(_:when:)`` with the same store.
    ///
    /// ## Order
    /// Put `bearerAuth` inside every interceptor that sends a request again with another token or to another URL
    /// (`retryOnUnauthorized`, `followRedirects`): each run then gets the current token. Put `bearerAuth` outside `sign`, which
    /// signs the whole request, and outside `cache` and `coalesce`, which must know whose request they see. Inside `cache` or
    /// `coalesce`, it throws a `ChainOrderError` unless the request names a partition.
    ///
    /// A request that already has an `Authorization` field keeps that field. To send a request without a token, set
    /// ``InterceptorsTransport/HTTPContext/authorization`` in its context.
    public static func bearerAuth(_ tokens: TokenStore) -> Self { Self(BearerAuthInterceptor(tokens)) }
}
