import Foundation
import Harness
import Middlewares

// Allocation counts don't vary with the load of the machine, so they can be held to thresholds in CI.

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

let names = (0..<10).compactMap { HTTPField.Name("X-\($0)") }
let results = [
    try await check("no interceptor", atMost: 0, []),
    try await check("20 that pass on", atMost: 0, Array(repeating: Pass(), count: 20)),
    try await check("8 that append", atMost: 1, names.prefix(8).map(Append.init)),
    try await check("10 that append", atMost: 2, names.map(Append.init)),
]
exit(results.contains(false) ? 1 : 0)
