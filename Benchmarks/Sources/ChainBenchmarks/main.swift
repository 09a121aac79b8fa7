import Foundation
import Harness
import Interceptors
import InterceptorsInsight
import RealisticChain

@Sendable func contender(_ name: String, _ send: @escaping Send) -> Contender {
    Contender(name) { repetitions in
        for _ in 0..<repetitions { _ = try await send(HTTPRequest(url: url)) }
    }
}

try await compareChains()
try await compareAppending()
try await compareJournal()
try await compareRealisticChain()
try await compareLogging()
try await compareEnvelopes()
try await measureRefresh()

/// Measures the cost of a hop with interceptors that only pass requests on.
func compareChains() async throws {
    let floor5 = fiveStatic(canned)
    let floor10 = fiveStatic(floor5)
    let floor20 = fiveStatic(fiveStatic(floor10))
    let floors: [(count: Int, send: Send)] = [
        (0, { try await canned.send($0) }), (5, { try await floor5.send($0) }), (10, { try await floor10.send($0) }),
        (20, { try await floor20.send($0) }),
    ]
    var costs: [Int: Cost] = [:]
    for (count, floor) in floors {
        let chain = InterceptorChain(Array(repeating: Pass(), count: count), transport: canned)
        let closures = ClosuresPerRequest(
            interceptors: Array(repeating: ClosurePass(), count: count),
            transport: canned
        )
        let hops = HopChain(Array(repeating: HopPass(), count: count), transport: canned)
        let openAPI = OpenAPIComposition(
            middlewares: Array(repeating: OpenAPIPass(), count: count),
            transport: canned,
            baseURL: url
        )
        costs[count] = try await compare(
            "A chain of \(count) pass-through interceptors",
            repetitions: 20_000,
            [
                contender("ours") { try await chain.send($0) },
                contender("closures composed per request") { try await closures.send($0) },
                contender("an object per hop") { try await hops.proceed($0) },
                contender("composed as in swift-openapi-runtime") { try await openAPI.send($0) },
                contender("chain known at compile time (floor)", floor),
            ]
        )["ours"]
    }
    if let none = costs[0]?.cpu, let all = costs[20]?.cpu {
        goal("a hop of 20 pass-through interceptors, CPU", (all - none) / 20, atMost: 50, "ns")
    }
    goal("allocations of 20 pass-through hops", costs[20]?.allocations, atMost: 0)
}

/// Compares chains of ten interceptors that each append a field.
func compareAppending() async throws {
    let names = (0..<10).compactMap { HTTPField.Name("X-\($0)") }
    let chain = InterceptorChain(names.map { Append(name: $0) }, transport: canned)
    let static10 = fiveAppending(names, fiveAppending(Array(names[5...]), canned))
    let costs = try await compare(
        "Ten interceptors that each append a field",
        repetitions: 20_000,
        [
            contender("ours") { try await chain.send($0) },
            contender("ten fields appended without a chain") { request in
                var request = request
                for name in names { request.headers.append(name, "value") }
                return try await canned.send(request)
            },
            contender("chain known at compile time (floor)") { try await static10.send($0) },
        ]
    )
    if let ours = costs["ours"]?.allocations, let fields = costs["ten fields appended without a chain"]?.allocations {
        goal("allocations of ten appending hops, without the fields' storage", ours - fields, atMost: 1)
    }
}

/// Measures the cost of a journal: for each hop that changes nothing, and for a thousand calls through the chain of ten.
func compareJournal() async throws {
    let passes: [any Interceptor] = Array(repeating: Pass(), count: 20)
    let off = InterceptorChain(passes, transport: canned)
    let on = InterceptorChain(passes, transport: canned, observer: Journal())
    let costs = try await compare(
        "20 pass-through interceptors with a journal",
        repetitions: 5_000,
        [contender("off") { try await off.send($0) }, contender("on") { try await on.send($0) }]
    )
    if let off = costs["off"]?.cpu, let on = costs["on"]?.cpu {
        goal("a hop with the journal on, CPU", (on - off) / 21, atMost: 1_200, "ns")
    }
    let title = "A thousand calls in a journal"
    guard isWanted(table: title) else { return }
    let realistic = RealisticChain(url: url)
    let journal = Journal(bodyLimit: 0)
    let chain = InterceptorChain(
        realistic.named.map(\.interceptor),
        transport: Canned(response: realistic.response),
        observer: journal
    )
    // The first thousand fill the cache's store.
    for _ in 0..<1_000 { _ = try await chain.send(HTTPRequest(url: url)) }
    let full = bytesInUse()
    journal.removeAll()
    let empty = bytesInUse()
    guard let full, let empty else { return }
    print("\n\(title)\n  \((full - empty) / 1_000) bytes per call")
    goal("1,000 calls through the chain of ten, without bodies", Double(full - empty) / 1_000_000, atMost: 4.2, "MB")
}
