internal import Foundation
internal import InterceptorsSyntax

/// The name of a body's file in `incoming`, which identifies the process that writes the file.
///
/// A lock would identify it too, but would be held for a whole download: see `DiskDirectory`.
enum IncomingName {
    /// How many nanoseconds a file may go without a write before it counts as left behind, whoever created it: one hour. A
    /// download that continues later isn't stored.
    static let patience: Int64 = 3_600_000_000_000

    // Process IDs of other machines or containers mean nothing here.
    private static let host: String = {
        // Not from Foundation, which may ask the network for the name.
        var name = [UInt8](repeating: 0, count: 256)
        _ = name.withUnsafeMutableBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in
                text.baseAddress.map { gethostname($0, text.count - 1) } ?? -1
            }
        }
        return PortableSHA256.digest(Array(name.prefix { $0 != 0 }))[..<4].hexadecimal
    }()
    // The system reuses process IDs, and the first process of a container always has the same ID.
    private static let process = String(UInt32.random(in: .min ... .max), radix: 16)

    static func make() -> String {
        let id = String(UInt64.random(in: .min ... .max), radix: 16)
        return "\(host)-\(String(getpid(), radix: 16))-\(process)-\(id)"
    }

    /// Whether no process writes the file of this name any more.
    ///
    /// - Parameter age: the nanoseconds since the last write. A time far in the future counts as long ago.
    static func isLeftover(_ name: String, age: Int64) -> Bool {
        if age > patience || age < -patience { return true }
        let parts = name.split(separator: "-")
        guard parts.count == 4, let number = pid_t(parts[1], radix: 16), number > 0 else { return true }
        guard parts[0] == host else { return false }
        if number == getpid() { return parts[2] != process }
        return kill(number, 0) != 0 && errno == ESRCH
    }
}
