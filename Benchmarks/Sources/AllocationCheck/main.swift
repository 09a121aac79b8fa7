import Foundation
import Harness
import Interceptors
import RealisticChain
import Synchronization

// Allocation counts don't depend on the machine's load, so CI can check them against thresholds. A change that needs fewer
// allocations lowers the threshold; a change that needs more is a regression.

struct Pass: Interceptor {
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await next(request)
    }
}

struct Append: Interceptor {
    let name: HTTPField.Name

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        request.headers.append(name, "value")
        return try await next(request)
    }
}

struct Canned: Transport {
    let response: HTTPResponse
    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse { response }
}

guard let url = URL(string: "http://127.0.0.1/users/42") else { exit(1) }
let canned = Canned(response: HTTPResponse(status: 200, url: url))
func check(
    _ name: String,
    atMost threshold: Double,
    _ interceptors: [any Interceptor],
    _ transport: Canned = canned
) async throws -> Bool {
    let chain = InterceptorChain(interceptors, transport: transport)
    let count = try await allocations { repetitions in
        for _ in 0..<repetitions { _ = try await chain.send(HTTPRequest(url: url)) }
    }
    let verdict = count <= threshold ? "ok" : "TOO MANY"
    print("\(verdict)  \(name): \(count) allocations per request, at most \(threshold)")
    return count <= threshold
}

/// An interceptor that allocates an object for each request, to check that counting works.
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
    print("TOO FEW  an interceptor that allocates an object: \(counted) allocations per request")
    exit(1)
}
#else
guard counted >= 1 else {
    print("Allocations can't be counted on this system: nothing was checked.")
    exit(0)
}
#endif

/// A response that the cache serves from its store after the first request.
let fresh = Canned(response: HTTPResponse(status: 200, headers: [.cacheControl: "max-age=3600"], url: url))
let realistic = RealisticChain(url: url)

/// A transport that returns each response once and releases it.
final class OneAfterTheOther: Transport {
    let responses: Mutex<[HTTPResponse]>

    init(_ responses: [HTTPResponse]) { self.responses = Mutex(responses) }

    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        responses.withLock { $0.popLast() } ?? HTTPResponse(status: 500, url: request.url)
    }
}

// `@concurrent`, because large bodies are unwrapped off the caller's actor: no change of executor is counted.
@concurrent
func checkUnwrapping(_ name: String, payload: String, atMost threshold: Double) async throws -> Bool {
    let repetitions = 50
    // One run to warm up and five that are counted: `allocations` sends six times the repetitions.
    let transport = OneAfterTheOther(
        (0..<repetitions * 6).map { _ in
            HTTPResponse(status: 200, body: HTTPBody(#"{"code":200,"object":"\#(payload)"}"#), url: url)
        }
    )
    let chain = InterceptorChain([.unwrapEnvelope(payload: "object")], transport: transport)
    let count = try await allocations(repetitions: repetitions) { repetitions in
        for _ in 0..<repetitions { _ = try await chain.send(HTTPRequest(url: url)) }
    }
    let isWithin = count <= threshold && transport.responses.withLock { $0.isEmpty }
    print("\(isWithin ? "ok" : "TOO MANY")  \(name): \(count) allocations per request, at most \(threshold)")
    return isWithin
}

let names = (0..<10).compactMap { HTTPField.Name("X-\($0)") }
let results = [
    try await check("no interceptor", atMost: 0, []),
    try await check("20 pass-through interceptors", atMost: 0, Array(repeating: Pass(), count: 20)),
    try await check("8 that append a field", atMost: 1, names.prefix(8).map(Append.init)),
    try await check("10 that append a field", atMost: 2, names.map(Append.init)),
    try await check("logging when off", atMost: 0, [.logging(.off)]),
    try await check("logging of the fields", atMost: 2, [.logging(.headers, to: LogSink { _ in })]),
    try await check("a cache hit", atMost: 5, [.cache(.memory())], fresh),
    // One of these allocations marks the request's response as shared. Others are the request's ticket with its claim and the
    // key's state, the witness of redirects, the copy of the body, the text of `Cache-Status`, and the list of entries to replace.
    try await check("a cache miss, stored", atMost: 16, [.cache(.memory())]),
    // The cache scans the envelope before it stores the response, which allocates once more.
    try await check(
        "a realistic chain of ten",
        // Two of them make the ID of the transaction.
        atMost: 31,
        realistic.named.map(\.interceptor),
        Canned(response: realistic.response)
    ),
    // Copying the payload's bytes allocates, and so does the condition for a cache that the request carries.
    try await checkUnwrapping("an envelope of 1 kB", payload: String(repeating: "x", count: 1_000), atMost: 3),
    try await checkUnwrapping("an envelope of 100 kB", payload: String(repeating: "x", count: 100_000), atMost: 3),
]
exit(results.contains(false) ? 1 : 0)
