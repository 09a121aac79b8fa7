import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import Synchronization
import Testing

@testable import InterceptorsTesting

/// A chain that breaks a property of a simulation.
struct BrokenChain: Sendable, CustomTestStringConvertible {
    let property: Simulation.Property
    let testDescription: String
    let make: Simulation.Factory

    private init(_ property: Simulation.Property, _ name: String, in make: @escaping Simulation.Factory) {
        self.property = property
        testDescription = "\(property): \(name)"
        self.make = make
    }

    private init(
        _ property: Simulation.Property,
        _ name: String,
        _ body: @escaping @Sendable (inout HTTPRequest, Next) async throws -> HTTPResponse
    ) {
        self.init(property, name) { world in world.client(interceptors: [.intercept(body)]) }
    }

    static let all = ends + bodies + content + posts + identity + sharing
}

/// A call, a task or a body that doesn't end.
extension BrokenChain {
    private static let ends: [Self] = [
        Self(.everyCallEnds, "failed call that keeps its permit", in: { $0.client(interceptors: [LeakyPermits()]) }),
        Self(.timeEnds, "task that polls without end") { world in
            let poll: AnyInterceptor = .intercept { request, next in
                Task { while true { try await world.clock.sleep(for: .seconds(60)) } }
                return try await next(request)
            }
            return world.client(interceptors: [poll])
        },
        Self(.cancellationEndsACall, "task that ignores the cancellation of its call") { request, next in
            let request = request
            return try await Task { try await next(request) }.value
        },
        Self(.cancellationEndsACall, "cancellation that becomes another error") { request, next in
            do { return try await next(request) } catch {
                throw TransportError(.connectionLost, "It failed.", request: request)
            }
        },
        Self(.cancellationEndsACall, "second attempt after a cancellation") { request, next in
            let request = request
            do { return try await next(request) } catch  where request.method.isSafe && request.body.isReadable {
                return try await next(request)
            }
        },
        Self(.aDeadlineEndsACall, "deadline that nothing enforces") { world in
            world.giveDeadlines { _, _ in }
            return world.client(interceptors: [])
        },
        Self(.theChainIsReleased, "task that waits for ever") { request, next in
            Task { [request] in
                let (silence, end) = AsyncStream.makeStream(of: Never.self)
                for await _ in silence {}
                end.finish()
                _ = try await next(request)
            }
            return try await next(request)
        },
    ]

    /// Two permits, which only successful calls release.
    private final class LeakyPermits: Interceptor {
        private let free = Mutex(2)
        private let gate = InterceptorsTesting.Gate()

        func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
            let isFree = free.withLock { free in
                free -= 1
                return free >= 0
            }
            if !isFree { try await gate.pass() }
            let response = try await next(request)
            free.withLock { $0 += 1 }
            _ = gate.letOnePass()
            return response
        }
    }
}

/// Bodies and attempts.
extension BrokenChain {
    private static let bodies: [Self] = [
        Self(.nothingStaysOpen, "response that is dropped before a second attempt") { request, next in
            let response = try await next(request)
            guard response.status.kind == .serverError, request.method.isSafe else { return response }
            return try await next(request)
        },
        Self(.aOneShotBodyIsSentOnce, "second attempt without a look at the body") { request, next in
            do { return try await next(request) } catch  where request.method == .put && !Task.isCancelled {
                return try await next(request)
            }
        },
        Self(.aPostIsActedOnOnce, "second attempt of each method") { request, next in
            do { return try await next(request) } catch  where request.body.isReadable && !Task.isCancelled {
                return try await next(request)
            }
        },
        Self(.aBufferedResponseStaysBuffered, "body that is wrapped, in memory or not") { request, next in
            var response = try await next(request)
            response.body = response.body.wrapped { $0 }
            return response
        },
        Self(.responsesBelongToTheirCalls, "URL that calls share") { world in
            let shared = Shared<URL?>(nil)
            let swap: AnyInterceptor = .intercept { request, next in
                let request = request
                shared.value = request.url
                try await world.clock.sleep(for: .milliseconds(500))
                var sent = request
                if let url = shared.value { sent.url = url }
                return try await next(sent)
            }
            return world.client(interceptors: [.when(.origin(world.origin), [swap])])
        },
    ]
}

