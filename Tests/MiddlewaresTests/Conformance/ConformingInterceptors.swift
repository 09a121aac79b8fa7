import Foundation
import Interceptors
import InterceptorsAuthentication
import InterceptorsTesting
import InterceptorsTraffic
import Testing

/// An interceptor of this package with plausible settings, for the rules of its roles.
struct ConformingInterceptor: Sendable, CustomTestStringConvertible {
    typealias Make = @Sendable (_ world: InterceptorConformance.World, _ scratch: URL) -> AnyInterceptor

    let testDescription: String
    /// The content that the interceptor understands, if not any.
    var content: HTTPBody?
    /// The names of the rules that the settings break by intent.
    var exceptions: Set<String> = []
    let make: Make

    init(_ name: String, content: HTTPBody? = nil, except exceptions: Set<String> = [], _ make: @escaping Make) {
        testDescription = name
        self.content = content
        self.exceptions = exceptions
        self.make = make
    }

    static let all = identity + resilience + traffic + content + observation + groups
}

extension ConformingInterceptor {
    /// The rules that want the server's response. A fault returns another response, or none.
    private static let brokenByFaults: Set<String> = [
        "aCallMayRunInsideAnother", "everyStatusComesBack", "fieldsKeepTheirOrder", "theContentComesBack",
        "theContextOfAResponseComesBack", "theResponseComesBack", "worksTwiceInAChain",
    ]
    private static let brokenByAnswers = brokenByFaults.union([
        "aThousandCallsGetTheirOwnResponses", "theFirstByteIsNotDelayed",
    ])
    /// The rules that want any response with its whole content.
    private static let brokenByTruncation = brokenByFaults.union([
        "aBufferedResponseStaysBuffered", "aRequestsStreamStaysAStream", "contentLengthAgrees",
        "taskLocalsReachTheRest", "theContextOfARequestGoesOn", "theEndOfAStreamArrives", "theRequestGoesOnUnchanged",
    ])

    private static func tokens(_ world: InterceptorConformance.World) -> TokenStore {
        let token = TokenStore.Token(world.secret, account: "ada")
        return TokenStore(token, origins: [world.origin], time: world.time) { _ in token }
    }

    static let identity: [Self] = [
        Self("bearerAuth(tokens)") { world, _ in .bearerAuth(tokens(world)) },
        Self("bearerAuth(token)") { world, _ in .bearerAuth(world.secret, for: world.origin) },
        Self("bearerAuth(closure)") { world, _ in .bearerAuth(for: world.origin) { world.secret } },
        Self("retryOnUnauthorized(tokens)") { world, _ in .retryOnUnauthorized(tokens(world)) },
        Self("retryOnUnauthorized(logIn)") { world, _ in
            .retryOnUnauthorized(origins: [world.origin], time: world.time) {}
        },
        Self("partition") { world, _ in .partition(by: tokens(world)) },
        Self("cookies") { world, _ in .cookies(CookieJar(time: world.time)) },
        Self("httpAuth") { world, _ in
            .httpAuth(origins: [world.origin], time: world.time) { _, _ in
                PasswordCredential(username: "ada", password: world.secret)
            }
        },
        Self("basicAuth") { world, _ in .basicAuth(username: "ada", password: world.secret, origins: [world.origin]) },
        Self("basicAuth(atOnce)") { world, _ in
            .basicAuth(username: "ada", password: world.secret, origins: [world.origin], atOnce: true)
        },
        Self("digestAuth") { world, _ in
            .digestAuth(username: "ada", password: world.secret, origins: [world.origin], time: world.time)
        },
        Self("sign") { world, _ in
            .sign(origins: [world.origin], time: world.time) { request, _ in
                request.headers["X-Signature"] = "\(request.url.path.count)"
            }
        },
    ]

    static let resilience: [Self] = [
        Self("retry") { world, _ in .retry(.exponential(maxAttempts: 3), time: world.time) },
        Self("retry with keys") { world, _ in .retry(maxAttempts: 3, budget: RetryBudget(), time: world.time) { "key" }
        },
        Self("timeout") { world, _ in .timeout(.seconds(600), time: world.time) },
        Self("hedge") { world, _ in .hedge(after: .milliseconds(300), time: world.time) },
        Self("circuitBreaker") { world, _ in .circuitBreaker(time: world.time) },
        Self("faults, switched off") { world, _ in
            .faults(.reset, .latency(.seconds(1)), time: world.time) { false }
        },
        Self("faults that wait", except: ["noWaitOutlastsTheDeadline"]) { world, _ in
            .faults(.latency(.seconds(1)), time: world.time)
        },
        Self("faults that answer", except: brokenByAnswers) { world, _ in .faults(.status(503), time: world.time) },
        Self("faults that truncate", except: brokenByTruncation) { world, _ in
            .faults(.truncation, time: world.time)
        },
        Self("waitForNetwork") { world, _ in
            .waitForNetwork(upTo: .seconds(1), monitor: NetworkPathMonitor(.satisfied), time: world.time)
        },
        Self("waitForNetwork without a network") { world, _ in
            .waitForNetwork(upTo: .seconds(1), monitor: NetworkPathMonitor(.unsatisfied), time: world.time)
        },
        Self("cache in memory") { world, _ in .cache(.memory(), time: world.time) },
        Self("cache on disk") { world, folder in .cache(.disk(at: folder), time: world.time) },
    ]

    static let traffic: [Self] = [
        Self("rateLimit") { world, _ in .rateLimit(20, per: .seconds(1), time: world.time) },
        Self("limitConcurrency") { _, _ in .limitConcurrency(8, perHost: 6) },
        Self("coalesce") { _, _ in .coalesce() },
        Self("cancelPrevious") { world, _ in .cancelPrevious(time: world.time) },
    ]

    static let content: [Self] = [
        Self("validateStatus") { _, _ in .validateStatus() },
        Self("validateStatus(codes)") { _, _ in .validateStatus([200, 404]) },
        Self("unwrapEnvelope", content: #"{"code":0,"message":"","object":{"id":42}}"#) { _, _ in
            .unwrapEnvelope(payload: "object", success: .codes(0))
        },
        Self("unwrapEnvelope(keepsEnvelope)", content: #"{"code":0,"message":"","object":{"id":42}}"#) { _, _ in
            .unwrapEnvelope(payload: "object", success: .codes(0), keepsEnvelope: true)
        },
        Self("followRedirects") { _, _ in .followRedirects() },
        Self("headers") { _, _ in .headers([.acceptLanguage: "de"], forced: ["X-Client": "tests"]) },
        Self("headers(closure)") { _, _ in .headers { _ in [.acceptLanguage: "de"] } },
        Self("compressRequest") { _, _ in .compressRequest() },
    ]

    static let observation: [Self] = [
        Self("logging(basic)") { world, _ in .logging(.basic, to: LogSink { _ in }, time: world.time) },
        Self("logging(body)") { world, _ in .logging(.body, to: LogSink { _ in }, curl: true, time: world.time) },
        Self("metrics") { world, _ in .metrics(time: world.time) { _ in } },
        Self("tracing") { world, _ in .tracing(time: world.time) },
        Self("transactionID") { _, _ in .transactionID() },
    ]

    static let groups: [Self] = [
        Self("intercept") { _, _ in .intercept { try await $1($0) } },
        Self("group") { _, _ in .group([.headers(forced: [:])]) },
        Self("when") { world, _ in .when(.origin(world.origin), [.headers(forced: [:])]) },
    ]
}
