import Foundation
import InterceptorsCore
import InterceptorsTestSupport

/// Wrong about the borders of chunks.
extension BrokenInterceptor {
    static let chunks: [Self] = [
        transformer("lost last chunk", LastLost.init),
        transformer("lost last byte of each chunk") { body in body.map { $0.dropLast() } },
        transformer("line end that crosses a border") { body in body.map { joined($0) } },
        transformer("character that crosses a border") { body in
            body.map { Data(String(decoding: $0, as: UTF8.self).utf8) }
        },
        transformer("rest of a line that is forgotten") { WholeLines(body: $0) },
        Self("theContentIsTheSameInAnyChunks", [.changesResponse], fault: "streams that are not changed") {
            request,
            next in
            var response = try await next(request)
            guard let bytes = response.body.data else { return response }
            response.headers.remove(.contentLength)
            response.body = HTTPBody(joined(bytes))
            return response
        },
        Self("theContentComesBack", fault: "lost single bytes") { request, next in
            var response = try await next(request)
            guard response.body.data == nil else { return response }
            response.body = response.body.wrapped(length: response.body.length) { body in body.filter { $0.count != 1 }
            }
            return response
        },
        Self("aRequestsContentIsTheSameInAnyChunks", fault: "lost chunk") { request, next in
            var request = request
            if request.body.data == nil { request.body = request.body.wrapped(LastLost.init) }
            return try await next(request)
        },
        Self("aRequestsContentIsTheSameInAnyChunks", [.changesRequest], fault: "line end that crosses a border") {
            request,
            next in
            var request = request
            request.headers.remove(.contentLength)
            if let bytes = request.body.data {
                request.body = HTTPBody(joined(bytes))
            } else {
                request.body = request.body.map { joined($0) }
            }
            return try await next(request)
        },
    ]

    /// Changes streams as the closure says, and content in memory as a stream of one chunk.
    private static func transformer<Chunks: AsyncSequence & Sendable>(
        _ fault: String,
        _ transform: @escaping @Sendable (HTTPBody) -> Chunks
    ) -> Self where Chunks.Element == Data {
        Self("theContentIsTheSameInAnyChunks", [.changesResponse], fault: fault) { request, next in
            var response = try await next(request)
            let isBuffered = response.body.data != nil
            response.headers.remove(.contentLength)
            response.body = response.body.wrapped(transform)
            if isBuffered { response.body = HTTPBody(try await response.body.collect(upTo: 1 << 24)) }
            return response
        }
    }

    /// With \n instead of \r\n.
    private static func joined(_ content: Data) -> Data {
        var (result, previous) = (Data(), UInt8(0))
        for byte in content {
            if byte == 10, previous == 13 { result.removeLast() }
            result.append(byte)
            previous = byte
        }
        return result
    }

    /// Returns each chunk when the next one has come, and forgets the last.
    private struct LastLost: AsyncSequence, Sendable {
        let body: HTTPBody
        func makeAsyncIterator() -> Iterator { Iterator(source: body.makeAsyncIterator()) }

        struct Iterator: AsyncIteratorProtocol {
            var source: HTTPBody.AsyncIterator
            var held: Data?

            mutating func next() async throws -> Data? {
                if held == nil { held = try await source.next() }
                guard let later = try await source.next() else { return nil }
                defer { held = later }
                return held
            }
        }
    }

    /// Returns whole lines, and forgets what follows the last line end of a chunk.
    private struct WholeLines: AsyncSequence, Sendable {
        let body: HTTPBody
        func makeAsyncIterator() -> Iterator { Iterator(source: body.makeAsyncIterator()) }

        struct Iterator: AsyncIteratorProtocol {
            var source: HTTPBody.AsyncIterator

            mutating func next() async throws -> Data? {
                guard let chunk = try await source.next() else { return nil }
                guard let end = chunk.lastIndex(of: 10) else { return chunk }
                return Data(chunk[...end])
            }
        }
    }
}
