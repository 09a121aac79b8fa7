import Foundation
import InterceptorsAuthentication
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTraffic

@testable import InterceptorsCore
@testable import InterceptorsMiddlewares

/// Interceptors in random order, some of them in parts and groups, in front of a server with two origins and two accounts.
struct RandomOrder {
    enum Kind: CaseIterable {
        case status, headers, transactionID, timeout, tracing, compress, redirects, cookies, renewal, bearer, partition
        case coalesce, cache, retry, retryOf401, rate, limit, circuit, sign, door, logging, metrics
        case hedge, closure, apiKey, oldToken
        /// For the tokens of the other origin.
        case otherRenewal, otherBearer, otherPartition
    }

    /// The requests that pass a part of the chain.
    enum Condition: CaseIterable {
        case api, other, gets, puts, all

        var requests: RequestCondition {
            switch self {
            case .api: .origin(apiOrigin)
            case .other: .origin(OrderServer.otherOrigin)
            case .gets: .matching { $0.method == .get }
            case .puts: .matching { $0.method == .put }
            case .all: .matching { _ in true }
            }
        }

        func isMet(by origin: Origin, _ method: HTTPRequest.Method) -> Bool {
            switch self {
            case .api: origin == apiOrigin
            case .other: origin == OrderServer.otherOrigin
            case .gets: method == .get
            case .puts: method == .put
            case .all: true
            }
        }
    }

    /// An interceptor, or a part of the chain.
    indirect enum Node: CustomStringConvertible {
        case element(Kind)
        /// Without a condition, a group.
        case part(Condition?, [Node])

        var description: String {
            switch self {
            case .element(let kind): "\(kind)"
            case .part(nil, let nodes): "group\(nodes)"
            case .part(let condition?, let nodes): "when(\(condition))\(nodes)"
            }
        }

        var hasDoubt: Bool {
            switch self {
            case .element(let kind): kind == .closure
            case .part(let condition, let nodes): condition != nil || nodes.contains(where: \.hasDoubt)
            }
        }

        func has(_ kind: Kind, for origin: Origin, _ method: HTTPRequest.Method) -> Bool {
            switch self {
            case .element(let own): own == kind
            case .part(let condition, let nodes):
                condition?.isMet(by: origin, method) ?? true && nodes.contains { $0.has(kind, for: origin, method) }
            }
        }
    }

    let nodes: [Node]
    let server = OrderServer()
    let tokens = Self.makeStore("ada", apiOrigin)
    let otherTokens = Self.makeStore("carl", OrderServer.otherOrigin)
    let log = Notes<String>()
    private let jar = CookieJar()
    private let clock = ManualClock()
    private(set) var interceptors: [any Interceptor] = []

    init(_ random: inout SeededGenerator) {
        var kinds = (0..<Int.random(in: 1...8, using: &random)).map { _ in Kind.allCases.randomElement(using: &random)!
        }
        // Half of the chains have both parts of the sign-in, in either order.
        if Bool.random(using: &random) { kinds += [.renewal, .bearer] }
        if Bool.random(using: &random) { kinds += [.redirects, .cookies] }
        if Int.random(in: 0..<4, using: &random) == 0 { kinds += [.otherRenewal, .otherBearer] }
        kinds.shuffle(using: &random)
        var nodes = kinds.map(Node.element)
        while Int.random(in: 0..<3, using: &random) == 0 {
            let (one, other) = (
                Int.random(in: nodes.indices, using: &random), Int.random(in: nodes.indices, using: &random)
            )
            let range = min(one, other)...max(one, other)
            let condition =
                Int.random(in: 0..<4, using: &random) == 0 ? nil : Condition.allCases.randomElement(using: &random)
            nodes.replaceSubrange(range, with: [.part(condition, Array(nodes[range]))])
        }
        self.nodes = nodes
        interceptors = nodes.map { interceptor($0, isOfOther: false) }
    }

