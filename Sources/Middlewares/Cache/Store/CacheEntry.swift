internal import Foundation
public import InterceptorsCore

/// A stored response, and a way to read its body.
public struct CacheEntry: Sendable, Identifiable {
    /// Identifies an entry among the entries of its key. A replacing entry has a new ID.
    public typealias ID = UInt64

    /// Identifies the entry among the entries of its key; never used twice for a key.
    public let id: ID
    /// The response without its body.
    public let response: CachedResponse
    /// The number of the body's bytes.
    public let length: Int64
    private let read: @Sendable (Range<Int64>, _ isCollected: Bool) async throws -> HTTPBody

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
        self.init(id: id, response: response, length: length) { range, _ in try await read(range) }
    }

    /// An entry that reads the range into memory if the closure's second argument is `true`.
    init(
        id: ID,
        response: CachedResponse,
        length: Int64,
        read: @escaping @Sendable (Range<Int64>, _ isCollected: Bool) async throws -> HTTPBody
    ) {
        self.id = id
        self.response = response.parse()
        self.length = length
        self.read = read
    }

    /// An entry whose body is in memory.
    init(id: ID, response: CachedResponse, body: Data) {
        self.init(id: id, response: response, length: Int64(body.count)) { range, _ in
            HTTPBody(range.count == body.count ? body : Data(body.dropFirst(Int(range.lowerBound)).prefix(range.count)))
        }
    }

    /// A copy with another response.
    func with(_ response: CachedResponse) -> CacheEntry {
        CacheEntry(id: id, response: response, length: length, read: read)
    }

    /// Reads the body, or a range of its bytes.
    ///
    /// - Throws: the store's error if the body can't be read; ``InterceptorsTransport/HTTPErrorCode/entryDamaged`` if it isn't what was stored.
    public func body(_ range: Range<Int64>? = nil) async throws -> HTTPBody {
        try await read((range ?? 0..<length).clamped(to: 0..<length), false)
    }

    /// Reads a range of the body into memory.
    func collected(_ range: Range<Int64>, upTo limit: Int) async throws -> HTTPBody {
        let body = try await read(range.clamped(to: 0..<length), range.length <= limit)
        // A body that is already in memory needs no collecting, if it is within the limit.
        guard body.data.map({ $0.count > limit }) ?? true else { return body }
        return HTTPBody(try await body.collect(upTo: limit))
    }
}