/// Content.
extension BrokenChain {
    private static let content: [Self] = [
        Self(.contentComesWhole, "second attempt with an empty body") { request, next in
            do { return try await next(request) } catch  where request.method == .put && !Task.isCancelled {
                request.body = .empty
                return try await next(request)
            }
        },
        Self(.contentComesWhole, "stream whose error becomes a usual end") { request, next in
            var response = try await next(request)
            guard response.body.data == nil else { return response }
            response.body = response.body.wrapped { Quiet(chunks: $0) }
            return response
        },
        Self(.contentComesWhole, "cache of whatever came before a stream broke") { world in
            let kept = Shared<[String: HTTPResponse]>([:])
            let cache: AnyInterceptor = .intercept { request, next in
                let key = "\(request.url) \(request.headers[.authorization] ?? "")"
                guard request.method == .get, request.context.responseBody == .streamed else {
                    return try await next(request)
                }
                if let response = kept.value[key] { return response }
                var response = try await next(request)
                guard response.status == 200 else { return response }
                let (status, fields, body) = (response.status, response.headers, response.body)
                response.body = body.wrapped { body in
                    Kept(chunks: body) { content in
                        kept.change {
                            $0[key] = HTTPResponse(status: status, headers: fields, body: HTTPBody(content))
                        }
                    }
                }
                return response
            }
            return world.client(interceptors: [cache])
        },
    ]

    /// Ends without an error when its chunks break.
    private struct Quiet: AsyncSequence, Sendable {
        let chunks: HTTPBody

        func makeAsyncIterator() -> Iterator { Iterator(chunks: chunks.makeAsyncIterator()) }

        struct Iterator: AsyncIteratorProtocol {
            var chunks: HTTPBody.AsyncIterator

            mutating func next() async throws -> Data? {
                do { return try await chunks.next() } catch is TransportError {
                    return nil
                }
            }
        }
    }

    /// Hands over the chunks that were read when no more come.
    private struct Kept: AsyncSequence, Sendable {
        let chunks: HTTPBody
        let keep: @Sendable (Data) -> Void

        func makeAsyncIterator() -> Iterator { Iterator(chunks: chunks.makeAsyncIterator(), keep: keep) }

        struct Iterator: AsyncIteratorProtocol {
            var chunks: HTTPBody.AsyncIterator
            let keep: @Sendable (Data) -> Void
            var content = Data()

            mutating func next() async throws -> Data? {
                do {
                    guard let chunk = try await chunks.next() else {
                        keep(content)
                        return nil
                    }
                    content.append(chunk)
                    return chunk
                } catch {
                    keep(content)
                    throw error
                }
            }
        }
    }
}

/// Attempts of a POST.
extension BrokenChain {
    private static let posts: [Self] = [
        Self(.aPostIsActedOnOnce, "another idempotency key for each attempt") { world in
            let retry: AnyInterceptor = .intercept { request, next in
                request.headers[.idempotencyKey] = "\(world.random.next())"
                do { return try await next(request) } catch  where request.body.isReadable && !Task.isCancelled {
                    request.headers[.idempotencyKey] = "\(world.random.next())"
                    return try await next(request)
                }
            }
            return world.client(interceptors: [retry])
        },
        Self(.aPostIsActedOnOnce, "second attempt that loses the context") { request, next in
            let request = request
            var copy = HTTPRequest(method: request.method, url: request.url, body: request.body)
            copy.headers = request.headers
            copy.context.responseBody = request.context.responseBody
            do { return try await next(copy) } catch  where request.body.isReadable && !Task.isCancelled {
                return try await next(copy)
            }
        },
    ]
}

