extension Duration {
    /// A duration to three digits, in the unit that suits it.
    var logged: String {
        let (seconds, attoseconds) = components
        guard -1_000..<1_000 ~= seconds else { return "\(seconds) s" }
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        return switch microseconds {
        case ..<1_000: String(microseconds) + " µs"
        case ..<10_000: Self.decimal(microseconds / 10) + " ms"
        case ..<1_000_000: "\(microseconds / 1_000) ms"
        case ..<10_000_000: Self.decimal(microseconds / 10_000) + " s"
        default: "\(microseconds / 1_000_000) s"
        }
    }

    private static func decimal(_ hundredths: Int64) -> String {
        let fraction = hundredths % 100
        return "\(hundredths / 100).\(fraction / 10)\(fraction % 10)"
    }
}
