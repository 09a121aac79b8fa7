/// The implementation of `.bearerAuth(…)`, documented there.
struct BearerAuthInterceptor: PlacedInterceptor {
    enum Source: Sendable {
        case store(TokenStore)
        case token(BearerToken)
    }

    let source: Source

    @inline(__always)
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        let note: CredentialNote
        switch source {
        case .store(let tokens): note = try await tokens.addToken(to: &request) ?? .sent
        case .token(let token): note = try await token.add(to: &request) ?? .sent
        }
        do {
            var response = try await next(request)
            if response.isUnexplained { response.context.credentialNote = note }
            return response
        } catch {
            guard var explained = error as? any HTTPError, explained.receivedResponse?.isUnexplained == true,
                explained.context.credentialNote == nil
            else { throw error }
            explained.context.credentialNote = note
            throw explained
        }
    }

    var placement: [ChainRole] {
        switch source {
        case .store(let tokens):
            [.addsCredentials(in: .authorization), .addsCredentials.of(tokens, for: tokens.origins), .awaitsRenewal]
        case .token(let token):
            [
                .addsCredentials(in: .authorization),
                .addsCredentials.of(token, for: token.origins, isConstant: token.isConstant),
            ]
        }
    }
}

extension HTTPResponse {
    /// Only a 401 gets the note, because its error must explain the missing token. An inner `bearerAuth` knows it better.
    fileprivate var isUnexplained: Bool { status.code == 401 && context.credentialNote == nil }
}

extension CredentialNote {
    /// The note of a request to an origin that a token isn't for; `nil` if the token is for the request's origin.
    ///
    /// - Parameters:
    ///   - remedy: how to name the origins, for the error if none is named.
    ///   - parameter: the parameter that names the origins.
    static func token(
        for origins: Set<Origin>?,
        withheldFrom request: HTTPRequest,
        _ remedy: String,
        _ parameter: String
    ) throws -> Self? {
        let unknown = { AuthenticationError.unknownOrigin(of: request, remedy: remedy) }
        guard try request.origin(among: origins, orThrow: unknown()) == nil else { return nil }
        return withheld(from: request, origins) { target, allowed in
            "bearerAuth added no token for \(target), because its tokens are for \(allowed). \(parameter) names the origins."
        }
    }
}

extension Interceptor where Self == AnyInterceptor {
    /// Sends the token of a store as `Authorization: Bearer …` (RFC 6750 §2.1), to the token's origins only.
    ///
    /// ```swift
    /// interceptors: [.followRedirects(), .retryOnUnauthorized(tokens), .bearerAuth(tokens), .retry(maxAttempts: 3)]
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
    /// `coalesce`, it throws a `TransportError` unless the request names a partition.
    ///
    /// A request that already has an `Authorization` field keeps that field. To send a request without a token, set
    /// ``InterceptorsTransport/HTTPContext/authorization`` in its context.
    public static func bearerAuth(_ tokens: TokenStore) -> Self { Self(BearerAuthInterceptor(source: .store(tokens))) }
}
