public import Foundation

/// Adds to a request what proves who made it: a field or a query parameter that depends on all the rest of it.
///
/// Ready-made are ``HTTPMessageSignature`` (RFC 9421, with HMAC-SHA256) and ``AWSSignatureV4``; a server's own way is a
/// closure.
public protocol RequestSigner: Sendable {
    /// Adds the signature to a request that nobody changes afterwards.
    ///
    /// What it throws the caller gets, and nothing is sent.
    ///
    /// - Parameters:
    ///   - request: the request; ``HTTPBody/sha256()`` gives the digest of a body that can be restarted.
    ///   - date: the moment of signing.
    func sign(_ request: inout HTTPRequest, at date: Date) async throws
}

/// Signs requests on their way out, to chosen origins only.
///
/// ```swift
/// let key = SigningKey(Data(base64Encoded: secret)!)
/// let interceptors: [any Interceptor] = [
///     .followRedirects(),
///     .retry(…),
///     .compressRequest(),
///     .sign(.hmacSHA256(key, keyID: "shop-app")),                    // RFC 9421
///     // or .sign(.awsV4(region: "eu-central-1", service: "s3", credentials: credentials))
///     // or .sign { request, date in
///     //        let digest = try await request.body.sha256()
///     //        request.headerFields["X-Digest"] = digest.base64EncodedString()
///     //        request.headerFields["X-Signature"] = try key.hmacSHA256(digest).base64EncodedString()
///     //    }
/// ]
/// ```
/// ## Its place
/// Innermost but for what only looks on, such as `logging`: what it signs must be what is sent. So inside of `headers`,
/// `cookies`, `tracing` and `compressRequest`; and inside of `retry` and `followRedirects`, so that each attempt is signed
/// with its own time and each hop by its own URL. What stands outside and answers several requests with one response,
/// `cache` or `coalesce`, can't see by whose key a request is signed: name a partition (``HTTPContext/cachePartition``), say
/// `identifiesCaller: false` for a key of the program itself, or the request fails with a ``ChainOrderError``.
///
/// A request to another origin passes unsigned. One that should be signed and can't be is not sent.
public struct SignInterceptor: Interceptor {
    private let signer: any RequestSigner
    private let origins: Set<Origin>?
    private let identifiesCaller: Bool
    private let isSigned: @Sendable (HTTPRequest) -> Bool
    private let now: @Sendable () -> Date

    /// A signing interceptor.
    ///
    /// - Parameters:
    ///   - signer: what signs.
    ///   - origins: whose requests are signed; `nil` for the origin of the base URL of the client that sends a request.
    ///   - identifiesCaller: whether the key tells users apart, so that no cache or `coalesce` outside may answer several of
    ///     them with one response; `false` for a key of the program itself.
    ///   - now: the wall clock that signatures are dated by.
    ///   - isSigned: which of the requests to these origins are signed; by default all.
    public init(
        _ signer: any RequestSigner,
        origins: Set<Origin>? = nil,
        identifiesCaller: Bool = true,
        now: @escaping @Sendable () -> Date = { Date() },
        where isSigned: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }
    ) {
        self.signer = signer
        self.origins = origins
        self.identifiesCaller = identifiesCaller
        self.isSigned = isSigned
        self.now = now
    }

    /// Signs the request, and passes it on.
    ///
    /// - Throws: ``SigningError``; ``ChainOrderError`` inside of `cache` or `coalesce`; what the signer or the rest of the
    ///   chain throws.
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        if isSigned(request), try isForRequest(request) {
            if identifiesCaller { try request.requireUnshared(by: "sign", changesEachTime: true) }
            try await signer.sign(&request, at: now())
            if !identifiesCaller { request.declareAnonymous() }
        }
        return try await next(request)
    }

    private func isForRequest(_ request: HTTPRequest) throws -> Bool {
        guard let allowed = origins ?? request.context.clientOrigin.map({ [$0] }) else {
            throw SigningError(
                .unknownOrigin,
                "It is not known which origin is to get signatures, and no other gets any. Give the Client a base URL, or"
                    + " name the origins: .sign(signer, origins: [origin]).",
                request: request
            )
        }
        return Origin(request.url).map(allowed.contains) ?? false
    }
}

/// A signer made of a closure.
public struct ClosureSigner: RequestSigner {
    private let body: @Sendable (inout HTTPRequest, Date) async throws -> Void

    /// A signer that does what the closure does.
    public init(_ body: @escaping @Sendable (inout HTTPRequest, Date) async throws -> Void) { self.body = body }

    /// Runs the closure.
    public func sign(_ request: inout HTTPRequest, at date: Date) async throws { try await body(&request, date) }
}

extension Interceptor where Self == SignInterceptor {
    // `any`, not `some`: in a generic argument the compiler takes the closure of `.awsV4(…) { … }` for one that isn't Sendable.
    /// Signs requests to chosen origins: see ``SignInterceptor``, and its initialiser for the parameters.
    public static func sign(
        _ signer: any RequestSigner,
        origins: Set<Origin>? = nil,
        identifiesCaller: Bool = true,
        now: @escaping @Sendable () -> Date = { Date() },
        where isSigned: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }
    ) -> Self {
        Self(signer, origins: origins, identifiesCaller: identifiesCaller, now: now, where: isSigned)
    }

    /// Signs requests in a way of your own: the closure adds fields or query parameters to the final request.
    public static func sign(
        origins: Set<Origin>? = nil,
        identifiesCaller: Bool = true,
        now: @escaping @Sendable () -> Date = { Date() },
        with sign: @escaping @Sendable (inout HTTPRequest, Date) async throws -> Void
    ) -> Self {
        Self(ClosureSigner(sign), origins: origins, identifiesCaller: identifiesCaller, now: now)
    }
}
