extension Duration {
    /// The duration with about three digits, in µs, ms or s.
    package var logged: String { TextBytes.making { $0.append(logged: self) } }
}

extension TextBytes {
    /// Adds a duration with about three digits, in µs, ms or s.
    package mutating func append(logged time: Duration) {
        let (seconds, attoseconds) = time.components
        guard -1_000..<1_000 ~= seconds else { return append(seconds, " s") }
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        switch microseconds {
        case ..<1_000: append(microseconds, " µs")
        case ..<10_000: append(hundredths: microseconds / 10, " ms")
        case ..<1_000_000: append(microseconds / 1_000, " ms")
        case ..<10_000_000: append(hundredths: microseconds / 10_000, " s")
        default: append(microseconds / 1_000_000, " s")
        }
    }

    private mutating func append(_ count: Int64, _ unit: StaticString) {
        if count < 0 { append(literal: "-") }
        append(count.magnitude)
        append(literal: unit)
    }

    private mutating func append(hundredths: Int64, _ unit: StaticString) {
        append((hundredths / 100).magnitude)
        append(literal: ".")
        append((hundredths % 100 / 10).magnitude)
        append((hundredths % 10).magnitude)
        append(literal: unit)
    }
}
