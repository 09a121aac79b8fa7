import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

/// A concurrency limit must not block the refresh that the holders of its permits wait for.
@Suite(.againstHanging)
struct ConcurrencyPermitTests {
    enum Place: CaseIterable {
        case outsideOfBoth, between, insideOfBoth
    }

    private static let logInURL = URL(string: "https://api.example.com/login")!

    @Test(arguments: Place.allCases, [true, false])
    func refreshGoesOnWhenEveryPermitIsHeldByRequestsWaitingForIt(place: Place, isExpired: Bool) async throws {
        let server = TokenServer(accepting: ["new"])
        let chain = Shared<InterceptorChain?>(nil)
        let refreshes = Tally()
        let expiry: Date? = isExpired ? .distantPast : nil
        let tokens = TokenStore(.init("old", expiresAt: expiry), origins: [apiOrigin]) { _ in
            refreshes.count()
            _ = try await chain.value?.get(Self.logInURL)
            return .new
        }
        let permits = PermitInterceptor(permits: 1, letsRefreshesPass: true)
        let interceptors: [any Interceptor] =
            switch place {
            case .outsideOfBoth: [permits, .retryOnUnauthorized(tokens), .bearerAuth(tokens)]
            case .between: [.retryOnUnauthorized(tokens), permits, .bearerAuth(tokens)]
            case .insideOfBoth: [.retryOnUnauthorized(tokens), .bearerAuth(tokens), permits]
            }
        let all = InterceptorChain(interceptors, transport: server)
        chain.value = all
        try await withThrowingTaskGroup { group in
            for _ in 0..<50 { group.addTask { try await all.get() } }
            for try await status in group { #expect(status == 200) }
        }
        #expect(refreshes.value == 1)
        chain.value = nil
    }

    @Test func limitInsideOfBothNeedsNoCare() async throws {
        let server = TokenServer(accepting: ["new"])
        let chain = Shared<InterceptorChain?>(nil)
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in
            _ = try await chain.value?.get(Self.logInURL)
            return .new
        }
        let permits = PermitInterceptor(permits: 1, letsRefreshesPass: false)
        let all = InterceptorChain([.retryOnUnauthorized(tokens), .bearerAuth(tokens), permits], transport: server)
        chain.value = all
        try await withThrowingTaskGroup { group in
            for _ in 0..<50 { group.addTask { try await all.get() } }
            for try await status in group { #expect(status == 200) }
        }
        chain.value = nil
    }
}

/// Lets `permits` requests through at a time, in order of arrival.
private struct PermitInterceptor: Interceptor {
    private let line: WorkLine
    private let letsRefreshesPass: Bool

    init(permits: Int, letsRefreshesPass: Bool) {
        line = WorkLine(limit: permits)
        self.letsRefreshesPass = letsRefreshesPass
    }

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        if letsRefreshesPass, Task.isRefreshingCredential { return try await next(request) }
        return try await line.run { [request] in try await next(request) }
    }
}
