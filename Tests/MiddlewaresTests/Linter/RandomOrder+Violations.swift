import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTraffic

@testable import InterceptorsCore
@testable import InterceptorsMiddlewares

extension RandomOrder {
    /// The harm that calls through a chain must not do.
    enum Violation: String, Comparable, CaseIterable {
        /// One account got the response of another.
        case leak
        /// A request was refused because of the order.
        case refusal
        /// An expired token was not renewed.
        case expiry
        /// The server found that the signature doesn't cover the content.
        case content
        /// A redirect wasn't followed, or its cookie wasn't sent.
        case redirect
        /// The log shows a secret.
        case log
        /// A redirect carried a credential to another origin.
        case sent
        /// The server found that the signature doesn't cover a field, the URL or the attempt.
        case signature
        /// A failing call was sent more often than one retry does.
        case attempts
        /// A call sent a rejected token again.
        case rejectedToken
        /// An error that may be stored was asked for again.
        case storing
        /// More requests ran at a time than the limit allows.
        case limit
        /// After a redirect to the other origin, its credential was missing.
        case hop

        /// Whether only a broken chain may violate the property.
        var needsBroken: Bool { self <= .sent }

        /// The rules that explain a violation: each is about an order that leads to it.
        var rules: Set<ChainRule> {
            switch self {
            case .leak: [.credentialInsideSharing]
            case .refusal: [.credentialInsideSharing, .credentialOutsideRenewal]
            case .expiry: [.credentialOutsideRenewal, .renewalWithoutCredential, .credentialNeverSent]
            case .content: [.contentChangedAfterSigning]
            case .redirect: [.cookiesOutsideRedirects, .statusJudgedTooEarly]
            case .log: [.secretInLog]
            case .sent: [.credentialSentToOtherHost]
            case .signature: [.fieldsChangedAfterSigning, .contentChangedAfterSigning, .resentWithOldSignature]
            case .attempts: [.retryInsideRetry]
            // Otherwise nothing renews the token, and a retry repeats the 401.
            case .rejectedToken: Self.expiry.rules.union([.rejectedTokenRetried])
            case .storing: [.statusJudgedInsideCache, .signatureOutsideSharing]
            case .limit: [.limitOutsideHedge]
            case .hop: [.credentialOutsideRedirects, .statusJudgedTooEarly]
            }
        }

        static func < (left: Self, right: Self) -> Bool {
            (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
        }
    }

    /// Makes some calls for two accounts of each origin, and returns the violated properties.
    func violations() async throws -> Set<Violation> {
        let calls = OrderCalls(Client(interceptors: interceptors, transport: server))
        // One origin's account changes while the other's stays.
        for accounts in [("ada", "carl"), ("ada", "dora"), ("bob", "dora")] {
            if accounts == ("ada", "dora") { otherTokens.signIn(.init("dora-old", account: "dora")) }
            if accounts == ("bob", "dora") { tokens.signIn(.init("bob-old", account: "bob")) }
            await callForPage(calls, of: accounts.0, at: apiOrigin, .renewal, .bearer)
            await callForPage(calls, of: accounts.1, at: OrderServer.otherOrigin, .otherRenewal, .otherBearer)
        }
        await calls.send("upload", .put, body: HTTPBody(Data(repeating: 0x20, count: 4_096)))
        if has(.redirects), has(.cookies), let status = await calls.send("login"), status != 200 {
            calls.add(.redirect)
        }
        let misses = server.count("missing")
        for _ in 0..<2 { await calls.send("missing") }
        if has(.cache), server.count("missing") - misses > 1 { calls.add(.storing) }
        await calls.send("fail")
        if server.count("fail") > (has(.retry) ? 3 : 1) { calls.add(.attempts) }
        let status = await calls.send("moved")
        if let status, status != 200, has(.redirects), has(.otherBearer, for: OrderServer.otherOrigin) {
            calls.add(.hop)
        }
        if has(.hedge) {
            try await server.hedgeClock.run { _ = await calls.send("slow") }
            if has(.limit), server.mostRunning > 1 { calls.add(.limit) }
        }
        if log.all.contains(where: { $0.contains("open-sesame") }) { calls.add(.log) }
        return calls.violations.union(server.violations)
    }

    private func callForPage(
        _ calls: OrderCalls,
        of account: String,
        at origin: Origin,
        _ renewal: Kind,
        _ bearer: Kind
    ) async {
        let rejections = server.rejections
        let answer = await calls.response("page", at: origin)
        let isRepeated = server.rejections.contains { $0.value - (rejections[$0.key] ?? 0) > 1 }
        if has(renewal, for: origin), isRepeated { calls.add(.rejectedToken) }
        guard let response = answer else { return }
        let owner = response.headers["X-Account"]
        if has(renewal, for: origin), response.status == 401 { calls.add(.expiry) }
        guard has(bearer, for: origin) else { return }
        if let owner, owner != "anyone", owner != account { calls.add(.leak) }
        if owner == nil, response.status == 200 { calls.add(.leak) }
    }
}

/// Calls through a client, and the properties that they violate.
private final class OrderCalls: Sendable {
    private let client: Client
    private let found = Shared<Set<RandomOrder.Violation>>([])

    init(_ client: Client) { self.client = client }

    var violations: Set<RandomOrder.Violation> { found.value }

    func add(_ violation: RandomOrder.Violation) { found.change { _ = $0.insert(violation) } }

    /// The response, also of a `StatusError`; `nil` if the chain refused the request.
    func response(
        _ path: String,
        _ method: HTTPRequest.Method = .get,
        body: HTTPBody = .empty,
        at origin: Origin = apiOrigin
    ) async -> HTTPResponse? {
        let url = URL(string: "https://\(origin.host)/\(path)")!
        do {
            return try await client.send(HTTPRequest(method: method, url: url, body: body))
        } catch let error as StatusError {
            return error.response
        } catch {
            add(.refusal)
            return nil
        }
    }

    @discardableResult
    func send(
        _ path: String,
        _ method: HTTPRequest.Method = .get,
        body: HTTPBody = .empty
    ) async -> HTTPResponse.Status? {
        await response(path, method, body: body)?.status
    }
}
