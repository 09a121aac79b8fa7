internal import Foundation
internal import Synchronization

extension HTTPBody {
    /// Tells without reading whether a body was replaced by another one.
    ///
    /// Bytes in memory are kept, so that no other bytes can take their address. A stream is not kept, because a reader may wait
    /// for its release: it has a number that no other one gets.
    package struct Identity: Sendable, Equatable {
        private enum Source {
            case bytes(Data)
            case numbered(UInt64)
        }

        // Up to this size, bytes may lie inside the `Data` itself and then have no address that stays.
        private static let smallCount = 32

        private let source: Source

        /// Whether the identity keeps content in memory.
        package var keepsBytes: Bool {
            if case .bytes(let bytes) = source { bytes.count > Self.smallCount } else { false }
        }

        package static func == (left: Self, right: Self) -> Bool {
            switch (left.source, right.source) {
            case (.bytes(let left), .bytes(let right)):
                guard left.count == right.count else { return false }
                if left.count <= smallCount { return left == right }
                return left.withUnsafeBytes { left in right.withUnsafeBytes { left.baseAddress == $0.baseAddress } }
            case (.numbered(let left), .numbered(let right)): return left == right
            default: return false
            }
        }

        fileprivate init(_ storage: Storage) {
            source =
                switch storage {
                case .bytes(let bytes): .bytes(bytes)
                case .file(let file): .numbered(file.number)
                case .stream(let stream): .numbered(stream.number)
                }
        }
    }

    /// A value that this body shares with its copies, and with no other body.
    package var identity: Identity { Identity(storage) }
}

/// Numbers files and streams in the order in which their bodies were made.
enum BodyNumber {
    private static let last = Atomic<UInt64>(0)

    static func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}
