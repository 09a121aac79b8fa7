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
        case "moved":
            response.status = 302
            response.headerFields[.location] = "https://other.example.com/private"
        case "private":
            let isSent = request.headerFields["X-API-Key"] == "sesame" || request.headerFields.contains("X-Door")
            if isSent { state.change { _ = $0.violations.insert(.sent) } }
            if !request.headerFields.contains(.authorization) { response.status = 401 }
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
