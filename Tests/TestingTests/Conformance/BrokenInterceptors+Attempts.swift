import Foundation
import InterceptorsCore
import InterceptorsTestSupport

@testable import InterceptorsTesting

/// Wrong when a request is sent more than once.
extension BrokenInterceptor {
    static let attempts: [Self] = [
        again("empty content") { $0.body = .empty },
        again("lost fields") { $0.headers["X-Many"] = nil },
        again("lost context") { $0.context = .with(\.responseBody, $0.context.responseBody) },
        again("new key") { $0.headers[.idempotencyKey] = "another" },
        Self("aPostOfUnknownFateIsNotRepeated", [.retries], fault: "new key for each attempt") { _ in
            let count = Shared(0)
            return AnyInterceptor.intercept { request, next in
                let original = request
                func send() async throws -> HTTPResponse {
                    var request = original
                    count.change { $0 += 1 }
                    if !request.headers.contains(.idempotencyKey) {
                        request.headers[.idempotencyKey] = "\(count.value)"
                    }
                    return try await next(request)
                }
                guard original.method == .post else { return try await next(original) }
                do { return try await send() } catch  where original.body.isReadable && !Task.isCancelled {
                    return try await send()
                }
            }
        },
        Self("anAttemptThatLosesEnds", [.hedges], fault: "late response that nobody discards") { world in
            AnyInterceptor.intercept { request, next in
                let request = request
                guard request.method.isSafe else { return try await next(request) }
                return try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
                    group.addTask { try await next(request) }
                    group.addTask {
                        try await world.clock.sleep(for: .seconds(2))
                        return try await next(request)
                    }
                    guard let first = await group.nextResult() else { throw CancellationError() }
                    group.cancelAll()
                    return try first.get()
                }
            }
        },
    ]

    /// A retry after a 503 that changes the second request.
    private static func again(_ fault: String, _ change: @escaping @Sendable (inout HTTPRequest) -> Void) -> Self {
        Self("eachAttemptIsTheSameRequest", [.retries], fault: fault) { request, next in
            let response = try await next(request)
            guard response.status == 503, request.body.isRestartable else { return response }
            let isKeyed = request.headers.contains(.idempotencyKey)
            guard request.method.isIdempotent || isKeyed else { return response }
            response.body.discard()
            var later = request
            change(&later)
            return try await next(later)
        }
    }
}
