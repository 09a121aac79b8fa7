import Foundation
import Middlewares

let url = URL(string: "http://127.0.0.1/users/42") ?? URL(filePath: "/")
let canned = Canned(response: HTTPResponse(status: 200, body: "{}", url: url))

/// Passes everything on.
struct Pass: Interceptor {
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await next(request)
    }
}

/// Adds a field.
struct Append: Interceptor {
    let name: HTTPField.Name

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        request.headerFields.append(name, "value")
        return try await next(request)
    }
}

/// Answers at once, always the same.
struct Canned: Transport {
    let response: HTTPResponse
    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse { response }
}

typealias Send = @Sendable (HTTPRequest) async throws -> HTTPResponse

/// The interceptor of a chain whose `next` is a closure, as most libraries have it.
protocol ClosureChained: Sendable {
    func intercept(_ request: HTTPRequest, next: Send) async throws -> HTTPResponse
}

struct ClosurePass: ClosureChained {
    func intercept(_ request: HTTPRequest, next: Send) async throws -> HTTPResponse { try await next(request) }
}

/// Closures composed anew for each request.
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

/// An object for each hop, as OkHttp's `RealInterceptorChain` has it.
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

/// What a compiler makes of a chain that is known when it is compiled: the floor.
struct StaticHop<Inner: Transport>: Transport {
    let inner: Inner
    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse { try await inner.send(request) }
}
