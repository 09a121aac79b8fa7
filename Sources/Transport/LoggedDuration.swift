extension Duration {
    /// The duration with about three digits, in µs, ms or s.
    package var logged: String {
        let (seconds, attoseconds) = components
        guard -1_000..<1_000 ~= seconds else { return "\(seconds) s" }
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        return switch microseconds {
        case ..<1_000: "\(microseconds) µs"
        case ..<10_000: Self.fraction(ofHundredths: microseconds / 10) + " ms"
        case ..<1_000_000: "\(microseconds / 1_000) ms"
        case ..<10_000_000: Self.fraction(ofHundredths: microseconds / 10_000) + " s"
        default: "\(microseconds / 1_000_000) s"
        }
    }

    private static func fraction(ofHundredths count: Int64) -> String {
        "\(count / 100).\(count % 100 / 10)\(count % 10)"
    }
}
