internal import Interceptors

/// The random numbers of one request's faults.
///
/// With a seed, the numbers of a fault depend only on the seed, the fault's position, the request, and how often the request
/// came. Other requests and other faults don't change them.
struct FaultChance {
    /// `nil` without a seed.
    private let key: UInt64?
    private let random: RandomSource

    /// Creates chances from a random source.
    init(_ random: RandomSource) {
        key = nil
        self.random = random
    }

    /// Creates chances from a seed.
    ///
    /// - Parameters:
    ///   - seed: the seed.
    ///   - request: the ``identity(_:_:)`` of the request.
    ///   - count: how often the request came before.
    init(seed: UInt64, request: UInt64, count: UInt64) {
        key = [request, count].reduce(seed, Self.mixed)
        random = .system
    }

    /// The source of one fault's numbers.
    func source(ofFault index: Int) -> RandomSource {
        key.map { .seeded(Self.mixed($0, UInt64(index))) } ?? random
    }

    /// A number for a method and a URL, the same on every platform and in every process.
    static func identity(_ method: HTTPRequest.Method, _ url: String) -> UInt64 {
        "\(method) \(url)".utf8.reduce(0) { mixed($0, UInt64($1)) }
    }

    /// A number that depends on both others. The constant is SplitMix64's step, which keeps zeros from staying zero.
    private static func mixed(_ one: UInt64, _ other: UInt64) -> UInt64 {
        SplitMix.mixed((one ^ other) &+ 0x9E37_79B9_7F4A_7C15)
    }
}

/// Counts how often each request came, in bounded memory.
struct RequestCounts {
    /// The number of requests that are counted each.
    static let limit = 10_000

    private var counts: [UInt64: UInt64] = [:]

    /// Counts a request, and returns its count before.
    mutating func count(_ request: UInt64) -> UInt64 {
        // Beyond the limit, all requests share one count. Without a count, a request would meet the same fault in each attempt.
        let key = counts[request] != nil || counts.count < Self.limit ? request : 0
        defer { counts[key, default: 0] += 1 }
        return counts[key] ?? 0
    }
}
