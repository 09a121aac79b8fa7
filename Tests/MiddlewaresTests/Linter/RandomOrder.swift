import Foundation
import TestSupport
import TransportTesting

@testable import Interceptors
@testable import Middlewares

/// Interceptors in random order, in front of a server that knows two accounts, and the properties that calls through them
/// violate.
struct RandomOrder {
    /// What calls through a chain must not do.
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
        /// The server found that the signature doesn't cover a field, the URL or the attempt.
        case signature
        /// A failing call was sent more often than one retry does.
        case attempts
        /// A rejected token was sent again.
        case rejectedToken
        /// An error that may be stored was asked for again.
        case storing

        /// Whether only a broken chain may violate the property.
        var needsBroken: Bool { self <= .log }

        static func < (left: Self, right: Self) -> Bool {
            (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
        }
    }

    enum Kind: CaseIterable {
        case status, headers, transactionID, timeout, tracing, compress, redirects, cookies, renewal, bearer, partition
        case coalesce, cache, retry, retryOf401, rate, limit, circuit, sign, door, logging, metrics
    }

    let kinds: [Kind]
    let server = OrderServer()
    let tokens: TokenStore
    private let jar: CookieJar
    private let clock = ManualClock()
    private let log = Notes<String>()
    let interceptors: [any Interceptor]

    init(_ random: inout SeededGenerator) {
        var kinds = (0..<Int.random(in: 1...8, using: &random)).map { _ in Kind.allCases.randomElement(using: &random)!
        }
        // Half of the chains have both parts of the sign-in, in either order.
        if Bool.random(using: &random) { kinds += [.renewal, .bearer] }
        if Bool.random(using: &random) { kinds += [.redirects, .cookies] }
        kinds.shuffle(using: &random)
        self.kinds = kinds
        let (server, log, clock) = (server, log, clock)
        let tokens = TokenStore(.init("ada-old", account: "ada"), origins: [apiOrigin], pause: .zero) { rejected in
            .init("\(rejected?.account ?? "nobody")-new", account: rejected?.account)
        }
        let jar = CookieJar()
        (self.tokens, self.jar) = (tokens, jar)
        interceptors = kinds.map { kind in
            switch kind {
            case .status: .validateStatus()
            case .headers: .headers(["X-Client": "random"])
            case .transactionID: .transactionID()
            case .timeout: .timeout(.seconds(3_600), time: .manual(clock))
            case .tracing: .tracing()
            case .compress: .compressRequest()
            case .redirects: .followRedirects()
            case .cookies: .cookies(jar)
            case .renewal: .retryOnUnauthorized(tokens)
            case .bearer: .bearerAuth(tokens)
            case .partition: .partition(by: tokens)
            case .coalesce: .coalesce()
            case .cache: .cache(.memory(), time: .manual(clock))
            case .retry: .retry(.constant(.zero, maxAttempts: 3), time: .manual(clock))
            case .retryOf401: .retry(.constant(.zero, maxAttempts: 3), when: .status(401), time: .manual(clock))
            case .rate: .rateLimit(1_000, per: .seconds(86_400), time: .manual(clock))
            case .limit: .limitConcurrency(4)
            case .circuit: .circuitBreaker(.consecutiveFailures(100), time: .manual(clock))
            case .sign:
                .sign(origins: [apiOrigin], identifiesCaller: false) { request, _ in try await server.sign(&request) }
            case .door: AnyInterceptor(DoorInterceptor())
            case .logging: .logging(.headers, to: LogSink { log.add($0.text) })
            case .metrics: .metrics { _ in }
            }
        }
    }

    /// Adds a credential in a field that no redaction knows.
    private struct DoorInterceptor: PlacedInterceptor {
        var placement: Placement { [.addsCredentials(in: "X-Door")] }

