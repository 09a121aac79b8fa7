internal import AsyncHTTPClient
internal import Foundation
internal import Interceptors
internal import NIOCore
internal import Synchronization

/// The content of a request while it is sent.
final class Upload: Sendable {
    private struct State {
        var hasBegun = false
        var isComplete = false
        var hasEnded = false
        var sent: Int64 = 0
        var failure: (any Error)?
    }

    fileprivate let body: HTTPBody
    private let progress: (@Sendable (TransferProgress) -> Void)?
    private let onChunk: @Sendable () -> Void
    private let state = Mutex(State())

    init(_ request: HTTPRequest, onChunk: @escaping @Sendable () -> Void) {
        body = request.body
        progress = request.context.uploadProgress
        self.onChunk = onChunk
    }

    /// The error of the body's source.
    var failure: (any Error)? { state.withLock { $0.failure } }

    /// The content for AsyncHTTPClient; `nil` without content.
    var content: HTTPClientRequest.Body? {
        if body.isEmpty { return nil }
        return .stream(Chunks(upload: self), length: body.length.map { .known($0) } ?? .unknown)
    }

    /// Discards the rest of a body that was read in part.
    func end() {
        let isBroken = state.withLock { state in
            state.hasEnded = true
            return state.hasBegun && !state.isComplete
        }
        if isBroken { body.discard() }
    }

    /// Reads a file or stream that is announced as empty, which may have bytes after all.
    static func checkEmptySource(_ body: HTTPBody) async throws {
        guard body.isEmpty, body.data == nil else { return }
        for try await _ in body {}
    }

    fileprivate func begin() {
        let isLate = state.withLock { state in
            state.hasBegun = true
            return state.hasEnded
        }
        // AsyncHTTPClient may begin to read after the call was cancelled.
        if isLate { body.discard() }
    }

    fileprivate func send(_ chunk: Data?) {
        let sent = state.withLock { state in
            state.sent += Int64(chunk?.count ?? 0)
            if chunk == nil || state.sent == body.length { state.isComplete = true }
            return state.sent
        }
        onChunk()
        if chunk != nil { progress?(TransferProgress(completed: sent, total: body.length)) }
    }

    fileprivate func fail(_ error: any Error) { state.withLock { $0.failure = $0.failure ?? error } }

    private struct Chunks: AsyncSequence, Sendable {
        let upload: Upload

        struct Iterator: AsyncIteratorProtocol {
            let upload: Upload
            var chunks: HTTPBody.AsyncIterator

            mutating func next() async throws -> ByteBuffer? {
                do {
                    let chunk = try await chunks.next()
                    upload.send(chunk)
                    return chunk.map { ByteBuffer(bytes: $0) }
                } catch {
                    upload.fail(error)
                    throw error
                }
            }
        }

        func makeAsyncIterator() -> Iterator {
            upload.begin()
            return Iterator(upload: upload, chunks: upload.body.makeAsyncIterator())
        }
    }
}
