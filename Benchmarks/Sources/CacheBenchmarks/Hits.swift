import Foundation
import Harness
import Interceptors

private let count = 100

/// Sends requests for stored responses, off the main actor.
@concurrent
private func send(_ requests: [HTTPRequest], _ chain: InterceptorChain, times: Int, from first: Int = 0) async throws {
    for index in first..<(first + times) { _ = try await chain.send(requests[index % count]) }
}

@concurrent
private func times(_ requests: [HTTPRequest], _ chain: InterceptorChain) async throws -> [Duration] {
    var times: [Duration] = []
    for index in 0..<50_000 {
        let start = ContinuousClock.now
        let response = try await chain.send(requests[index % count])
        times.append(start.duration(to: .now))
        guard response.context.cacheOutcome?.result == .hit, response.body.length == 2_048 else { throw Wrong() }
    }
    return times
}

func measureHits() async throws {
    let requests = try (0..<count).map(thing)
    let none = InterceptorChain([], transport: Origin())
    let memory = InterceptorChain([.cache(.memory())], transport: Origin())
    let disk = InterceptorChain([.cache(.disk(at: folder))], transport: Origin())
    for chain in [memory, disk] { try await send(requests, chain, times: count) }

    func contender(_ name: String, _ chain: InterceptorChain) -> Contender {
        Contender(name) { count in try await send(requests, chain, times: count) }
    }
    try await compare(
        "A 2 kB hit, through a chain with only the cache",
        repetitions: 5_000,
        [contender("no cache", none), contender("memory", memory), contender("disk", disk)]
    )
    print()
    for (name, chain, limit) in [("memory", memory, 3.0), ("disk", disk, 20)] {
        let quantiles = Quantiles(try await times(requests, chain))
        print("each hit from \(name):", quantiles)
        goal("a 2 kB hit from \(name), median", quantiles.median, atMost: limit, "µs")
    }

    func parallel(_ name: String, _ chain: InterceptorChain) -> Contender {
        Contender(name) { count in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<8 {
                    group.addTask { try await send(requests, chain, times: count / 8, from: 12 * task) }
                }
                try await group.waitForAll()
            }
        }
    }
    let together = try await compare(
        "The same from 8 tasks",
        repetitions: 16_000,
        [parallel("memory", memory), parallel("disk", disk)]
    )
    for name in ["memory", "disk"] {
        if let cost = together[name] { print(name, String(format: "%.0f hits per second", 1e9 / cost.wall)) }
    }
    // Each lookup on disk leaves the main actor and returns to it.
    let onMain = Contender("disk, from the main actor") { count in
        try await sendFromMain(requests, disk, times: count)
    }
    try await compare("A hit for a caller on the main actor", repetitions: 2_000, [onMain])
}

@MainActor
private func sendFromMain(_ requests: [HTTPRequest], _ chain: InterceptorChain, times: Int) async throws {
    for index in 0..<times { _ = try await chain.send(requests[index % count]) }
}
