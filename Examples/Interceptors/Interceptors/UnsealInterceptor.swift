package import Foundation
package import Interceptors

/// Opens the content of successful responses, a frame at a time, while it arrives.
///
/// A frame is its length in four bytes, most significant first, and a message that `open` decrypts, with
/// `AES.GCM.open` for example.
package struct UnsealInterceptor: PlacedInterceptor {
    let open: @Sendable (Data) throws -> Data

    package init(open: @escaping @Sendable (Data) throws -> Data) { self.open = open }
    package var placement: [ChainRole] { [.changesResponse] }

    package func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        var response = try await next(request)
        guard response.status.kind == .successful, !response.body.isEmpty else { return response }
        let isBuffered = response.body.data != nil
        // The lengths differ, and the reader must not wait for bytes that never come.
        response.headers.remove(.contentLength)
        response.body = response.body.wrapped { [open] in Frames(body: $0, open: open) }
        if isBuffered { response.body = HTTPBody(try await response.body.collect(upTo: 64 << 20)) }
        return response
    }
}

/// The opened frames of a body.
private struct Frames: AsyncSequence, Sendable {
    /// No frame may be longer, so that a server can't fill the memory.
    static let limit = 1 << 20
    let body: HTTPBody
    let open: @Sendable (Data) throws -> Data

    func makeAsyncIterator() -> Iterator { Iterator(source: body.makeAsyncIterator(), open: open) }

    struct Iterator: AsyncIteratorProtocol {
        var source: HTTPBody.AsyncIterator
        let open: @Sendable (Data) throws -> Data
        /// The start of a frame whose end hasn't arrived.
        var rest = Data()

        mutating func next() async throws -> Data? {
            while true {
                if rest.count >= 4 {
                    let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
                    guard length <= Frames.limit else { throw TransportError(.invalidResponse, "A frame is too long.") }
                    if rest.count >= 4 + length {
                        defer { rest = Data(rest.dropFirst(4 + length)) }
                        return try open(Data(rest.dropFirst(4).prefix(length)))
                    }
                }
                guard let chunk = try await source.next() else {
                    guard !rest.isEmpty else { return nil }
                    throw TransportError(.truncated, "The content ends inside a frame.")
                }
                rest.append(chunk)
            }
        }
    }
}
