internal import Foundation

/// Where the content of an upload goes.
protocol UploadSink: Sendable {
    /// Writes a chunk as soon as there is room; `false` if no more is taken.
    func write(_ chunk: Data) async -> Bool
    /// All of the content was written.
    func close()
}

/// Feeds a body into a sink, no faster than it takes it.
enum UploadPump {
    private struct Refused: Error {}

    /// Writes a body to its end, and closes the sink. What of it nobody wants any more is given up.
    ///
    /// - A sink that takes no more is no failure of the call: URLSession has a response already, wants the content anew, or
    ///   is done with the call, and says itself which of them.
    /// - A body that can't be read to its end leaves the sink open: closed, it would say that the content is complete.
    ///
    /// - Returns: why the body couldn't be read to its end; `nil` if it could, or need not be.
    static func fill(_ sink: some UploadSink, from body: HTTPBody) async -> (any Error)? {
        do {
            try await body.forEachChunk { chunk in
                guard await sink.write(chunk) else { throw Refused() }
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
