import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import Synchronization
import Testing

@testable import InterceptorsTesting

/// An interceptor that is wrong in one way, and the one rule that finds it.
struct BrokenInterceptor: Sendable, CustomTestStringConvertible {
    typealias Body = @Sendable (HTTPRequest, Next) async throws -> HTTPResponse

    /// The rule.
    let rule: String
    let testDescription: String
    let roles: [ChainRole]
    let make: InterceptorConformance.Factory

    /// - Parameter fault: what tells the interceptor from others that break the same rule.
    init(
        _ rule: String,
        _ roles: [ChainRole] = [],
        fault: String? = nil,
        make: @escaping InterceptorConformance.Factory
    ) {
        self.rule = rule
        testDescription = fault.map { "\(rule): \($0)" } ?? rule
        self.roles = roles
        self.make = make
    }

    init(_ rule: String, _ roles: [ChainRole] = [], fault: String? = nil, _ body: @escaping Body) {
        self.init(rule, roles, fault: fault, make: { _ in AnyInterceptor.intercept { try await body($0, $1) } })
    }

    static let all =
        messages + streams + streamEnds + ends + permits + concurrency + callers + attempts + chunks + waits
}

/// Wrong on requests and responses.
extension BrokenInterceptor {
    @Sendable private static func twice(_ bytes: Data) -> Data { Data(bytes.flatMap { [$0, $0] }) }

    static let messages: [Self] = [
        Self("theRequestGoesOnUnchanged") { request, next in
            var request = request
            request.headers.remove(.accept)
            return try await next(request)
        },
        Self("theContextOfARequestGoesOn") { request, next in
            var request = request
            request.context = .with(\.responseBody, request.context.responseBody)
            return try await next(request)
        },
        Self("fieldsKeepTheirOrder") { request, next in
            var request = request
            var sorted = HTTPFields()
            for field in request.headers.sorted(by: { $0.value < $1.value }) { sorted.append(field) }
            request.headers = sorted
            return try await next(request)
        },
        Self("aRequestsStreamStaysAStream") { request, next in
            var request = request
            request.body = HTTPBody(try await request.body.collect(upTo: 1 << 24))
            return try await next(request)
        },
        Self("aOneShotBodyIsSentAtMostOnce", [.retries]) { request, next in
            let response = try await next(request)
            guard response.status == 503, request.method.isIdempotent else { return response }
            response.body.discard()
            return try await next(request)
        },
        Self("theResponseComesBack") { request, next in
            var response = try await next(request)
            response.url = nil
            return response
        },
        Self("theContentComesBack") { request, next in
            var response = try await next(request)
            if let bytes = response.body.data {
                response.body = HTTPBody(Data(bytes.reversed()))
            } else {
                response.body = response.body.wrapped(length: response.body.length) { body in
                    body.map { Data($0.reversed()) }
                }
            }
            return response
        },
        Self("theContextOfAResponseComesBack") { request, next in
            var response = try await next(request)
            response.context = HTTPContext()
            return response
        },
        Self("everyStatusComesBack") { request, next in
            let response = try await next(request)
            guard response.status == 404 else { return response }
            response.body.discard()
            throw Broken()
        },
        Self("errorsKeepTheirCause") { request, next in
            do {
                return try await next(request)
            } catch let error as CancellationError {
                throw error
            } catch {
                throw TransportError(.transportFailed, "Something went wrong.")
            }
        },
        Self("contentLengthAgrees", [.changesResponse]) { request, next in
            var response = try await next(request)
            if let bytes = response.body.data {
                response.body = HTTPBody(twice(bytes))
            } else {
                response.body = response.body.map(twice)
            }
            return response
        },
        Self("aBufferedResponseStaysBuffered") { request, next in
            var response = try await next(request)
            response.body = response.body.wrapped(length: response.body.length) { $0 }
            return response
        },
        Self("eachCallIsSentOnce") { request, next in
            let response = try await next(request)
            guard response.status == 503, request.method.isSafe, request.body.isRestartable else { return response }
            response.body.discard()
            return try await next(request)
        },
        Self("aPostOfUnknownFateIsNotRepeated", [.retries]) { request, next in
            do {
                return try await next(request)
            } catch let error as CancellationError {
                throw error
            } catch {
                guard request.body.isRestartable else { throw error }
                return try await next(request)
            }
        },
    ]
}
