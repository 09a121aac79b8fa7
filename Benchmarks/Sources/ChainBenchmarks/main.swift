import Foundation
import Harness
import Middlewares

@Sendable func contender(_ name: String, _ send: @escaping Send) -> Contender {
    Contender(name) { repetitions in
        for _ in 0..<repetitions { _ = try await send(HTTPRequest(url: url)) }
    }
}

for count in [0, 5, 10, 20] {
    let chain = InterceptorChain(Array(repeating: Pass(), count: count), transport: canned)
    let closures = ClosuresPerRequest(interceptors: Array(repeating: ClosurePass(), count: count), transport: canned)
    let hops = HopChain(Array(repeating: HopPass(), count: count), transport: canned)
    try await compare(
        "A chain of \(count) interceptors that pass everything on",
        repetitions: 20_000,
        [
            contender("ours") { try await chain.send($0) },
            contender("closures per request (OpenAPI runtime)") { try await closures.send($0) },
            contender("an object per hop") { try await hops.proceed($0) },
        ]
    )
}

let static10 = StaticHop(
    inner: StaticHop(inner: StaticHop(inner: StaticHop(inner: StaticHop(inner: StaticHop(inner: canned)))))
)
let appending = InterceptorChain((0..<10).map { Append(name: HTTPField.Name("X-\($0)") ?? .accept) }, transport: canned)
try await compare(
    "Ten interceptors that each append a field",
    repetitions: 20_000,
    [
        contender("ours") { try await appending.send($0) },
        contender("the same fields without a chain") { request in
            var request = request
            for index in 0..<10 { request.headerFields.append(HTTPField.Name("X-\(index)") ?? .accept, "value") }
            return try await canned.send(request)
        },
        contender("five hops known to the compiler") { try await static10.send($0) },
    ]
)

try await compareRealisticChain()
try await compareLogging()
try await compareEnvelopes()
try await compareCacheHits()
try await measureRefresh()