        func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
            try request.identifyCaller(by: "door", as: "door")
            if Origin(request.url) == apiOrigin { request.headerFields["X-Door"] = "open-sesame" }
            return try await next(request)
        }
    }

    private func has(_ kind: Kind) -> Bool { kinds.contains(kind) }

    /// Makes some calls for two accounts, and returns the violated properties.
    func violations() async -> Set<Violation> {
        var violations: Set<Violation> = []
        let client = Client(
            baseURL: URL(string: "https://api.example.com"),
            interceptors: interceptors,
            transport: server
        )
        func call(_ path: String, _ method: HTTPRequest.Method = .get, body: HTTPBody = .empty) async -> HTTPResponse? {
            do {
                return try await client.send(
                    HTTPRequest(method: method, url: URL(string: "https://api.example.com/\(path)")!, body: body)
                )
            } catch let error as StatusError {
                return error.response
            } catch {
                violations.insert(.refusal)
                return nil
            }
        }
        for account in ["ada", "bob"] {
            if account == "bob" { tokens.signIn(.init("bob-old", account: "bob")) }
            let first = await call("page")
            if has(.renewal), first?.status == 401 { violations.insert(.expiry) }
            if let owner = first?.headerFields["X-Account"], owner != "anyone", owner != account, has(.bearer) {
                violations.insert(.leak)
            }
            if first?.headerFields["X-Account"] == nil, first?.status == 200, has(.bearer) { violations.insert(.leak) }
        }
        _ = await call("upload", .put, body: HTTPBody(Data(repeating: 0x20, count: 4_096)))
        if has(.redirects), has(.cookies), let status = await call("login")?.status, status != 200 {
            violations.insert(.redirect)
        }
        let misses = server.count("missing")
        for _ in 0..<2 { _ = await call("missing") }
        if has(.cache), server.count("missing") - misses > 1 { violations.insert(.storing) }
        _ = await call("fail")
        if server.count("fail") > (has(.retry) ? 3 : 1) { violations.insert(.attempts) }
        if server.rejections.contains(where: { $0.value > 1 }), has(.renewal) { violations.insert(.rejectedToken) }
        if log.all.contains(where: { $0.contains("open-sesame") }) { violations.insert(.log) }
        return violations.union(server.violations)
    }
}

/// Checks signatures and tokens, and knows whose response it sends.
final class OrderServer: Transport {
    private struct State {
        var counts: [String: Int] = [:]
        var rejections: [String: Int] = [:]
        var numbers: Set<String> = []
        var number = 0
        var violations: Set<RandomOrder.Violation> = []
    }

    private let state = Shared(State())

    var violations: Set<RandomOrder.Violation> { state.value.violations }
    /// How often each token was rejected.
    var rejections: [String: Int] { state.value.rejections }

    /// The number of requests for a path.
    func count(_ path: String) -> Int { state.value.counts[path] ?? 0 }

    /// Signs a request: its content, and all of it with a number that is used once.
    func sign(_ request: inout HTTPRequest) async throws {
        state.change { $0.number += 1 }
        request.headerFields["X-Number"] = "\(state.value.number)"
        request.headerFields["X-Content"] = try await Self.content(of: request)
        request.headerFields["X-All"] = Self.all(of: request)
    }

    private static func content(of request: HTTPRequest) async throws -> String {
        String(try await request.body.collect(upTo: 1 << 20).hashValue)
    }

    private static func all(of request: HTTPRequest) -> String {
        let fields = request.headerFields.filter { $0.name != "X-All" }.map {
            "\($0.name.rawName.lowercased())=\($0.value)"
        }
        return String((fields.sorted() + [request.url.absoluteString]).joined(separator: " ").hashValue)
    }

    private func check(_ request: HTTPRequest) async throws {
        guard let number = request.headerFields["X-Number"] else { return }
        let content = try await Self.content(of: request)
        state.change { state in
            if content != request.headerFields["X-Content"] { state.violations.insert(.content) }
            if Self.all(of: request) != request.headerFields["X-All"] || !state.numbers.insert(number).inserted {
                state.violations.insert(.signature)
            }
        }
    }

    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        let request = request
        try await check(request)
        let path = request.url.lastPathComponent
        state.change { $0.counts[path, default: 0] += 1 }
        var response = HTTPResponse(status: 200, headerFields: [.cacheControl: "no-store"], url: request.url)
        switch path {
        case "page":
            response.headerFields[.cacheControl] = "max-age=600"
            guard let token = request.headerFields[.authorization]?.split(separator: " ").last else {
                response.headerFields["X-Account"] = "anyone"
                return response
            }
            response.headerFields["X-Account"] = String(token.prefix { $0 != "-" })
            if token.hasSuffix("old") {
                state.change { $0.rejections[String(token), default: 0] += 1 }
                return HTTPResponse(status: 401, headerFields: [.cacheControl: "no-store"], url: request.url)
            }
        case "login":
            response.status = 302
            response.headerFields[.location] = "/home"
            response.headerFields[.setCookie] = "session=1; Path=/"
        case "home":
            if !request.headerFields.contains(.cookie) { response.status = 403 }
        case "missing":
            response.status = 404
            response.headerFields[.cacheControl] = "max-age=600"
        case "fail": response.status = 503
        default: break
        }
        return response
    }
}
