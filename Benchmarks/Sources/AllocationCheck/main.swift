import Foundation
import Harness
import Middlewares
import Synchronization

// Allocation counts don't vary with the load of the machine, so they can be held to thresholds in CI. A threshold that a
// change makes too high is lowered with it; one that it makes too low is a regression.

struct Pass: Interceptor {
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await next(request)
    }
}

struct Append: Interceptor {
    let name: HTTPField.Name

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        request.headerFields.append(name, "value")
        return try await next(request)
    }
}

struct Canned: Transport {
    let response: HTTPResponse
    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse { response }
}

guard let url = URL(string: "http://127.0.0.1/users/42") else { exit(1) }
let canned = Canned(response: HTTPResponse(status: 200, url: url))
func check(_ name: String, atMost threshold: Double, _ interceptors: [any Interceptor]) async throws -> Bool {
    let chain = InterceptorChain(interceptors, transport: canned)
    let count = try await allocations { repetitions in
        for _ in 0..<repetitions { _ = try await chain.send(HTTPRequest(url: url)) }
    }
    let verdict = count <= threshold ? "ok" : "TOO MANY"
    print("\(verdict)  \(name): \(count) allocations a request, at most \(threshold)")
    return count <= threshold
}

/// An interceptor that allocates an object for each request: what it counts shows that counting works.
struct Allocate: Interceptor {
    final class Object: Sendable {}
    static let last = Mutex(Object())

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        Self.last.withLock { $0 = Object() }
        return try await next(request)
    }
}

let allocating = InterceptorChain([Allocate()], transport: canned)
let counted = try await allocations { for _ in 0..<$0 { _ = try await allocating.send(HTTPRequest(url: url)) } }
#if os(Linux)
guard counted >= 1 else {
    print("TOO FEW  one that allocates an object: \(counted) allocations a request")
    exit(1)
}
#else
guard counted >= 1 else {
    print("Allocations can't be counted on this system: nothing was checked.")
    exit(0)
}
#endif

let names = (0..<10).compactMap { HTTPField.Name("X-\($0)") }
let results = [
    try await check("no interceptor", atMost: 0, []),
    try await check("20 that pass on", atMost: 0, Array(repeating: Pass(), count: 20)),
    try await check("8 that append", atMost: 1, names.prefix(8).map(Append.init)),
    try await check("10 that append", atMost: 2, names.map(Append.init)),
    try await check("logging that is off", atMost: 0, [.logging(.off)]),
]
exit(results.contains(false) ? 1 : 0)
