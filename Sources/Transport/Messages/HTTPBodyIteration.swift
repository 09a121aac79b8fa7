package import Foundation
internal import Synchronization

extension HTTPBody {
    /// Reads the content to its end, calling `use` for each chunk.
    ///
    /// If an error or a cancellation ends the reading early, the rest of the body is discarded at once, as by ``discard()``. A
    /// body that another reader is using, or has used, is left alone. A body of known length counts as read once that many
    /// bytes have arrived.
    package func forEachChunk(_ use: (Data) async throws -> Void) async throws {
        var iterator = makeAsyncIterator()
        if case .failure(let error) = iterator.source { throw error }
        let length = length
        let isRead = Atomic(false)
        var count: Int64 = 0
        try await withTaskCancellationHandler {
            do {
                while let chunk = try await Self.next(&iterator) {
                    count += Int64(chunk.count)
                    // Set before `use`: sending the last bytes may bring the response and end this task before the source
                    // reports its end.
                    if count == length { isRead.store(true, ordering: .releasing) }
                    try await use(chunk)
                }
            } catch {
                guard Task.isCancelled else {
                    discard()
                    throw error
                }
                // An error that the source throws because it was discarded is ignored.
                if !isRead.load(ordering: .acquiring) { discard() }
                throw CancellationError()
            }
        } onCancel: {
            // The source may not notice the cancellation by itself.
            if !isRead.load(ordering: .acquiring) { discard() }
        }
    }
}

extension HTTPBody {
    /// Reads the content of a request to its end, as by ``forEachChunk(_:)``, within ``whileSending(_:)``.
    package func forEachSentChunk(_ use: (Data) async throws -> Void) async throws {
        try await Self.whileSending { try await forEachChunk(use) }
    }

    /// Runs a closure that reads the body of a request in order to send it.
    ///
    /// The source may send requests itself. An error that names a request, has a response or says that nothing was sent is
    /// about such a request: a 429 for the source must not count as the response to this request, which may have been sent in
    /// part.
    package static func whileSending<Result>(_ read: () async throws -> Result) async throws -> Result {
        do {
            return try await read()
        } catch let error as any HTTPError
            where error.sentNothing || error.request != nil || error.receivedResponse != nil
        {
            throw TransportError.bodySourceFailed(error)
        }
    }

    /// The next chunk. If the source sends requests itself, its error may say that nothing was sent. The request with this body
    /// may nevertheless have been sent in part.
    private static func next(_ iterator: inout AsyncIterator) async throws -> Data? {
        do {
            return try await iterator.next()
        } catch let error as any HTTPError where error.sentNothing {
            throw TransportError.bodySourceFailed(error)
        }
    }
}
