internal import Foundation

/// The destination of an upload's content.
protocol UploadSink: Sendable {
    /// Writes a chunk as soon as there is room. Returns `false` if the sink takes no more.
    func write(_ chunk: Data) async -> Bool
    /// Marks the content as complete.
    func close()
}

/// Copies a body into a sink, no faster than the sink takes it.
enum UploadPump {
    private struct Refused: Error {}

    /// Writes a body to its end, and closes the sink. If the sink takes no more, the rest of the body isn't read.
    ///
    /// - A sink that takes no more is not a failure of the call. URLSession has a response already, wants the content again,
    ///   or has finished the call, and reports each case separately.
    /// - If reading the body fails, the sink stays open, because closing it would mark the content as complete.
    ///
    /// - Parameter offset: the number of bytes to leave out, because the server has them. A body that isn't seekable is read from
    ///   its start.
    /// - Returns: the error of reading the body; `nil` if the body was read to its end, or the rest isn't needed.
    static func fill(_ sink: some UploadSink, from body: HTTPBody, at offset: Int64 = 0) async -> (any Error)? {
        let rest = body.suffix(from: offset)
        var unneeded = rest == nil ? offset : 0
        do {
            try await (rest ?? body).forEachSentChunk { chunk in
                let needed = unneeded > 0 ? chunk.dropFirst(Int(clamping: unneeded)) : chunk
                unneeded -= Int64(chunk.count - needed.count)
                if needed.isEmpty, !chunk.isEmpty { return }
                guard await sink.write(needed) else { throw Refused() }
            }
            sink.close()
            return nil
        } catch is Refused {
            return nil
        } catch {
            return Task.isCancelled ? nil : error
        }
    }
}
