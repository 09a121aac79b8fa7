import Foundation

/// Whether tests of load run at full length, as in CI: INTERCEPTORS_FULL_LOAD is set.
public enum FullLoad {
    /// Whether INTERCEPTORS_FULL_LOAD is set.
    public static let isOn = ProcessInfo.processInfo.environment["INTERCEPTORS_FULL_LOAD"] != nil
}
