import Foundation
import InterceptorsTestSupport
import InterceptorsTraffic
import Testing

@testable import InterceptorsCore
@testable import InterceptorsMiddlewares

// The cases of the rules about identity.
extension ChainRulesTests {
    static let identity: [Case] = [
        Case(
            .credentialOutsideRenewal,
            .broken,
            wrong: [.bearerAuth(tokens), .retryOnUnauthorized(tokens)],
            right: [.retryOnUnauthorized(tokens), .bearerAuth(tokens)]
        ),
        Case(
            .credentialOutsideRenewal,
            .broken,
            wrong: [.bearerAuth(tokens), .retryOnUnauthorized(tokens), .bearerAuth(tokens)],
            right: [.retryOnUnauthorized(tokens), .bearerAuth(tokens), .bearerAuth(tokens)]
        ),
        Case(.credentialOutsideRenewal, .broken, wrong: [.cookies(), relogin], right: [relogin, .cookies()]),
        Case(
            .renewalWithoutCredential,
            .broken,
            wrong: [.retryOnUnauthorized(tokens)],
            right: [.retryOnUnauthorized(tokens), .when(.origin("https://a.example"), [.bearerAuth(tokens)])]
        ),
        Case(
            .renewalWithoutCredential,
            .broken,
            wrong: [.retryOnUnauthorized(tokens), .bearerAuth(otherTokens)],
            right: [.cookies(), .retryOnUnauthorized(tokens), .bearerAuth(tokens)]
        ),
        Case(
            .renewalWithoutCredential,
            .doubtful,
            wrong: [.retryOnUnauthorized(tokens), .intercept { request, next in try await next(request) }],
            right: [.retryOnUnauthorized(tokens), PassInterceptor()]
        ),
        Case(
            .renewalWithoutCredential,
            .note,
            wrong: [relogin, .headers { _ in [:] }],
            right: [relogin, .cookies()]
        ),
        Case(
            .renewalWithoutCredential,
            .broken,
            wrong: [.retryOnUnauthorized(tokens), .headers([.authorization: "Bearer a"])],
            right: [.retryOnUnauthorized(tokens), .bearerAuth(tokens), .headers(["X-API-Key": "k"])]
        ),
        Case(
            .renewalWithoutCredential,
            .broken,
            wrong: [.retryOnUnauthorized(tokens), personalSign],
            right: [.retryOnUnauthorized(tokens), .bearerAuth(tokens), personalSign]
        ),
        Case(
            .credentialOutsideRenewal,
            .broken,
            wrong: [.cookies(), relogin, .headers(["X-API-Key": "k"])],
            right: [relogin, .cookies(), .headers(["X-API-Key": "k"])]
        ),
        Case(
            .credentialNeverSent,
            .broken,
            wrong: [.retryOnUnauthorized(tokens), .bearerAuth("token"), .bearerAuth(tokens)],
            right: [.retryOnUnauthorized(tokens), .bearerAuth(otherTokens), .bearerAuth(tokens), .bearerAuth(tokens)]
        ),
        Case(
            .credentialNeverSent,
            .broken,
            wrong: [.headers([.authorization: "Bearer a"]), .bearerAuth(tokensOfA)],
            right: [.bearerAuth(tokensOfA), .headers([.authorization: "Bearer a"])]
        ),
        Case(
            .credentialNeverSent,
            .broken,
            wrong: [.bearerAuth(tokens), .headers(forced: [.authorization: "Bearer a"])],
            right: [.bearerAuth(tokens), .headers(forced: ["X-API-Key": "a"])]
        ),
        Case(
            .credentialNeverSent,
            .doubtful,
            wrong: [
                .when(.matching { $0.method == .get }, [.headers([.authorization: "Bearer a"])]),
                .when(.matching { $0.method != .put }, [.bearerAuth(tokens)]),
            ],
            right: [.when(.origin("https://a.example"), [.headers([.authorization: "a"])]), .bearerAuth(otherTokens)]
        ),
        // A token that is never sent, because its origin isn't that of the part.
        Case(
            .renewalWithoutCredential,
            .broken,
            wrong: [.retryOnUnauthorized(tokensOfA), .when(.origin("https://b.example"), [.bearerAuth(tokensOfA)])],
            right: [.retryOnUnauthorized(tokensOfA), .when(.origin("https://a.example"), [.bearerAuth(tokensOfA)])]
        ),
        Case(
            .renewalWithoutCredential,
            .doubtful,
            wrong: [.retryOnUnauthorized(tokens), PassInterceptor(), .bearerAuth("token")],
            right: [.retryOnUnauthorized(tokens), PassInterceptor(), .bearerAuth(otherTokens)]
        ),
        Case(
            .credentialNeverSent,
            .doubtful,
            wrong: [.bearerAuth(tokens), .bearerAuth("token")],
            right: [
                .when(.origin("https://a.example"), [.bearerAuth(tokens)]),
                .when(.origin("https://b.example"), [.bearerAuth("token")]),
            ]
        ),
        Case(
            .credentialSentToOtherHost,
            .broken,
            wrong: [.followRedirects(), .headers(["X-API-Key": "k"])],
            right: [.followRedirects(), .when(.origin("https://a.example"), [.headers(["X-API-Key": "k"])])]
        ),
        Case(
            .credentialSentToOtherHost,
            .broken,
            wrong: [.followRedirects(), .headers(forced: [.authorization: "Bearer k"])],
            right: [.followRedirects(), .bearerAuth("k"), .headers([.accept: "*/*"])]
        ),
        Case(
            .credentialSentToOtherHost,
            .doubtful,
            wrong: [.followRedirects(), .when(.matching { $0.method == .get }, [.headers(["X-API-Key": "k"])])],
            right: [.headers(["X-API-Key": "k"]), .followRedirects()]
        ),
        Case(
            .credentialSentToOtherHost,
            .broken,
            wrong: [PassInterceptor(), .followRedirects()],
            right: [PassInterceptor(), .followRedirects(redaction: .standard.adding(names: ["X-Door"]))]
        ),
        Case(
            .credentialInsideSharing,
            .broken,
            wrong: [.partition(by: tokens), .cache(.memory()), .bearerAuth(tokens), .bearerAuth(otherTokens)],
            right: [
                .when(.origin("https://a.example"), [.partition(by: tokens)]),
                .when(.origin("https://b.example"), [.partition(by: otherTokens)]),
                .cache(.memory()), .bearerAuth(tokens), .bearerAuth(otherTokens),
            ]
        ),
        Case(
            .credentialInsideSharing,
            .broken,
            wrong: [.partition(by: tokens), .bearerAuth(tokens), .bearerAuth(otherTokens), .cache(.memory())],
            right: [.bearerAuth(tokens), .bearerAuth(otherTokens), .cache(.memory())]
        ),
        Case(
            .credentialInsideSharing,
            .broken,
            wrong: [
                .when(.origin("https://a.example"), [.partition(by: tokens)]), .cache(.memory()),
                .bearerAuth(tokens), .bearerAuth(otherTokens),
            ],
            right: [
                .when(.origin("https://a.example"), [.partition(by: tokens)]), .cache(.memory()),
                .bearerAuth(tokens), .when(.origin("https://a.example"), [.cookies()]),
            ]
        ),
        Case(
            .credentialInsideSharing,
            .doubtful,
            wrong: [
                .when(.matching { $0.method == .get }, [.partition(by: otherTokens)]), .bearerAuth(tokens),
                .cache(.memory()),
            ],
            right: [
                .partition(by: tokens), .when(.matching { $0.method == .get }, [.partition(by: otherTokens)]),
                .bearerAuth(tokens), .cache(.memory()),
            ]
        ),
        // A partition for some requests only.
        Case(
            .credentialInsideSharing,
            .broken,
            wrong: [
                .when(.matching { $0.method == .put }, [.partition(by: tokens)]), .cache(.memory()),
                .bearerAuth(tokens),
            ],
            right: [
                .when(
                    .matching { $0.method == .put },
                    [.partition(by: tokens), .cache(.memory()), .bearerAuth(tokens)]
                )
            ]
        ),
        Case(
            .credentialInsideSharing,
            .broken,
            wrong: [
                .when(.origin("https://b.example"), [.partition(by: tokensOfA)]), .coalesce(), .bearerAuth(tokensOfA),
            ],
            right: [
                .when(.origin("https://a.example"), [.partition(by: tokensOfA)]), .coalesce(), .bearerAuth(tokensOfA),
            ]
        ),
        Case(
            .signatureOutsideSharing,
            .doubtful,
            wrong: [personalSign, .cache(.memory())],
            right: [.partition(by: tokens), .cache(.memory()), personalSign]
        ),
        Case(.signatureOutsideSharing, .doubtful, wrong: [sign, .cache(.memory())], right: [sign, .coalesce()]),
        Case(.signatureOutsideSharing, .doubtful, wrong: [digest, .coalesce()], right: [.coalesce(), sign]),
        Case(
            .credentialInsideSharing,
            .broken,
            wrong: [.cache(.memory()), .bearerAuth(tokens)],
            right: [.partition(by: tokens), .cache(.memory()), .bearerAuth(tokens)]
        ),
        Case(.credentialInsideSharing, .broken, wrong: [.coalesce(), .cookies()], right: [.cookies(), .coalesce()]),
        Case(.credentialInsideSharing, .broken, wrong: [.coalesce(), digest], right: [digest, .coalesce()]),
        Case(.credentialInsideSharing, .broken, wrong: [.coalesce(), personalSign], right: [.coalesce(), sign]),
        Case(
            .credentialInsideSharing,
            .broken,
            wrong: [.cache(.memory()), .headers(["X-API-Key": "k"])],
            right: [.cache(.memory()), .headers(["Accept": "k"])]
        ),
        Case(
            .credentialInsideSharing,
            .doubtful,
            wrong: [.intercept { request, next in try await next(request) }, .cache(.memory()), .cookies()],
            right: [.intercept { request, next in try await next(request) }, .cookies(), .cache(.memory())]
        ),
        Case(
            .cookiesOutsideRedirects,
            .broken,
            wrong: [.cookies(), .followRedirects()],
            right: [.followRedirects(), .cookies()]
        ),
        Case(
            .credentialOutsideRedirects,
            .doubtful,
            wrong: [.bearerAuth("token"), .followRedirects()],
            right: [.followRedirects(), .bearerAuth("token")]
        ),
        Case(
            .credentialOutsideRedirects,
            .note,
            wrong: [
                .when(.origin("https://a.example"), [.bearerAuth("token")]),
                .when(.origin("https://b.example"), [.followRedirects()]),
            ],
            right: [.followRedirects(), .when(.origin("https://a.example"), [.bearerAuth("token")])]
        ),
        Case(
            .rejectedTokenRetried,
            .doubtful,
            wrong: [.retryOnUnauthorized(tokens), .bearerAuth(tokens), .retry(maxAttempts: 3, when: .status(401))],
            right: [.retryOnUnauthorized(tokens), .bearerAuth(tokens), .retry(maxAttempts: 3)]
        ),
        Case(
            .contentChangedAfterSigning,
            .broken,
            wrong: [sign, .compressRequest()],
            right: [.compressRequest(), sign]
        ),
        Case(.fieldsChangedAfterSigning, .doubtful, wrong: [sign, .transactionID()], right: [.transactionID(), sign]),
        Case(.fieldsChangedAfterSigning, .doubtful, wrong: [sign, .tracing()], right: [.tracing(), sign]),
        Case(.fieldsChangedAfterSigning, .doubtful, wrong: [sign, .headers([:])], right: [.headers([:]), sign]),
        Case(.fieldsChangedAfterSigning, .doubtful, wrong: [sign, .cookies()], right: [.cookies(), sign]),
        Case(.resentWithOldSignature, .doubtful, wrong: [sign, .retry()], right: [.retry(), sign]),
        Case(
            .resentWithOldSignature,
            .doubtful,
            wrong: [sign, .followRedirects()],
            right: [.followRedirects(), sign]
        ),
        Case(.placement, .doubtful, wrong: [sign, FieldsInterceptor()], right: [FieldsInterceptor(), sign]),
        Case(.placement, .doubtful, wrong: [digest, .compressRequest()], right: [.compressRequest(), digest]),
    ]
}
