import Foundation
import InterceptorsTestSupport
import InterceptorsTraffic
import Testing

@testable import InterceptorsCore
@testable import InterceptorsMiddlewares

// The cases of the rules about responses, logs and settings.
extension ChainRulesTests {
    static let responses: [Case] = [
        Case(
            .unwrappedTwice,
            .doubtful,
            wrong: [.unwrapEnvelope(payload: "a"), .unwrapEnvelope(payload: "b")],
            right: [.unwrapEnvelope(payload: "b.a")]
        ),
        Case(
            .placement,
            .doubtful,
            wrong: [.waitForNetwork(upTo: minute, monitor: NetworkPathMonitor()), .retry()],
            right: [.retry(), .waitForNetwork(upTo: minute, monitor: NetworkPathMonitor())]
        ),
        Case(
            .statusJudgedTooEarly,
            .broken,
            wrong: [.followRedirects(), .validateStatus()],
            right: [.validateStatus(), .followRedirects()]
        ),
        Case(
            .statusJudgedInsideCache,
            .doubtful,
            wrong: [.cache(.memory()), .validateStatus()],
            right: [.validateStatus(), .cache(.memory())]
        ),
        Case(
            .statusJudgedTooEarly,
            .broken,
            wrong: [.followRedirects(), .validateStatus([200, 404])],
            right: [.followRedirects(), .validateStatus(200..<400)]
        ),
        Case(
            .statusJudgedTooEarly,
            .doubtful,
            wrong: [digest, .validateStatus { $0.status.kind != .serverError }],
            right: [.validateStatus { $0.status.kind != .serverError }, digest]
        ),
        Case(
            .statusJudgedTooEarly,
            .broken,
            wrong: [digest, .validateStatus(200..<400)],
            right: [digest, .validateStatus(200..<500)]
        ),
        Case(
            .statusJudgedInsideCache,
            .doubtful,
            wrong: [.cache(.memory()), .validateStatus(200..<300)],
            right: [.cache(.memory()), .validateStatus(200..<500)]
        ),
        Case(
            .cookiesLostInError,
            .doubtful,
            wrong: [.cookies(), .validateStatus()],
            right: [.validateStatus(), .cookies()]
        ),
        Case(.statusJudgedTooEarly, .broken, wrong: [digest, .validateStatus()], right: [.validateStatus(), digest]),
        Case(
            .contentChangedInsideCache,
            .doubtful,
            wrong: [.cache(.memory()), .unwrapEnvelope(payload: "data")],
            right: [.unwrapEnvelope(payload: "data"), .cache(.memory())]
        ),
        Case(.cacheInsideCache, .doubtful, wrong: [.cache(.memory()), .cache(.memory())], right: [.cache(.memory())]),
        Case(
            .cacheOutsideRedirects,
            .doubtful,
            wrong: [.cache(.memory()), .followRedirects()],
            right: [.followRedirects(), .cache(.memory())]
        ),
        Case(
            .secretInLog,
            .broken,
            wrong: [PassInterceptor(), .logging(.headers)],
            right: [PassInterceptor(), .logging(.headers, redaction: .standard.adding(names: ["X-Door"]))]
        ),
        Case(
            .secretInLog,
            .broken,
            wrong: [
                .bearerAuth("t"), .logging(.headers, redaction: Redaction(sensitiveParts: [], sensitiveNames: [])),
            ],
            right: [.bearerAuth("t"), .logging(.headers)]
        ),
        Case(
            .secretInLog,
            .broken,
            wrong: [PassInterceptor(), .logging(curl: true)],
            right: [PassInterceptor(), .logging()]
        ),
        Case(.loggedTwice, .note, wrong: [.logging(), .logging()], right: [.logging(), .retry(), .logging()]),
        Case(.attemptsNotLogged, .note, wrong: [.logging(), .retry()], right: [.retry(), .logging()]),
        Case(.redirectsNotFollowed, .note, wrong: [.retry()], right: [.retry(), .followRedirects()]),
        Case(.noEffect, .doubtful, wrong: [.limitConcurrency()], right: [.limitConcurrency(perHost: 6)]),
    ]
}