    private static func makeStore(_ account: String, _ origin: Origin) -> TokenStore {
        let old = TokenStore.Token("\(account)-old", account: account)
        return TokenStore(old, origins: [origin], options: .init(pause: .zero)) { rejected in
            .init("\(rejected?.account ?? "nobody")-new", account: rejected?.account)
        }
    }

    /// Whether the properties of a chain without conditions and closures may not all be known.
    var hasDoubt: Bool { nodes.contains(where: \.hasDoubt) }

    /// Whether requests pass an interceptor.
    func has(_ kind: Kind, for origin: Origin = apiOrigin, _ method: HTTPRequest.Method = .get) -> Bool {
        nodes.contains { $0.has(kind, for: origin, method) }
    }

    /// - Parameter isOfOther: whether the node is in a part for the other origin.
    private func interceptor(_ node: Node, isOfOther: Bool) -> any Interceptor {
        switch node {
        case .element(.apiKey): AnyInterceptor.headers(["X-API-Key": isOfOther ? "of other" : "sesame"])
        case .element(let kind): identity(kind) ?? interceptor(kind)
        case .part(let condition, let nodes):
            Self.part(condition, nodes.map { interceptor($0, isOfOther: isOfOther || condition == .other) })
        }
    }

    private static func part(_ condition: Condition?, _ interceptors: [any Interceptor]) -> AnyInterceptor {
        condition.map { .when($0.requests, interceptors) } ?? .group(interceptors)
    }

    private func interceptor(_ kind: Kind) -> AnyInterceptor {
        switch kind {
        case .status: .validateStatus()
        case .headers: .headers(["X-Client": "random"])
        case .transactionID: .transactionID()
        case .timeout: .timeout(.seconds(3_600), time: .manual(clock))
        case .tracing: .tracing()
        case .compress: .compressRequest()
        case .redirects: .followRedirects()
        case .coalesce: .coalesce()
        case .cache: .cache(.memory(), time: .manual(clock))
        case .retry: .retry(.constant(.zero, maxAttempts: 3), time: .manual(clock))
        case .retryOf401: .retry(.constant(.zero, maxAttempts: 3), when: .status(401), time: .manual(clock))
        case .rate: .rateLimit(1_000, per: .seconds(86_400), time: .manual(clock))
        case .limit: .limitConcurrency(1)
        case .circuit: .circuitBreaker(.consecutiveFailures(100), time: .manual(clock))
        case .hedge: .hedge(after: .seconds(1), time: .manual(server.hedgeClock))
        case .logging: .logging(.headers, to: LogSink { [log] in log.add($0.text) })
        case .metrics: .metrics { _ in }
        default: .intercept { request, next in try await next(request) }
        }
    }

    private func identity(_ kind: Kind) -> AnyInterceptor? {
        switch kind {
        case .cookies: .cookies(jar)
        case .renewal: .retryOnUnauthorized(tokens)
        case .bearer: .bearerAuth(tokens)
        case .partition: .partition(by: tokens)
        case .otherRenewal: .retryOnUnauthorized(otherTokens)
        case .otherBearer: .bearerAuth(otherTokens)
        case .otherPartition: .partition(by: otherTokens)
        case .sign:
            .sign(origins: [apiOrigin], identifiesCaller: false) { [server] request, _ in
                try await server.sign(&request)
            }
        case .door: AnyInterceptor(DoorInterceptor())
        case .oldToken: .bearerAuth("ada-old", for: apiOrigin)
        default: nil
        }
    }

    /// Adds a credential in a field that no redaction knows.
    private struct DoorInterceptor: PlacedInterceptor {
        var placement: [ChainRole] { [.addsCredentials(in: "X-Door")] }

        func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
            try request.identifyCaller(by: "door", as: "door")
            if Origin(request.url) == apiOrigin { request.headers["X-Door"] = "open-sesame" }
            return try await next(request)
        }
    }
}
