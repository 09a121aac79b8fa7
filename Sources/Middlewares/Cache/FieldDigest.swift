internal import Foundation
internal import InterceptorsCore
internal import InterceptorsSyntax
internal import Synchronization

/// Replaces secrets of a request in stored entries: HMAC-SHA256 (RFC 2104) with a key from the store.
///
/// Without the key, a reader of the store can't test guesses of a credential. That holds for the names of partitions, and for
/// the values of fields that `Vary` names.
final class FieldDigest: Sendable {
    /// A digest whose key lasts until the process ends.
    static let ofProcess = FieldDigest(key: Array(processKey))
    static let processKey = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })

    private static let blockSize = 64
    /// `nil` until ``prepare(_:report:)`` gets the store's key. Until then, the key of the process is used.
    private let key: Mutex<[UInt8]?>

    init(key: [UInt8]? = nil) { self.key = Mutex(key) }

    var isReady: Bool { key.withLock { $0 != nil } }

    /// Gets the key from a store. If the store fails, the key of the process stays in use, and the next call tries again.
    func prepare(_ store: any CacheStore, report: (any Error) -> Void) async {
        do {
            let stored = try await store.digestKey()
            key.withLock { $0 = $0 ?? Array(stored) }
        } catch {
            report(error)
        }
    }

    private var current: [UInt8] { key.withLock { $0 ?? Array(Self.processKey) } }

    /// The digest that is stored instead of a value.
    func text(for value: String) -> String { text(of: Array(value.utf8), after: "digest:") }

    /// A short text that tells partitions apart.
    func sign(of partition: String) -> String {
        Self.code(of: Array(partition.utf8), key: current)[..<4].hexadecimal(after: "partition ")
    }

    /// The first half of the authentication code of a message, in hexadecimal digits.
    func text(of message: [UInt8], after prefix: String) -> String {
        Self.code(of: message, key: current)[..<16].hexadecimal(after: prefix)
    }

    static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        var block = key.count > blockSize ? PortableSHA256.digest(key) : key
        block += [UInt8](repeating: 0, count: blockSize - block.count)
        let inner = PortableSHA256.digest(block.map { $0 ^ 0x36 } + message)
        return PortableSHA256.digest(block.map { $0 ^ 0x5C } + inner)
    }
}
