public import Foundation

/// The implementation of `.sign(…)`, documented there.
struct SignInterceptor: PlacedInterceptor {
    let signer: RequestSigner
    let origins: Set<Origin>?
    let identifiesCaller: Bool
    let now: @Sendable () -> Date
    var isSigned: @Sendable (HTTPRequest) -> Bool = { _ in true }

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        if isSigned(request), try isForRequest(request) {
            if identifiesCaller { try request.requireUnshared(by: "sign", changesEachTime: true) }
            try await signer.sign(&request, at: now())
            if !identifiesCaller { request.declareAnonymous() }
        }
        return try await next(request)
    }

    private func isForRequest(_ request: HTTPRequest) throws -> Bool {
        try request.origin(
            among: origins,
            orThrow: TransportError.unsigned(
                .unknownOrigin,
                "The request was not sent, because no origin is named that may receive signatures. Give the Client a base URL,"
                    + " or name the origins: .sign(signer, origins: [origin]).",
                request: request
            )
        ) != nil
    }

    var placement: [ChainRole] { [.signs] + (identifiesCaller ? [.identifiesCaller, .changesEachTime] : []) }
}

extension Interceptor where Self == AnyInterceptor {
    /// Signs requests to chosen origins.
    ///
    /// ```swift
    /// let key = SigningKey(Data(base64Encoded: secret)!)
    /// let interceptors: [any Interceptor] = [
    ///     .followRedirects(),
    ///     .retry(…),
    ///     .compressRequest(),
    ///     .sign(.hmacSHA256(key, keyID: "shop-app")),                    // RFC 9421
    ///     // or .sign(.awsV4(region: "eu-central-1", service: "s3") { credentials })
    ///     // or .sign { request, date in
    ///     //        let digest = try await request.body.sha256()
    ///     //        request.headers["X-Digest"] = digest.base64EncodedString()
    ///     //        request.headers["X-Signature"] = try key.hmacSHA256(digest).base64EncodedString()
    ///     //    }
    /// ]
    /// ```
    /// ## Order
    /// - Innermost, except for interceptors that only observe, such as `logging`, because the signature must cover the request
    ///   as sent. So inside `headers`, `cookies`, `tracing` and `compressRequest`.
    /// - Inside `retry` and `followRedirects`, so that each attempt is signed with the current time, and each redirected
    ///   request with its URL.
    ///
    /// An outer `cache` or `coalesce` can serve one response to several requests, but can't see whose key signs a request. So
    /// name a partition (`HTTPContext.cachePartition`), or, if all users of the program share the key, pass
    /// `identifiesCaller: false`. Otherwise the request fails with `HTTPErrorCode.sharedResponse`.
    ///
    /// ## Behaviour
    /// Requests to other origins pass unsigned. A request that should be signed but can't be isn't sent: it fails with the
    /// signer's error, or with `HTTPErrorCode.unknownOrigin` if neither `origins` nor the client names an origin.
    ///
    /// - Parameters:
    ///   - signer: adds the signatures.
    ///   - origins: the origins whose requests are signed; `nil`, the default, for the origin of the client's base URL.
    ///   - identifiesCaller: whether the key identifies a user, so that an outer `cache` or `coalesce` must not share responses
    ///     between users; `true` by default. Pass `false` for a key that all users of the program share.
    ///   - time: its wall clock dates the signatures.
    ///   - isSigned: selects which of the requests to these origins to sign; by default all.
    public static func sign(
        _ signer: RequestSigner,
        origins: Set<Origin>? = nil,
        identifiesCaller: Bool = true,
        time: TimeSource = .system,
        where isSigned: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }
    ) -> Self {
        let sign = SignInterceptor(
            signer: signer,
            origins: origins,
            identifiesCaller: identifiesCaller,
            now: time.now,
            isSigned: isSigned
        )
        return Self(sign)
    }

    /// Signs requests with a closure, which adds fields or query parameters to the final request.
    ///
    /// Equivalent to ``sign(_:origins:identifiesCaller:time:where:)`` with a closure in place of the signer.
    ///
    /// - Parameters:
    ///   - origins: the origins whose requests are signed; `nil`, the default, for the origin of the client's base URL.
    ///   - identifiesCaller: whether the key identifies a user: see the other method.
    ///   - time: its wall clock dates the signatures.
    ///   - sign: adds the signature to a request, at the given time.
    public static func sign(
        origins: Set<Origin>? = nil,
        identifiesCaller: Bool = true,
        time: TimeSource = .system,
        with sign: @escaping @Sendable (inout HTTPRequest, Date) async throws -> Void
    ) -> Self {
        Self.sign(RequestSigner(sign), origins: origins, identifiesCaller: identifiesCaller, time: time)
    }
}
