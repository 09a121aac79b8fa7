public import Foundation
public import HTTPTypes

// The names of swift-openapi-runtime 1.9 that the adapter and its tests use, with the same types. The code behind them is only as
// much as the tests need.

/// Sends the requests of a generated client.
public protocol ClientTransport: Sendable {
    /// Sends a request and returns its response.
    func send(
        _ request: HTTPRequest,
        body: HTTPBody?,
        baseURL: URL,
        operationID: String
    ) async throws -> (HTTPResponse, HTTPBody?)
}

/// How often a sequence can be read.
public enum IterationBehavior: Sendable {
    /// Once.
    case single
    /// Any number of times.
    case multiple
}

/// Content as a sequence of chunks.
public final class HTTPBody: Sendable, AsyncSequence {
    /// A chunk.
    public typealias ByteChunk = ArraySlice<UInt8>
    /// A chunk.
    public typealias Element = ByteChunk

    /// The length, if known.
    public enum Length: Sendable, Equatable {
        /// Not known.
        case unknown
        /// A number of bytes.
        case known(Int64)
    }

    /// How often the content can be read.
    public let iterationBehavior: IterationBehavior
    /// The length, if known.
    public let length: Length
    private let makeIterator: @Sendable () -> Iterator

    /// Content from a sequence of chunks.
    public init<Bytes: AsyncSequence & Sendable>(
        _ sequence: Bytes,
        length: Length,
        iterationBehavior: IterationBehavior
    ) where Bytes.Element == ByteChunk {
        self.iterationBehavior = iterationBehavior
        self.length = length
        makeIterator = { Iterator(sequence.makeAsyncIterator()) }
    }

    /// Content in memory.
    public convenience init(_ bytes: ByteChunk) {
        let chunks = AsyncChunks(bytes: bytes)
        self.init(chunks, length: .known(Int64(bytes.count)), iterationBehavior: .multiple)
    }

    /// Content in memory.
    public convenience init(_ data: Data) { self.init(ArraySlice(data)) }

    /// Reads the chunks.
    public struct Iterator: AsyncIteratorProtocol {
        private let produce: () async throws -> ByteChunk?

        init<Base: AsyncIteratorProtocol>(_ base: Base) where Base.Element == ByteChunk {
            var base = base
            produce = { try await base.next() }
        }

        /// The next chunk.
        public mutating func next() async throws -> ByteChunk? { try await produce() }
    }

    /// Starts reading.
    public func makeAsyncIterator() -> Iterator { makeIterator() }
}

extension String {
    /// Reads text up to a limit, beyond which the stand-in reads on.
    public init(collecting body: HTTPBody, upTo maxBytes: Int) async throws {
        var bytes: [UInt8] = []
        for try await chunk in body { bytes += chunk }
        self.init(decoding: bytes, as: UTF8.self)
    }
}

private struct AsyncChunks: AsyncSequence, Sendable {
    let bytes: ArraySlice<UInt8>

    struct Iterator: AsyncIteratorProtocol {
        var rest: ArraySlice<UInt8>?

        mutating func next() async -> ArraySlice<UInt8>? {
            defer { rest = nil }
            return rest
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(rest: bytes.isEmpty ? nil : bytes) }
}
