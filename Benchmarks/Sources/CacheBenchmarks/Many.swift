import Foundation
import Harness
import Interceptors

private let count = 200_000

private func store(_ parent: URL) -> DiskCacheStore {
    DiskCacheStore(at: parent, byteLimit: 4_000_000_000, entryLimit: count)
}

/// Measures 200,000 entries: their memory, opening a store over them, and making room for more.
@concurrent
func measureMany() async throws {
    let parent = folder.appending(path: "many")
    let first = store(parent)
    let chain = InterceptorChain([.cache(first)], transport: Origin())
    print("\n\(count) entries on disk")
    try await measured("storing the first entry:") { _ = try await chain.send(thing(0)) }
    for number in 1..<1_000 { _ = try await chain.send(thing(number)) }
    let before = residentMemory()
    try await measured("storing all entries:") {
        for number in 1_000..<count { _ = try await chain.send(thing(number)) }
    }
    print("usage:", try await first.usage())
    goal("memory used for \(count) entries on disk", residentMemory() - before, atMost: 8, "MB")
    for name in ["opening a new store over them, with its first hit:", "again, with another store:"] {
        let milliseconds = try await measured(name) {
            let again = InterceptorChain([.cache(store(parent))], transport: Origin())
            guard try await again.send(thing(123)).context.cacheOutcome?.result == .hit else { throw Wrong() }
        }
        goal("opening a store over \(count) entries, with its first hit", milliseconds, atMost: 2, "ms")
    }
    var times: [Duration] = []
    for number in stride(from: 0, to: count, by: 20) {
        let request = try thing(number)
        let start = ContinuousClock.now
        _ = try await chain.send(request)
        times.append(start.duration(to: .now))
    }
    print("hits spread over all entries:", Quantiles(times))
    times = []
    try await measured("storing 20,000 more, which evicts as many:") {
        for number in count..<(count + 20_000) {
            let request = try thing(number)
            let start = ContinuousClock.now
            _ = try await chain.send(request)
            times.append(start.duration(to: .now))
        }
    }
    print("each request:", Quantiles(times), "usage:", try await first.usage())
    try await measured("clearing all:") { try await first.removeAll() }
}
