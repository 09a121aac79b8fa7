import Dispatch
import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import Synchronization

@testable import InterceptorsTesting

/// Wrong when a call is cancelled or fails.
extension BrokenInterceptor {
    static let ends: [Self] = [
        Self("cancellationEndsACallAtOnce") { request, next in
            try await Task { try await next(request) }.value
        },
        Self("cancellationIsACancellationError") { request, next in
            do { return try await next(request) } catch { throw Wrapped(underlying: error) }
        },
        Self("cancellationLeavesNothingBehind") { request, next in
            let end = Once<HTTPResponse>()
            Task {
                do { end.resume(.success(try await next(request))) } catch { end.resume(.failure(error)) }
            }
            return try await withTaskCancellationHandler {
                try await end.value()
            } onCancel: {
                end.resume(.failure(CancellationError()))
            }
        },
        Self("cancellationLeavesNothingBehind", fault: "sleep that goes on") { world in
            AnyInterceptor.intercept { request, next in
                do { return try await next(request) } catch {
                    if error is CancellationError { Task { try await world.clock.sleep(for: .seconds(3_600)) } }
                    throw error
                }
            }
        },
        Self("everyPermitComesBack", [.limitsConcurrency]) { _ in
            let permits = Permits(5)
            return AnyInterceptor.intercept { request, next in
                try await permits.acquire()
                let response = try await next(request)
                permits.release()
                return response
            }
        },
        Self("noTaskOutlivesItsCall") { world in
            AnyInterceptor.intercept { request, next in
                var response = try await next(request)
                response.body = response.body.onEnd { error in
                    if error == nil { Task { try await world.clock.sleep(for: .seconds(3_600)) } }
                }
                return response
            }
        },
        Self("timeComesFromTheWorld") { request, next in
            // A real sleep is the fault. Shorter ones end before another thread is asked.
            try await Task.sleep(for: .milliseconds(1))
            return try await next(request)
        },
    ]

    private struct Wrapped: HTTPError {
        let underlying: (any Error)?
        let code = HTTPErrorCode(rawValue: "wrapped")
        let message = "The call failed."
        let request: HTTPRequest.Summary? = nil
        let response: HTTPResponse? = nil
        var context = HTTPContext()
    }
}

/// Wrong when calls meet.
extension BrokenInterceptor {
    static let concurrency: [Self] = [
        Self("callsDontWaitForEachOther") { _ in
            let permits = Permits(10)
            return AnyInterceptor.intercept { request, next in
                guard !Inside.isInside else { return try await next(request) }
                try await permits.acquire()
                defer { permits.release() }
                return try await Inside.$isInside.withValue(true) { try await next(request) }
            }
        },
        Self("aThousandCallsGetTheirOwnResponses") { _ in
            let last = Shared<URL?>(nil)
            return AnyInterceptor.intercept { request, next in
                last.value = request.url
                await Task.yield()
                var request = request
                request.url = last.value ?? request.url
                return try await next(request)
            }
        },
        Self("aCallMayRunInsideAnother", [.limits]) { _ in
            let permits = Permits(1)
            return AnyInterceptor.intercept { request, next in
                guard !request.context.isInside else { return try await next(request) }
                try await permits.acquire()
                defer { permits.release() }
                var request = request
                request.context.isInside = true
                return try await next(request)
            }
        },
        Self("worksTwiceInAChain") { request, next in
            if request.context.isInside { return HTTPResponse(status: 508, url: request.url) }
            var request = request
            request.context.isInside = true
            return try await next(request)
        },
        Self("answersOfTwoUsersAreNeverCrossed", [.stores]) { _ in
            let kept = Shared<[URL: HTTPResponse]>([:])
            return AnyInterceptor.intercept { request, next in
                if let response = kept.value[request.url] { return response }
                var request = request
                request.shareResponse(by: "kept")
                let response = try await next(request)
                if response.headers[.cacheControl] != nil, response.body.isRestartable {
                    kept.change { $0[request.url] = response }
                }
                return response
            }
        },
        Self("aSharedResponseIsDeclared", [.shares]) { request, next in try await next(request) },
    ]

    /// Ends the waits of all calls that block their threads.
    static func unblock(_ semaphore: DispatchSemaphore) { for _ in 0..<1_000 { semaphore.signal() } }

    // One for each, because their tests run side by side.
    static let blockingSemaphore = DispatchSemaphore(value: 0)
    static let lockingSemaphore = DispatchSemaphore(value: 0)

    /// Blocks its thread when a second call comes.
    static let blocking = Self("noThreadIsBlocked") { _ in
        let count = Shared(0)
        return AnyInterceptor.intercept { request, next in
            count.change { $0 += 1 }
            defer { count.change { $0 -= 1 } }
            if count.value > 1 { wait(blockingSemaphore) }
            return try await next(request)
        }
    }

    /// Blocks its thread while it holds a lock that the cancellation of a call wants too.
    static let blockingWithALock = Self("noThreadIsBlocked", fault: "lock that a cancellation wants") { _ in
        let count = Mutex(0)
        return AnyInterceptor.intercept { request, next in
            try await withTaskCancellationHandler {
                count.withLock { count in
                    count += 1
                    if count > 1 { wait(lockingSemaphore) }
                }
                return try await next(request)
            } onCancel: {
                count.withLock { $0 -= 1 }
            }
        }
    }