/// State that is shared by too many.
extension BrokenChain {
    private static let sharing: [Self] = [
        Self(.accountsStayApart, "bytes kept by their URL alone") { world in
            let kept = Shared<[URL: Data]>([:])
            let cache: AnyInterceptor = .intercept { request, next in
                let url = request.url
                let isKept = request.method == .get && request.context.responseBody == .buffered
                if isKept, let content = kept.value[url] { return HTTPResponse(status: 200, body: HTTPBody(content)) }
                let response = try await next(request)
                if isKept, response.status == 200, let bytes = response.body.data { kept.change { $0[url] = bytes } }
                return response
            }
            return world.client(interceptors: [cache])
        },
        Self(.responsesBelongToTheirCalls, "cache that ignores the query") { world in
            let kept = Shared<[String: HTTPResponse]>([:])
            let cache: AnyInterceptor = .intercept { request, next in
                let key = "\(request.url.path) \(request.headers[.authorization] ?? "")"
                let isKept = request.method == .get && request.context.responseBody == .buffered
                if isKept, let response = kept.value[key] { return response }
                let response = try await next(request)
                if isKept, response.status == 200 { kept.change { $0[key] = response } }
                return response
            }
            return world.client(interceptors: [.when(.origin(world.origin), [cache])])
        },
        Self(.responsesBelongToTheirCalls, "cache that ignores the origin") { world in
            let kept = Shared<[String: HTTPResponse]>([:])
            let cache: AnyInterceptor = .intercept { request, next in
                let key = "\(request.url.path)?\(request.url.query ?? "")"
                let isKept = request.method == .get && request.context.responseBody == .buffered
                guard isKept, !request.headers.contains(.authorization) else { return try await next(request) }
                if let response = kept.value[key] { return response }
                let response = try await next(request)
                if response.status == 200 { kept.change { $0[key] = response } }
                return response
            }
            return world.client(interceptors: [cache])
        },
    ]
}

/// Accounts and credentials.
extension BrokenChain {
    private struct Refused: Error, CustomStringConvertible {
        let description: String
    }

    private static let identity: [Self] = [
        Self(.accountsStayApart, "responses kept by their URL alone") { world in
            let kept = Shared<[URL: HTTPResponse]>([:])
            let cache: AnyInterceptor = .intercept { request, next in
                let url = request.url
                let isKept = request.method == .get && request.context.responseBody == .buffered
                if isKept, let response = kept.value[url] { return response }
                let response = try await next(request)
                if isKept, response.status == 200 { kept.change { $0[url] = response } }
                return response
            }
            return world.client(interceptors: [cache])
        },
        Self(.accountsStayApart, "refresh that ends after the sign-in of another account") { world in
            let held = Shared<Simulation.Account?>(nil)
            world.onSignIn { held.value = $0 }
            let auth: AnyInterceptor = .intercept { request, next in
                let request = request
                guard let account = held.value, Origin(request.url) == world.origin, request.body.isRestartable else {
                    return try await next(request)
                }
                func send(_ account: Simulation.Account) async throws -> HTTPResponse {
                    var sent = request
                    sent.headers[.authorization] = "Bearer \(account.token)"
                    return try await next(sent)
                }
                let response = try await send(account)
                guard response.status == 401 else { return response }
                response.body.discard()
                let renewed = try await world.newToken(insteadOf: account.token)
                held.value = renewed
                return try await send(renewed)
            }
            return world.client(interceptors: [auth])
        },
        Self(.secretsStayAtTheirOrigin, "credential for each origin") { world in
            let token = Shared<String?>(nil)
            world.onSignIn { account in token.value = account?.token }
            let auth: AnyInterceptor = .intercept { request, next in
                request.headers["X-Key"] = token.value
                return try await next(request)
            }
            return world.client(interceptors: [auth])
        },
        Self(.secretsStayAtTheirOrigin, "redirect that takes all fields along") { request, next in
            let response = try await next(request)
            guard response.status.kind == .redirection, request.method.isSafe,
                let target = response.headers[.location], let url = URL(string: target, relativeTo: request.url)
            else { return response }
            response.body.discard()
            request.url = url.absoluteURL
            return try await next(request)
        },
        Self(.secretsAreNotPrinted, "error with the fields of the request") { request, next in
            let response = try await next(request)
            guard response.status == 401 else { return response }
            response.body.discard()
            throw Refused(description: request.headers.map(\.value).joined())
        },
    ]
}
