internal import Foundation

/// How Apple's systems protect and back up the directory. Other systems have no such settings.
struct DiskProtection: Sendable {
    #if canImport(Darwin)
    /// When files can be read on devices that encrypt with the passcode.
    var type = FileProtectionType.completeUntilFirstUserAuthentication
    /// Whether backups leave the directory out. A cache can be fetched again, and credentials don't belong on other devices.
    var isExcludedFromBackup = true

    // New files inherit the protection class of their directory. Best effort, because a cache on a volume without such
    // attributes is better than none.
    func apply(to path: String) {
        #if !os(macOS)
        try? FileManager.default.setAttributes([.protectionKey: type], ofItemAtPath: path)
        #endif
        var values = URLResourceValues()
        values.isExcludedFromBackup = isExcludedFromBackup
        var url = URL(filePath: path, directoryHint: .isDirectory)
        try? url.setResourceValues(values)
    }
    #else
    func apply(to path: String) {}
    #endif
}
