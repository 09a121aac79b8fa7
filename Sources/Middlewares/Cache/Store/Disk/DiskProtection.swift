internal import Foundation

/// How Apple's systems treat the directory, beyond its permissions: other systems have nothing of the kind.
struct DiskProtection: Sendable {
    #if canImport(Darwin)
    /// When the files can be read, on devices that encrypt them by a passcode.
    var type = FileProtectionType.completeUntilFirstUserAuthentication
    /// A cache can be asked for anew, and credentials of another device have no place in a backup.
    var isExcludedFromBackup = true

    // What is made in a directory has the class of the directory.
    func apply(to path: String) throws {
        #if !os(macOS)
        try FileManager.default.setAttributes([.protectionKey: type], ofItemAtPath: path)
        #endif
        var values = URLResourceValues()
        values.isExcludedFromBackup = isExcludedFromBackup
        var url = URL(filePath: path, directoryHint: .isDirectory)
        try url.setResourceValues(values)
    }
    #else
    func apply(to path: String) throws {}
    #endif
}
