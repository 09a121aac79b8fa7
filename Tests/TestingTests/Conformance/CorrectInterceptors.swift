import Dispatch
import Foundation
import InterceptorsCore
import Testing

@testable import InterceptorsTesting

/// A correct interceptor that a rule could take for a broken one.
struct CorrectInterceptor: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let roles: [ChainRole]
    /// The rules that its author leaves out.
    let exceptions: [String]
    let make: InterceptorConformance.Factory

    init(
        _ testDescription: String,
        _ roles: [ChainRole] = [],
        except exceptions: [String] = [],
        make: @escaping InterceptorConformance.Factory
    ) {
        self.testDescription = testDescription
        self.roles = roles
        self.exceptions = exceptions
        self.make = make
    }

    static let all = usual + onTheMainActor + limits + content

    private static let usual: [Self] = [
        Self("key in the query", [.addsCredentials]) { QueryKey(key: $0.secret, origin: $0.origin) },
        Self("prefix of the path", [.changesRequest]) { _ in
            AnyInterceptor.intercept { request, next in
                var request = request
                if let url = URL(string: "/v1\(request.url.path)", relativeTo: request.url) {
                    request.url = url.absoluteURL
                }
                return try await next(request)
            }
        },
        Self("timer that no call starts") { world in
            let clock = world.clock
            Task { while true { try await clock.sleep(for: .seconds(60)) } }
            return AnyInterceptor.intercept { try await $1($0) }
        },
        Self("single permit", [.limitsConcurrency]) { _ in
            let permits = Permits(1)
            return AnyInterceptor.intercept { request, next in
                try await permits.acquire()
                let response: HTTPResponse
                do { response = try await next(request) } catch {
                    permits.release()
                    throw error
                }
                var returned = response
                returned.body = response.body.onEnd { _ in permits.release() }
                return returned
            }
        },
        Self("permits in order", [.limitsConcurrency, .waits, .keepsOrder]) { _ in
            let permits = Permits(3)
            return AnyInterceptor.intercept { request, next in
                try await permits.acquire()
                defer { permits.release() }
                return try await next(request)
            }
        },
        Self("one call per hour", [.limitsRate, .waits, .keepsOrder]) { world in
            let bucket = TestBucket(every: .seconds(3_600), capacity: 20, world)
            return AnyInterceptor.intercept { request, next in
                try await bucket.acquire()
                return try await next(request)
            }
        },
        Self("tokens before the deadline", [.limitsRate, .waits, .keepsOrder]) { world in
            world.giveTestDeadlines()
            let bucket = TestBucket(every: .milliseconds(2), capacity: 1, world)
            return AnyInterceptor.intercept { request, next in
                let end = request.context.testDeadline
                try await bucket.acquire(before: end)
                return try await next(request)
            }
        },
        Self("work on another thread", except: ["timeComesFromTheWorld"]) { _ in
            let elsewhere = Elsewhere()
            return AnyInterceptor.intercept { request, next in
                await elsewhere.work()
                return try await next(request)
            }
        },
    ]

    /// Always leaves the check's thread, unlike a continuation that another thread resumes before the wait begins.
    private actor Elsewhere {
        private final class Executor: SerialExecutor {
            private let queue = DispatchQueue(label: "elsewhere")

            func enqueue(_ job: consuming ExecutorJob) {
                let job = UnownedJob(job)
                queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
            }
        }

        private let executor = Executor()
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        func work() {}
    }

    private struct QueryKey: Interceptor, CustomStringConvertible {
        let key: String
        let origin: Origin
        var description: String { "queryKey" }

        func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
            try request.identifyCaller(by: "queryKey", as: "ada")
            if Origin(request.url) == origin {
                var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true)
                let items = parts?.queryItems ?? []
                parts?.queryItems = [URLQueryItem(name: "api_key", value: key)] + items
                if let url = parts?.url { request.url = url }
            }
            return try await next(request)
        }
    }
}
