internal import Foundation

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Android)
internal import Android
#endif

/// The file with the key of the digests that replace credentials in the directory.
///
/// The first process creates it. Processes that come at the same time all get the same key.
enum DiskKey {
    static let length = 32
    private static let name = "key"

    /// Returns the key of a directory, and creates it if needed.
    ///
    /// - Parameter known: the key that the directory had before it was removed.
    static func get(in root: OpenFile, known: [UInt8]?) throws(SystemError) -> [UInt8] {
        if let key = try read(in: root) { return key }
        var generator = SystemRandomNumberGenerator()
        let key = known ?? (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        try root.makeOnce(name, key)
        return try read(in: root) ?? key
    }

    /// Reads the key; `nil` if the file is missing. Anything else with the file's name is removed.
    private static func read(in root: OpenFile) throws(SystemError) -> [UInt8]? {
        do throws(SystemError) {
            let file = try OpenFile.open(name, in: root, O_RDONLY)
            let status = try file.status()
            if status.isRegular, status.size == Int64(length) {
                let key = try file.bytes(length, at: 0)
                if key.count == length, key.contains(where: { $0 != 0 }) { return key }
            }
        } catch {
            if error.isMissing { return nil }
            guard error.isOfAnotherKind else { throw error }
        }
        try root.remove(name)
        return nil
    }
}
