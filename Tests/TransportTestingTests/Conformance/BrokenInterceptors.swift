import Foundation
import Interceptors
import Synchronization
import TestSupport
import Testing

@testable import TransportTesting

/// An interceptor that is wrong in one way, and the one rule that finds it.
struct BrokenInterceptor: Sendable, CustomTestStringConvertible {
    typealias Body = @Sendable (HTTPRequest, Next) async throws -> HTTPResponse

    /// The rule.
    let rule: String
    let roles: [ChainRole]
    let make: InterceptorConformance.Factory

    init(_ rule: String, _ roles: [ChainRole] = [], make: @escaping InterceptorConformance.Factory) {
        self.rule = rule
        self.roles = roles
        self.make = make
    }

    init(_ rule: String, _ roles: [ChainRole] = [], _ body: @escaping Body) {
        self.init(rule, roles, make: { _ in AnyInterceptor.intercept { try await body($0, $1) } })
    }

    var testDescription: String { rule }

    static let all = messages + streams + ends + concurrency + callers
}

/// Wrong on requests and responses.
extension BrokenInterceptor {
    static let messages: [Self] = [
        Self("theRequestGoesOnUnchanged") { request, next in
            var request = request
            request.headerFields.remove(.accept)
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
            for field in request.headerFields.sorted(by: { $0.value < $1.value }) { sorted.append(field) }
            request.headerFields = sorted
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
            if let bytes = response.body.bytes {
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
            if let bytes = response.body.bytes {
                response.body = HTTPBody(bytes.dropLast())
            } else {
                response.body = response.body.map { $0.dropLast() }
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

/// Wrong on streams.
extension BrokenInterceptor {
    static let streams: [Self] = [
        Self("aStreamStaysAStream") { request, next in
            var response = try await next(request)
            response.body = HTTPBody(try await response.body.collect(upTo: 1 << 24))
            return response
        },
        Self("theFirstByteIsNotDelayed") { request, next in try await bent(request, next) { HeldBack(body: $0) } },
        Self("aStreamIsReadAtItsReadersPace") { request, next in
            var response = try await next(request)
            guard response.body.bytes == nil else { return response }
            let (body, (stream, continuation)) = (response.body, AsyncThrowingStream.makeStream(of: Data.self))
            let pump = Task {
                do {
                    for try await chunk in body { continuation.yield(chunk) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            response.body = .oneShot(stream, length: body.length) {
                pump.cancel()
                body.discard()
            }
            return response
        },
        Self("theEndOfAStreamIsTold") { request, next in try await bent(request, next) { Endless(body: $0) } },
        Self("theErrorOfAStreamIsTold") { request, next in try await bent(request, next) { Swallowing(body: $0) } },
        Self("aDiscardedStreamIsDiscardedAtItsSource") { request, next in
            var response = try await next(request)
            guard response.body.bytes == nil else { return response }
            response.body = .oneShot(Plain(body: response.body), length: response.body.length)
            return response
        },
        Self("aResponseThatIsNotReturnedIsDiscarded", [.retries]) { request, next in
            let response = try await next(request)
            guard response.status == 503, request.method.isIdempotent, request.body.isRestartable else {
                return response
            }
            return try await next(request)
        },
    ]

    /// A response whose stream, if it has one, is read through another sequence.
    private static func bent<Chunks: AsyncSequence & Sendable>(
        _ request: HTTPRequest,
        _ next: Next,
        _ bend: @escaping @Sendable (HTTPBody) -> Chunks
    ) async throws -> HTTPResponse where Chunks.Element == Data {
        var response = try await next(request)
        guard response.body.bytes == nil else { return response }
        response.body = response.body.wrapped(length: response.body.length, bend)
        return response
    }

    /// Returns each chunk only when the next one has come.
    private struct HeldBack: AsyncSequence, Sendable {
        let body: HTTPBody
        func makeAsyncIterator() -> Iterator { Iterator(source: body.makeAsyncIterator()) }

        struct Iterator: AsyncIteratorProtocol {
            var source: HTTPBody.AsyncIterator
            var held: Data?

            mutating func next() async throws -> Data? {
                if held == nil { held = try await source.next() }
                let chunk = held
                held = try await source.next()
                return chunk
            }
        }
    }

    /// Waits for ever at the end.
    private struct Endless: AsyncSequence, Sendable {
        let body: HTTPBody
        func makeAsyncIterator() -> Iterator { Iterator(source: body.makeAsyncIterator()) }

        struct Iterator: AsyncIteratorProtocol {
            var source: HTTPBody.AsyncIterator
            mutating func next() async throws -> Data? {
                if let chunk = try await source.next() { return chunk }
                for await _ in AsyncStream(Data.self, { _ in }) {}
                return nil
            }
        }
    }

    /// Takes an error for the end.
    private struct Swallowing: AsyncSequence, Sendable {
        let body: HTTPBody
        func makeAsyncIterator() -> Iterator { Iterator(source: body.makeAsyncIterator()) }

        struct Iterator: AsyncIteratorProtocol {
            var source: HTTPBody.AsyncIterator
            mutating func next() async throws -> Data? {
                do {
                    return try await source.next()
                } catch let error as CancellationError {
                    throw error
                } catch {
                    return nil
                }
            }
        }
    }

    /// The same chunks, without a way to discard them.
    private struct Plain: AsyncSequence, Sendable {
        let body: HTTPBody
        func makeAsyncIterator() -> HTTPBody.AsyncIterator { body.makeAsyncIterator() }
    }
}
