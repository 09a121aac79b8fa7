public import Foundation

/// The files of this package, for tests that read or run them.
public enum Repository {
    /// The package's root folder.
    public static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
}
