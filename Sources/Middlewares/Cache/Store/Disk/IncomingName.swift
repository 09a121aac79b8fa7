internal import Foundation
internal import HTTPSyntax

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// The name of the file of a body on its way, which tells the process that writes it.
///
/// A lock would tell the same, but it would be held for a whole download: see ``OpenFile/tryLock()``.
enum IncomingName {
    /// After so long without a byte written a file counts as left behind, whoever made it. A download that goes on after
    /// that is not stored.
    static let patience: Int64 = 3_600_000_000_000

    // Processes of other machines, or containers, have other numbers.
    private static let host: String = {
        // Not by Foundation, which may ask the network for the name.
        var name = [UInt8](repeating: 0, count: 256)
        _ = name.withUnsafeMutableBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in
                text.baseAddress.map { gethostname($0, text.count - 1) } ?? -1
            }
        }
        return PortableSHA256.digest(Array(name.prefix { $0 != 0 }))[..<4].hexadecimal
    }()
    // The number of an ended process may come again; the first process of a container always has the same.
    private static let process = String(UInt32.random(in: .min ... .max), radix: 16)

    static func make() -> String {
        let id = String(UInt64.random(in: .min ... .max), radix: 16)
        return "\(host)-\(String(getpid(), radix: 16))-\(process)-\(id)"
    }

    /// Whether nobody writes the file of this name any more.
    ///
    /// - Parameter age: the nanoseconds since something was written to it. A time in the future tells as much as one that is
    ///   long ago.
    static func isLeftover(_ name: String, age: Int64) -> Bool {
        if age > patience || age < -patience { return true }
        let parts = name.split(separator: "-")
        guard parts.count == 4, let number = pid_t(parts[1], radix: 16), number > 0 else { return true }
        guard parts[0] == host else { return false }
        if number == getpid() { return parts[2] != process }
        return kill(number, 0) != 0 && errno == ESRCH
    }
}
