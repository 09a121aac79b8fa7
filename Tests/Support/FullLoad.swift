import Foundation

/// How much the tests of load, and those with random inputs, try: as much as fits into every run, or all.
public enum FullLoad {
    /// Whether INTERCEPTORS_FULL_LOAD is set.
    public static let isOn = ProcessInfo.processInfo.environment["INTERCEPTORS_FULL_LOAD"] != nil

    /// A number of rounds: the usual one, or the full one if INTERCEPTORS_FULL_LOAD is set.
    public static func count<Number: BinaryInteger>(_ usual: Number, full: Number) -> Number { isOn ? full : usual }
}

/// The seed from which tests make their random inputs.
///
/// It is the day's number, so that each day tries other inputs and a failure can be repeated. `Scripts/test` prints it.
public enum DailySeed {
    /// INTERCEPTORS_SEED, or the number of days since 1970.
    public static let value: UInt64 =
        ProcessInfo.processInfo.environment["INTERCEPTORS_SEED"].flatMap { UInt64($0) }
        ?? UInt64(Date().timeIntervalSince1970 / 86_400)

    /// The seed of the case with this number. Two days have no case in common.
    public static func of(_ number: UInt64) -> UInt64 { value &* 1_000_000 &+ number }
}
