import Foundation
import InterceptorsTestSupport
import InterceptorsTesting

@testable import InterceptorsCore
@testable import InterceptorsMiddlewares

/// Two origins that check signatures and tokens, and know whose response they send.
final class OrderServer: Transport {
    private struct State {
        var counts: [String: Int] = [:]
        var rejections: [String: Int] = [:]
        var numbers: Set<String> = []
        var number = 0
        var violations: Set<RandomOrder.Violation> = []
        var running = 0
        var mostRunning = 0
    }

    static let otherOrigin = Origin(URL(string: "https://other.example.com")!)!

    /// The clock of slow responses and of hedges.
    let hedgeClock = ManualClock()
    private let state = Shared(State())

    var violations: Set<RandomOrder.Violation> { state.value.violations }
    /// How often each token was rejected.
    var rejections: [String: Int] { state.value.rejections }

    /// The most slow responses that were under way at a time.
    var mostRunning: Int { state.value.mostRunning }

    /// The number of requests for a path.
    func count(_ path: String) -> Int { state.value.counts[path] ?? 0 }

    /// Signs a request: its content, and all of it with a number that is used once.
    func sign(_ request: inout HTTPRequest) async throws {
        state.change { $0.number += 1 }
        request.headers["X-Number"] = "\(state.value.number)"
        request.headers["X-Content"] = try await Self.content(of: request)
        request.headers["X-All"] = Self.all(of: request)
    }

    private static func content(of request: HTTPRequest) async throws -> String {
        String(try await request.body.collect(upTo: 1 << 20).hashValue)
    }

    private static func all(of request: HTTPRequest) -> String {
        let fields = request.headers.filter { $0.name != "X-All" }.map {
            "\($0.name.rawName.lowercased())=\($0.value)"
        }
        return String((fields.sorted() + [request.url.absoluteString]).joined(separator: " ").hashValue)
    }

    private func check(_ request: HTTPRequest) async throws {
        guard let number = request.headers["X-Number"] else { return }
        let content = try await Self.content(of: request)
        state.change { state in
            if content != request.headers["X-Content"] { state.violations.insert(.content) }
            if Self.all(of: request) != request.headers["X-All"] || !state.numbers.insert(number).inserted {
                state.violations.insert(.signature)
            }
        }
    }

    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        let request = request
        try await check(request)
        let path = request.url.lastPathComponent
        state.change { $0.counts[path, default: 0] += 1 }
        var response = HTTPResponse(status: 200, headers: [.cacheControl: "no-store"], url: request.url)
        switch path {
        case "page":
            response.headers[.cacheControl] = "max-age=600"
            guard let token = request.headers[.authorization]?.split(separator: " ").last else {
                response.headers["X-Account"] = "anyone"
                return response
            }
            response.headers["X-Account"] = String(token.prefix { $0 != "-" })
            if token.hasSuffix("old") {
                state.change { $0.rejections[String(token), default: 0] += 1 }
                return HTTPResponse(status: 401, headers: [.cacheControl: "no-store"], url: request.url)
            }
        case "login":
            response.status = 302
            response.headers[.location] = "/home"
            response.headers[.setCookie] = "session=1; Path=/"
        case "home":
            if !request.headers.contains(.cookie) { response.status = 403 }
        case "missing":
            response.status = 404
            response.headers[.cacheControl] = "max-age=600"
        case "fail": response.status = 503
        case "moved":
            response.status = 302
            response.headers[.location] = "https://other.example.com/private"
        case "private":
            let isSent = request.headers["X-API-Key"] == "sesame" || request.headers.contains("X-Door")
            if isSent { state.change { _ = $0.violations.insert(.sent) } }
            if !request.headers.contains(.authorization) { response.status = 401 }
        case "slow":
            state.change { $0.running += 1 }
            state.change { $0.mostRunning = max($0.mostRunning, $0.running) }
            defer { state.change { $0.running -= 1 } }
            try await hedgeClock.sleep(for: .seconds(10))
        default: break
        }
        return response
    }
}
