internal import Foundation
public import InterceptorsCore

/// A stored response, and a way to read its body.
public struct CacheEntry: Sendable, Identifiable {
    /// Identifies an entry among the entries of its key. A replacing entry has a new ID.
    public typealias ID = UInt64

    private enum Source: Sendable {
        case bytes(Data)
        case reader(
            read: @Sendable (Range<Int64>) async throws -> HTTPBody,
            /// Reads a part of a body on disk into memory; `nil` if the store only makes bodies.
            collect: (@Sendable (Range<Int64>) async throws -> Data)?
        )
    }

    /// Identifies the entry among the entries of its key; never used twice for a key.
    public let id: ID
    /// The response without its body.
    public let response: CachedResponse
    /// The number of the body's bytes.
    public let length: Int64
    private let source: Source

    /// Creates an entry, for a store.
    ///
    /// - Parameters:
    ///   - id: tells the entry apart from the key's other entries.
    ///   - response: the stored response.
    ///   - length: the number of the body's bytes.
    ///   - read: makes a body of the bytes in a range within the length, or throws if they can't all be read. After it has
    ///     returned, only the loss of the storage medium should make reading fail.
    public init(
        id: ID,
        response: CachedResponse,
        length: Int64,
        read: @escaping @Sendable (Range<Int64>) async throws -> HTTPBody
    ) {
        self.init(id, response, length, .reader(read: read, collect: nil))
    }

    /// An entry that can also read its body into memory.
    init(
        id: ID,
        response: CachedResponse,
        length: Int64,
        read: @escaping @Sendable (Range<Int64>) async throws -> HTTPBody,
        collect: @escaping @Sendable (Range<Int64>) async throws -> Data
    ) {
        self.init(id, response, length, .reader(read: read, collect: collect))
    }

    /// An entry whose body is in memory.
    init(id: ID, response: CachedResponse, body: Data) {
        self.init(id, response, Int64(body.count), .bytes(body))
    }

    private init(_ id: ID, _ response: CachedResponse, _ length: Int64, _ source: Source) {
        self.id = id
        self.response = response.parse()
        self.length = length
        self.source = source
    }

    /// A copy with another response.
    func with(_ response: CachedResponse) -> CacheEntry { CacheEntry(id, response, length, source) }

    /// Reads the body, or a range of its bytes.
    ///
    /// - Throws: the store's error if the body can't be read; ``InterceptorsTransport/HTTPErrorCode/entryDamaged`` if it isn't what was stored.
    public func body(_ range: Range<Int64>? = nil) async throws -> HTTPBody {
        let range = (range ?? 0..<length).clamped(to: 0..<length)
        return switch source {
        case .bytes(let bytes): HTTPBody(Self.part(range, of: bytes))
        case .reader(let read, _): try await read(range)
        }
    }

    /// Reads a range of the body into memory.
    func collected(_ range: Range<Int64>, upTo limit: Int) async throws -> HTTPBody {
        let range = range.clamped(to: 0..<length)
        if case .reader(_, let collect?) = source, range.length <= limit {
            return HTTPBody(try await collect(range))
        }
        let body = try await body(range)
        // A body that is already in memory needs no collecting, if it is within the limit.
        guard body.bytes.map({ $0.count > limit }) ?? true else { return body }
        return HTTPBody(try await body.collect(upTo: limit))
    }

    /// A range of the body, if the body is in memory and the range is within the limit.
    func bytes(_ range: Range<Int64>, upTo limit: Int) -> Data? {
        guard case .bytes(let bytes) = source, range.length <= limit else { return nil }
        return Self.part(range.clamped(to: 0..<length), of: bytes)
    }

    /// The body if it is in memory.
    var bytes: Data? { if case .bytes(let bytes) = source { bytes } else { nil } }

    private static func part(_ range: Range<Int64>, of bytes: Data) -> Data {
        if range.count == bytes.count { return bytes }
        let start = bytes.startIndex + Int(range.lowerBound)
        return Data(bytes[start..<(start + range.count)])
    }
}
