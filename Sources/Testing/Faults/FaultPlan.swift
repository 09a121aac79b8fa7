internal import Foundation
internal import Interceptors
internal import Synchronization

/// Chooses and counts the faults of each request.
final class FaultPlan: Sendable {
    private let faults: [Fault]
    /// How often each fault happened.
    private let counts: Mutex<[Int]>

    init(_ faults: [Fault]) {
        self.faults = faults
        counts = Mutex(faults.map { _ in 0 })
    }

    /// The sum of a request's waits, and its first other fault; `nil` for none.
    func next(for request: borrowing HTTPRequest, random: RandomSource) -> (latency: Duration, fault: Fault.Kind?)? {
        let (method, url) = (request.method, request.url.absoluteString)
        let matching = faults.indices.filter { faults[$0].scope?.matches(method, url) ?? true }
        return counts.withLock { counts in
            var (latency, kind) = (Duration?.none, Fault.Kind?.none)
            for index in matching {
                let fault = faults[index]
                guard random.unit() * 100 < fault.percent, counts[index] < fault.limit else { continue }
                if case .latency(let range) = fault.kind {
                    let wait = range.lowerBound + (range.upperBound - range.lowerBound) * random.unit()
                    latency = (latency ?? .zero) + wait
                } else if kind == nil {
                    kind = fault.kind
                } else {
                    continue
                }
                counts[index] += 1
            }
            return latency == nil && kind == nil ? nil : (latency ?? .zero, kind)
        }
    }
}
