internal import Foundation

/// The file with the key of the digests that replace credentials in the directory.
///
/// The first process creates it. Processes that come at the same time all get the same key.
enum DiskKey {
    static let length = 32
    private static let name = "key"

    /// Returns the key of a directory, and creates it if needed.
    ///
    /// - Parameter known: the key that the directory had before it was removed.
    static func get(in root: OpenedFile, known: [UInt8]?) throws(SystemCallFailure) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        let new = known ?? (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        // Anything else with the file's name is removed.
        for _ in 0..<2 {
            let file = try OpenedFile.openOrMake(name, in: root) { new }
            let key = try file.bytes(at: 0, upTo: length + 1)
            if key.count == length, key.contains(where: { $0 != 0 }) { return key }
            try root.remove(name)
        }
        return new
    }
}
