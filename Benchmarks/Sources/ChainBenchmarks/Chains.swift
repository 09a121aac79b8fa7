import Foundation
import Interceptors

let url = URL(string: "http://127.0.0.1/users/42") ?? URL(filePath: "/")
let canned = Canned(response: HTTPResponse(status: 200, body: "{}", url: url))

/// A pass-through interceptor.
struct Pass: Interceptor {
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await next(request)
    }
}

/// Appends a field.
struct Append: Interceptor {
    let name: HTTPField.Name

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        request.headers.append(name, "value")
        return try await next(request)
    }
}

/// A transport that always returns the same response, at once.
struct Canned: Transport {
    let response: HTTPResponse
    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse { response }
}

typealias Send = @Sendable (HTTPRequest) async throws -> HTTPResponse

/// An interceptor whose `next` is a closure, as in most libraries.
protocol ClosureChained: Sendable {
    func intercept(_ request: HTTPRequest, next: Send) async throws -> HTTPResponse
}

struct ClosurePass: ClosureChained {
    func intercept(_ request: HTTPRequest, next: Send) async throws -> HTTPResponse { try await next(request) }
}

/// A chain that composes closures for each request.
struct ClosuresPerRequest: Sendable {
    let interceptors: [any ClosureChained]
    let transport: any Transport

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let transport = transport
        var next: Send = { try await transport.send($0) }
        for interceptor in interceptors.reversed() {
            let inner = next
            next = { try await interceptor.intercept($0, next: inner) }
        }
        return try await next(request)
    }
}

/// A chain that composes closures for each request, like swift-openapi-runtime's client. Body, base URL and operation name
/// are passed beside the request. A wrapper around each hop records where an error came from.
struct OpenAPIComposition: Sendable {
    typealias Answer = (HTTPResponse, HTTPBody?)
    typealias Send = @Sendable (HTTPRequest, HTTPBody?, URL) async throws -> Answer

    let middlewares: [any OpenAPIChained]
    let transport: any Transport
    let baseURL: URL

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let operation = "getUser"
        @Sendable func bounded<Value>(
            _ work: () async throws -> Value,
            _ explain: (any Error) -> any Error
        ) async throws -> Value {
            do { return try await work() } catch let error as OperationFailure { throw error } catch {
                throw explain(error)
            }
        }
        @Sendable func failure(_ place: Any.Type?, _ error: any Error) -> any Error {
            OperationFailure(operation: operation, request: request, baseURL: baseURL, place: place, cause: error)
        }
        let transport = transport
        var next: Send = { request, body, _ in
            try await bounded {
                let response = try await transport.send(request)
                return (response, body)
            } _: {
                failure(nil, $0)
            }
        }
        for middleware in middlewares.reversed() {
            let inner = next
            next = { request, body, url in
                try await bounded {
                    try await middleware.intercept(request, body: body, baseURL: url, operation: operation, next: inner)
                } _: {
                    failure(type(of: middleware), $0)
                }
            }
        }
        return try await next(request, nil, baseURL).0
    }
}

struct OperationFailure: Error {
    let operation: String
    let request: HTTPRequest
    let baseURL: URL
    let place: Any.Type?
    let cause: any Error
}

protocol OpenAPIChained: Sendable {
    func intercept(
        _ request: HTTPRequest,
        body: HTTPBody?,
        baseURL: URL,
        operation: String,
        next: OpenAPIComposition.Send
    ) async throws -> OpenAPIComposition.Answer
}

struct OpenAPIPass: OpenAPIChained {
    func intercept(
        _ request: HTTPRequest,
        body: HTTPBody?,
        baseURL: URL,
        operation: String,
        next: OpenAPIComposition.Send
    ) async throws -> OpenAPIComposition.Answer {
        try await next(request, body, baseURL)
    }
}

/// A chain with an object per hop, like OkHttp's `RealInterceptorChain`.
final class HopChain: Sendable {
    private let interceptors: [any HopChained]
    private let transport: any Transport
    private let index: Int

    init(_ interceptors: [any HopChained], transport: any Transport, index: Int = 0) {
        self.interceptors = interceptors
        self.transport = transport
        self.index = index
    }

    func proceed(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard index < interceptors.count else { return try await transport.send(request) }
        let next = HopChain(interceptors, transport: transport, index: index + 1)
        return try await interceptors[index].intercept(request, chain: next)
    }
}

protocol HopChained: Sendable {
    func intercept(_ request: HTTPRequest, chain: HopChain) async throws -> HTTPResponse
}

struct HopPass: HopChained {
    func intercept(_ request: HTTPRequest, chain: HopChain) async throws -> HTTPResponse {
        try await chain.proceed(request)
    }
}

/// The floor: a chain known at compile time, which the compiler can inline.
struct StaticPass<Inner: Transport>: Transport {
    let inner: Inner
    init(_ inner: Inner) { self.inner = inner }
    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse { try await inner.send(request) }
}

struct StaticAppend<Inner: Transport>: Transport {
    let name: HTTPField.Name
    let inner: Inner

    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        request.headers.append(name, "value")
        return try await inner.send(request)
    }
}

func fiveStatic<Inner: Transport>(
    _ inner: Inner
) -> StaticPass<StaticPass<StaticPass<StaticPass<StaticPass<Inner>>>>> {
    StaticPass(StaticPass(StaticPass(StaticPass(StaticPass(inner)))))
}

func fiveAppending<Inner: Transport>(
    _ names: [HTTPField.Name],
    _ inner: Inner
) -> StaticAppend<StaticAppend<StaticAppend<StaticAppend<StaticAppend<Inner>>>>> {
    StaticAppend(
        name: names[0],
        inner: StaticAppend(
            name: names[1],
            inner: StaticAppend(
                name: names[2],
                inner: StaticAppend(name: names[3], inner: StaticAppend(name: names[4], inner: inner))
            )
        )
    )
}
