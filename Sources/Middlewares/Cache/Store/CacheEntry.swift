internal import Foundation
public import Interceptors

/// A stored response, and the way to its body.
public struct CacheEntry: Sendable, Identifiable {
    /// What a store tells the entries of a key apart by. An entry that replaces another has an ID of its own.
    public typealias ID = UInt64

    private enum Source: Sendable {
        case bytes(Data)
        case reader(
            read: @Sendable (Range<Int64>) async throws -> HTTPBody,
            /// Reads bytes of a body that isn't in memory into memory.
            collect: (@Sendable (Range<Int64>) async throws -> Data)?
        )
    }

    private enum Head: Sendable {
        case read(CachedResponse)
        case packed(PackedResponse)
    }

    /// Tells it apart from others of its key.
    public let id: ID
    private let head: Head
    /// The count of the body's bytes.
    public let length: Int64
    private let source: Source

    /// An entry.
    ///
    /// - Parameter read: makes a body of the bytes in a range that lies within the length, or throws if they can't be read
    ///   whole: once it has returned, nothing but the loss of the medium should fail the reading.
    public init(
        id: ID,
        response: CachedResponse,
        length: Int64,
        read: @escaping @Sendable (Range<Int64>) async throws -> HTTPBody
    ) {
        self.init(id, .read(response.read()), length, .reader(read: read, collect: nil))
    }

    /// An entry whose response is read when it is asked for.
    init(
        id: ID,
        packed response: PackedResponse,
        length: Int64,
        read: @escaping @Sendable (Range<Int64>) async throws -> HTTPBody,
        collect: (@Sendable (Range<Int64>) async throws -> Data)? = nil
    ) {
        self.init(id, .packed(response), length, .reader(read: read, collect: collect))
    }

    /// An entry whose body is in memory.
    init(id: ID, response: CachedResponse, body: Data) {
        self.init(id, .read(response.read()), Int64(body.count), .bytes(body))
    }

    private init(_ id: ID, _ head: Head, _ length: Int64, _ source: Source) {
        self.id = id
        self.head = head
        self.length = length
        self.source = source
    }

    /// The response without its body.
    public var response: CachedResponse {
        switch head {
        case .read(let response): response
        case .packed(let response): response.response
        }
    }

    /// The request fields that the response was selected by: see ``ResponseFacts/selectors``.
    var selectors: [HTTPField.Name]? {
        switch head {
        case .read(let response): response.facts.selectors
        case .packed(let response): response.selectors
        }
    }

    var selectingFields: HTTPFields {
        switch head {
        case .read(let response): response.selectingFields
        case .packed(let response): response.selectingFields
        }
    }

    /// The same with another response.
    func with(_ response: CachedResponse) -> CacheEntry { CacheEntry(id, .read(response.read()), length, source) }

    /// The body, or some bytes of it.
    ///
    /// - Throws: what the store throws if it can't be read; ``CacheStoreError/Code/damaged`` if it isn't what was stored.
    public func body(_ range: Range<Int64>? = nil) async throws -> HTTPBody {
        let range = (range ?? 0..<length).clamped(to: 0..<length)
        return switch source {
        case .bytes(let bytes): HTTPBody(Self.part(range, of: bytes))
        case .reader(let read, _): try await read(range)
        }
    }

    /// The same, in memory.
    func collected(_ range: Range<Int64>, upTo limit: Int) async throws -> HTTPBody {
        let range = range.clamped(to: 0..<length)
        if case .reader(_, let collect?) = source, range.count <= limit {
            return HTTPBody(try await collect(range))
        }
        let body = try await body(range)
        // What is in memory already needs no collecting, as long as there isn't too much of it.
        guard body.bytes.map({ $0.count > limit }) ?? true else { return body }
        return HTTPBody(try await body.collect(upTo: limit))
    }

    /// The same, if it is in memory, and isn't too much.
    func bytes(_ range: Range<Int64>, upTo limit: Int) -> Data? {
        guard case .bytes(let bytes) = source, range.count <= limit else { return nil }
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