    private static func wait(_ semaphore: DispatchSemaphore) { semaphore.wait() }

    private enum Inside {
        @TaskLocal static var isInside = false
    }
}

/// Wrong about the caller.
extension BrokenInterceptor {
    static let callers: [Self] = [
        Self("taskLocalsReachTheRest") { request, next in
            let task = Task.detached { try await next(request) }
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        },
        Self("noSecretIsPrinted", [.addsCredentials]) { Talkative(secret: $0.secret, origin: $0.origin) },
        Self("noSecretIsPrinted", [.addsCredentials], fault: "note with the key") { world in
            AnyInterceptor.intercept { request, next in
                var request = request
                try request.identifyCaller(by: "talkative", as: "ada")
                request.note("the door's number is \(world.secret)")
                if Origin(request.url) == world.origin { request.headers["X-Door"] = world.secret }
                return try await next(request)
            }
        },
        credential("http") { $0.url.host() == $1.host },
        credential("other port") { $0.url.host() == $1.host && $0.url.scheme == $1.scheme },
        credential("host with the same end") {
            $0.url.host()?.hasSuffix($1.host) == true && Origin($0.url)?.port == $1.port
        },
        Self("aCredentialGoesToItsOriginOnly", [.addsCredentials]) { world in
            AnyInterceptor.intercept { request, next in
                var request = request
                try request.identifyCaller(by: "everywhere", as: world.secret)
                request.headers["X-Door"] = world.secret
                return try await next(request)
            }
        },
        Self("aCredentialIsDeclared", [.addsCredentials]) { world in
            AnyInterceptor.intercept { request, next in
                var request = request
                if Origin(request.url) == world.origin { request.headers["X-Door"] = world.secret }
                return try await next(request)
            }
        },
    ]

    private static func credential(
        _ fault: String,
        _ isAdded: @escaping @Sendable (HTTPRequest, Origin) -> Bool
    ) -> Self {
        Self("aCredentialGoesToItsOriginOnly", [.addsCredentials], fault: fault) { world in
            AnyInterceptor.intercept { request, next in
                var request = request
                try request.identifyCaller(by: "somewhere", as: "ada")
                if isAdded(request, world.origin) {
                    request.headers[.authorization] =
                        "Basic " + Data("ada:\(world.secret)".utf8).base64EncodedString()
                }
                return try await next(request)
            }
        }
    }

    private struct Talkative: Interceptor {
        let secret: String
        let origin: Origin

        func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
            try request.identifyCaller(by: "talkative", as: secret)
            if Origin(request.url) == origin { request.headers["X-Door"] = secret }
            return try await next(request)
        }
    }
}

extension HTTPContext {
    private enum InsideKey: HTTPContextKey { static var defaultValue: Bool { false } }

    fileprivate var isInside: Bool {
        get { self[InsideKey.self] }
        set { self[InsideKey.self] = newValue }
    }
}

/// Permits with a waiting line.
final class Permits: PermitLine {
    enum Fault { case servesTheGone, lastFirst, forgetsTheCancelled }

    private struct State {
        var free: Int
        var line: [Once<Void>] = []
    }

    private let state: Mutex<State>

    private let fault: Fault?

    init(_ count: Int, fault: Fault? = nil) {
        self.fault = fault
        state = Mutex(State(free: count))
    }

    func acquire() async throws {
        let waiter: Once<Void>? = state.withLock { state in
            guard state.free == 0 else {
                state.free -= 1
                return nil
            }
            let waiter = Once<Void>()
            state.line.append(waiter)
            return waiter
        }
        guard let waiter else { return }
        try await withTaskCancellationHandler {
            try await waiter.value()
        } onCancel: {
            _ = waiter.resume(.failure(CancellationError()))
        }
        if fault == .forgetsTheCancelled { try Task.checkCancellation() }
    }

    func release() {
        while let waiter = nextWaiter() {
            if waiter.resume(.success(())) || fault == .servesTheGone { return }
        }
        state.withLock { $0.free += 1 }
    }

    private func nextWaiter() -> Once<Void>? {
        state.withLock { state in
            guard !state.line.isEmpty else { return nil }
            return fault == .lastFirst ? state.line.removeLast() : state.line.removeFirst()
        }
    }
}

/// A value that the first of several gives.
final class Once<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var continuation: CheckedContinuation<Value, any Error>?
    }

    private let state = Mutex(State())

    func value() async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let result = state.withLock { state in
                if state.result == nil { state.continuation = continuation }
                return state.result
            }
            if let result { continuation.resume(with: result) }
        }
    }

    /// Returns whether this result is the first.
    @discardableResult
    func resume(_ result: Result<Value, any Error>) -> Bool {
        let (isFirst, continuation) = state.withLock { state -> (Bool, CheckedContinuation<Value, any Error>?) in
            guard state.result == nil else { return (false, nil) }
            state.result = result
            defer { state.continuation = nil }
            return (true, state.continuation)
        }
        continuation?.resume(with: result)
        return isFirst
    }
}
