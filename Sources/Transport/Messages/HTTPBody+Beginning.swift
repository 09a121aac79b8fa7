package import Foundation

extension HTTPBody {
    /// Reads the bytes up to a limit, for an error that keeps them, and discards the rest.
    ///
    /// If reading fails, the bytes are only incomplete, because the failure must not replace the original error.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    package func beginning(upTo limit: Int) async throws -> (data: Data, isComplete: Bool) {
        if let data { return Self.beginning(of: data, upTo: limit) }
        var collected = Data()
        do {
            for try await chunk in self {
                let room = limit - collected.count
                collected.append(chunk.prefix(room))
                guard chunk.count <= room else {
                    discard()
                    return (collected, false)
                }
            }
            return (collected, true)
        } catch {
            discard()
            if error is CancellationError || Task.isCancelled { throw CancellationError() }
            return (collected, false)
        }
    }

    /// The bytes up to a limit. If bytes are cut off, the rest is copied, so that a small excerpt doesn't keep a large buffer
    /// alive.
    package static func beginning(of bytes: Data, upTo limit: Int) -> (data: Data, isComplete: Bool) {
        bytes.count <= limit ? (bytes, true) : (bytes.prefix(limit).withUnsafeBytes { Data($0) }, false)
    }
}

extension HTTPResponse {
    /// Reads the body's bytes up to a limit, for an error that keeps them, and discards the rest.
    ///
    /// A stream of events isn't read, because it may stay open forever.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    package func beginning(upTo limit: Int) async throws -> (data: Data, isComplete: Bool) {
        guard headers.mediaType == "text/event-stream", body.data == nil else {
            return try await body.beginning(upTo: limit)
        }
        body.discard()
        return (Data(), false)
    }
}
