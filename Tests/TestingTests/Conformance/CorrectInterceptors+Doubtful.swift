import Foundation
import InterceptorsCore
import InterceptorsTestSupport

@testable import InterceptorsTesting

/// Correct on the main actor, where a job is away without being seen.
extension CorrectInterceptor {
    static let onTheMainActor: [Self] = [
        Self("deadline on the main actor") { world in
            world.giveTestDeadlines()
            return OnMainActor { [clock = world.clock] request in
                if let end = request.context.testDeadline, clock.now >= end { throw TestBucket.Late() }
            }
        },
        Self("tokens on the main actor", [.limitsRate, .waits, .keepsOrder]) { world in
            let bucket = TestBucket(every: .milliseconds(50), world)
            return OnMainActor { _ in try await bucket.acquire() }
        },
    ]

    private struct OnMainActor: Interceptor {
        let prepare: @MainActor @Sendable (HTTPRequest) async throws -> Void

        @MainActor func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
            let request = request
            try await prepare(request)
            return try await next(request)
        }
    }
}

/// Correct about time and limits.
extension CorrectInterceptor {
    static let limits: [Self] = [
        Self("tokens all at once", [.limitsRate, .waits, .keepsOrder]) { world in
            let bucket = TestBucket(every: .milliseconds(50), capacity: 20, world, refill: .allAtOnce)
            return AnyInterceptor.intercept { request, next in
                try await bucket.acquire()
                return try await next(request)
            }
        },
        Self("tokens for which some don't wait long", [.limitsRate, .waits, .keepsOrder]) { world in
            let bucket = TestBucket(every: .milliseconds(50), world)
            return AnyInterceptor.intercept { request, next in
                let isHasty = Int(request.url.lastPathComponent)?.isMultiple(of: 2) == true
                try await bucket.acquire(before: world.clock.now.advanced(by: .milliseconds(isHasty ? 70 : 100_000)))
                return try await next(request)
            }
        },
        // A jump of years would take minutes in the loop.
        Self("tokens counted in a loop", [.limitsRate]) { world in
            let bucket = Shared((tokens: 20, last: world.clock.now))
            return AnyInterceptor.intercept { request, next in
                var isFree = false
                bucket.change { bucket in
                    while bucket.last.duration(to: world.clock.now) >= .milliseconds(50) {
                        bucket.last = bucket.last.advanced(by: .milliseconds(50))
                        bucket.tokens = min(20, bucket.tokens + 1)
                    }
                    isFree = bucket.tokens > 0
                    if isFree { bucket.tokens -= 1 }
                }
                guard isFree else { throw TestBucket.Late() }
                return try await next(request)
            }
        },
        Self("key that expires", [.addsCredentials]) { world in
            let end = world.clock.now.advanced(by: .seconds(600))
            return AnyInterceptor.intercept { request, next in
                var request = request
                try request.identifyCaller(by: "expiring", as: "ada")
                guard world.clock.now < end else { throw TestBucket.Late() }
                if Origin(request.url) == world.origin { request.headers["X-Door"] = world.secret }
                return try await next(request)
            }
        },
    ]
}

/// Correct about the content of requests.
extension CorrectInterceptor {
    static let content: [Self] = [
        Self("text that is checked in memory") { _ in
            AnyInterceptor.intercept { request, next in
                if let bytes = request.body.data, String(bytes: bytes, encoding: .utf8) == nil { throw NoText() }
                return try await next(request)
            }
        },
        Self("content in frames under a coding", [.changesRequest]) { _ in
            AnyInterceptor.intercept { request, next in
                var request = request
                if let bytes = request.body.data {
                    if bytes.isEmpty { return try await next(request) }
                    request.body = HTTPBody(framed(bytes))
                } else {
                    request.body = request.body.map { framed($0) }
                }
                request.headers.remove(.contentLength)
                request.headers[.contentEncoding] = "x-frames"
                return try await next(request)
            }
        },
    ]

    private static func framed(_ chunk: Data) -> Data { Data("\(chunk.count):".utf8) + chunk }

    private struct NoText: HTTPError {
        let code = HTTPErrorCode(rawValue: "no text")
        let message = "The content is no text."
        var sentNothing: Bool { true }
        let request: HTTPRequest.Summary? = nil
        let response: HTTPResponse? = nil
        let underlying: (any Error)? = nil
        var context = HTTPContext()
    }
}
