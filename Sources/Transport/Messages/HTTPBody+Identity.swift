internal import Foundation

extension HTTPBody {
    /// Tells without reading whether a body was replaced by another one.
    ///
    /// Bytes in memory are kept, so that no other bytes can take their address. A stream is not kept, because a reader may wait
    /// for its release.
    package struct Identity: Sendable, Equatable {
        private enum Source {
            case bytes(Data)
            case object(ObjectIdentifier)
        }

        // Up to this size, bytes may lie inside the `Data` itself and then have no address that stays.
        private static let smallCount = 32

        private let source: Source

        package static func == (left: Self, right: Self) -> Bool {
            switch (left.source, right.source) {
            case (.bytes(let left), .bytes(let right)):
                guard left.count == right.count else { return false }
                if left.count <= smallCount { return left == right }
                return left.withUnsafeBytes { left in right.withUnsafeBytes { left.baseAddress == $0.baseAddress } }
            case (.object(let left), .object(let right)): return left == right
            default: return false
            }
        }

        fileprivate init(_ storage: Storage) {
            source =
                switch storage {
                case .bytes(let bytes): .bytes(bytes)
                case .file(let file): .object(ObjectIdentifier(file))
                case .stream(let stream): .object(ObjectIdentifier(stream))
                }
        }
    }

    /// What makes this body the same as its copies.
    package var identity: Identity { Identity(storage) }
}
