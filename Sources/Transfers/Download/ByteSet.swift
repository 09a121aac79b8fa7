internal import Interceptors

/// Bytes of a content: those from its start, and ranges after gaps.
///
/// A content that arrives in order is one number, and allocates nothing.
struct ByteSet: Sendable, Hashable {
    /// The number of bytes from the start.
    private(set) var prefix: Int64
    /// The ranges after the first gap, in order. None touches another.
    private(set) var later: [Range<Int64>] = []

    /// The bytes from the start up to an offset.
    init(upTo prefix: Int64 = 0) { self.prefix = prefix }

    /// The number of bytes.
    var count: Int64 { later.reduce(prefix) { $0 + ($1.upperBound - $1.lowerBound) } }

    /// The offset after the last byte.
    var end: Int64 { later.last?.upperBound ?? prefix }

    /// The missing ranges of a content, in order.
    func gaps(upTo total: Int64) -> [Range<Int64>] {
        var gaps: [Range<Int64>] = []
        var start = prefix
        for range in later where range.lowerBound < total {
            gaps.append(start..<range.lowerBound)
            start = range.upperBound
        }
        if start < total { gaps.append(start..<total) }
        return gaps
    }

    /// The first missing range of a content; `nil` if the content is whole.
    func firstGap(upTo total: Int64) -> Range<Int64>? {
        let end = min(total, later.first?.lowerBound ?? total)
        return prefix < end ? prefix..<end : nil
    }

    mutating func insert(_ range: Range<Int64>) {
        guard !range.isEmpty else { return }
        var (start, end) = (range.lowerBound, range.upperBound)
        let first = later.firstIndex { $0.upperBound >= range.lowerBound } ?? later.count
        var last = first
        while last < later.count, later[last].lowerBound <= end {
            start = min(start, later[last].lowerBound)
            end = max(end, later[last].upperBound)
            last += 1
        }
        guard start <= prefix else { return later.replaceSubrange(first..<last, with: CollectionOfOne(start..<end)) }
        prefix = max(prefix, end)
        if last > 0 { later.removeSubrange(..<last) }
    }

    mutating func remove(_ range: Range<Int64>) {
        guard !range.isEmpty else { return }
        let all = prefix > 0 ? [0..<prefix] + later : later
        self = Self(
            all.flatMap { held in
                let start = held.clamped(to: .min..<range.lowerBound)
                return [start, held.clamped(to: range.upperBound..<Int64.max)].filter { !$0.isEmpty }
            }
        )
    }

    /// - Parameter ranges: in order. None is empty, and none touches another.
    private init(_ ranges: [Range<Int64>]) {
        let hasStart = ranges.first?.lowerBound == 0
        prefix = hasStart ? ranges[0].upperBound : 0
        later = hasStart ? Array(ranges.dropFirst()) : ranges
    }
}

/// The encoded form is a list of bounds: the first byte of each range, and the offset after its last one.
extension ByteSet: Codable {
    init(from decoder: any Decoder) throws {
        let bounds = try decoder.singleValueContainer().decode([Int64].self)
        // Strictly ascending bounds are ranges that touch nowhere.
        guard bounds.count.isMultiple(of: 2), (bounds.first ?? 0) >= 0,
            zip(bounds, bounds.dropFirst()).allSatisfy({ $0 < $1 })
        else {
            let context = DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "No ranges.")
            throw DecodingError.dataCorrupted(context)
        }
        self.init(stride(from: 0, to: bounds.count, by: 2).map { bounds[$0]..<bounds[$0 + 1] })
    }

    func encode(to encoder: any Encoder) throws {
        let start = prefix > 0 ? [0, prefix] : []
        var container = encoder.singleValueContainer()
        try container.encode(start + later.flatMap { [$0.lowerBound, $0.upperBound] })
    }
}
