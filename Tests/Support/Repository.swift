public import Foundation

/// The files of this package, for tests that look at them or run them.
public enum Repository {
    /// Its uppermost folder.
    public static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
}
