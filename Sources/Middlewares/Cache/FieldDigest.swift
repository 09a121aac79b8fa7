internal import Foundation
internal import HTTPSyntax
internal import Interceptors
internal import Synchronization

/// Stands in for what is secret in a request: HMAC-SHA256 (RFC 2104) with a key of the store.
///
/// Whoever reads what is stored, but not the key, can't find out a credential by trying: neither from the name of a partition
/// nor from what `Vary` names.
final class FieldDigest: Sendable, Equatable {
    /// With a key that lasts as long as the process.
    static let ofProcess = FieldDigest(key: Array(processKey))
    static let processKey = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })

    private static let blockSize = 64
    private let key: Mutex<[UInt8]>
    private let hasKey: Atomic<Bool>

    /// One that is to get its key, and does with that of the process until then.
    init() {
        key = Mutex(Array(Self.processKey))
        hasKey = Atomic(false)
    }

    init(key: [UInt8]) {
        self.key = Mutex(key)
        hasKey = Atomic(true)
    }

    var isReady: Bool { hasKey.load(ordering: .acquiring) }

    /// Gets the key of a store, and that of the process if the store fails.
    func prepare(_ store: any CacheStore, report: (any Error) -> Void) async {
        do {
            let stored = try await store.digestKey()
            key.withLock { key in
                if !isReady { key = Array(stored) }
                hasKey.store(true, ordering: .releasing)
            }
        } catch {
            report(error)
        }
    }

    /// What is kept in the place of a value.
    func text(for value: String) -> String { text(of: Array(value.utf8), after: "digest:") }

    /// The first half of the code of a message, in hexadecimal digits.
    func text(of message: [UInt8], after prefix: String) -> String {
        Self.code(of: message, key: key.withLock { $0 })[..<16].hexadecimal(after: prefix)
    }

    static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        var block = key.count > blockSize ? PortableSHA256.digest(key) : key
        block += [UInt8](repeating: 0, count: blockSize - block.count)
        let inner = PortableSHA256.digest(block.map { $0 ^ 0x36 } + message)
        return PortableSHA256.digest(block.map { $0 ^ 0x5C } + inner)
    }

    static func == (left: FieldDigest, right: FieldDigest) -> Bool { left === right }
}
