import Foundation
import InterceptorsTestSupport
import InterceptorsTraffic
import Testing

@testable import InterceptorsCore
@testable import InterceptorsMiddlewares

// The cases of the rules about repeated exchanges, limits and time.
extension ChainRulesTests {
    static let resending: [Case] = [
        Case(.retryInsideRetry, .doubtful, wrong: [.retry(), .group([.retry()])], right: [.retry()]),
        Case(
            .retryInsideRetry,
            .doubtful,
            wrong: [.retry(maxAttempts: 3, when: .code(.connectionLost)), .retry(maxAttempts: 3)],
            right: [.retry(maxAttempts: 3)]
        ),
        Case(
            .retryInsideRetry,
            .note,
            wrong: [.retry(maxAttempts: 3, when: .status(409)), .retry(maxAttempts: 3)],
            right: [.retry(maxAttempts: 3, when: .temporaryFailure || .status(409))]
        ),
        Case(
            .retryInsideRetry,
            .note,
            wrong: [.retry(maxAttempts: 3, when: .error(CancellationError.self)), .retry(maxAttempts: 3)],
            right: [.retry(maxAttempts: 3)]
        ),
        Case(
            .retryInsideRetry,
            .note,
            wrong: [
                .when(.matching { $0.method == .get }, [.retry(maxAttempts: 5)]),
                .when(.matching { $0.method == .post }, [.retry(maxAttempts: 2)]),
            ],
            right: [.when(.matching { $0.method == .get }, [.retry(maxAttempts: 5)])]
        ),
        Case(
            .breakerOutsideRetry,
            .doubtful,
            wrong: [.circuitBreaker(), .retry()],
            right: [.retry(), .circuitBreaker()]
        ),
        Case(
            .breakerOpenedByOneCall,
            .doubtful,
            wrong: [.retry(maxAttempts: 3), .circuitBreaker(.consecutiveFailures(3))],
            right: [.retry(maxAttempts: 3), .circuitBreaker()]
        ),
        Case(
            .breakerOpenedByOneCall,
            .doubtful,
            wrong: [.retry(maxAttempts: 5), .circuitBreaker()],
            right: [.retry(maxAttempts: 5), .circuitBreaker(.failureRate(0.5, within: minute))]
        ),
        Case(
            .hedgeInsideHedge,
            .doubtful,
            wrong: [.hedge(after: minute), .group([.hedge(after: minute)])],
            right: [.hedge(after: minute)]
        ),
        Case(
            .hedgeOutsideRetry,
            .doubtful,
            wrong: [.hedge(after: minute), .retry()],
            right: [.retry(), .hedge(after: minute)]
        ),
        Case(
            .limitOutsideRetry,
            .doubtful,
            wrong: [.rateLimit(1, per: minute), .retry()],
            right: [.retry(), .rateLimit(1, per: minute)]
        ),
        Case(
            .limitOutsideRetry,
            .doubtful,
            wrong: [.limitConcurrency(1), .retry()],
            right: [.retry(), .limitConcurrency(1)]
        ),
        Case(
            .limitOutsideHedge,
            .doubtful,
            wrong: [.limitConcurrency(1), .hedge(after: minute)],
            right: [.hedge(after: minute), .limitConcurrency(1)]
        ),
        Case(
            .limitOutsideCache,
            .doubtful,
            wrong: [.rateLimit(1, per: minute), .cache(.memory())],
            right: [.cache(.memory()), .rateLimit(1, per: minute)]
        ),
        Case(
            .limitOutsideCache,
            .doubtful,
            wrong: [.circuitBreaker(), .cache(.memory())],
            right: [.cache(.memory()), .circuitBreaker()]
        ),
        Case(
            .limitOutsideCoalescing,
            .doubtful,
            wrong: [.limitConcurrency(1), .coalesce()],
            right: [.coalesce(), .limitConcurrency(1)]
        ),
        Case(
            .limitOutsideCoalescing,
            .doubtful,
            wrong: [.circuitBreaker(), .coalesce()],
            right: [.coalesce(), .circuitBreaker()]
        ),
        Case(
            .permitHeldDuringRenewal,
            .doubtful,
            wrong: [.limitConcurrency(1), .retryOnUnauthorized(tokens), .bearerAuth(tokens)],
            right: [.retryOnUnauthorized(tokens), .bearerAuth(tokens), .limitConcurrency(1)]
        ),
        Case(
            .permitHeldDuringRenewal,
            .doubtful,
            wrong: [.limitConcurrency(1), .bearerAuth(tokens)],
            right: [.limitConcurrency(1), .bearerAuth("token")]
        ),
        Case(
            .timeoutNeverActs,
            .doubtful,
            wrong: [.timeout(.seconds(10)), .retry(), .timeout(.seconds(30))],
            right: [.timeout(.seconds(30)), .retry(), .timeout(.seconds(10))]
        ),
        Case(
            .timeoutNeverActs,
            .doubtful,
            wrong: [.timeout(.seconds(10)), .timeout(.seconds(10))],
            right: [.timeout(.seconds(30)), .validateStatus(), .timeout(.seconds(10))]
        ),
    ]
}
