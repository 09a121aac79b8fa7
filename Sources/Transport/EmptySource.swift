extension HTTPRequest {
    /// Reads a file or stream that announces no content to its end, within the time limits. Throws if it has content after all.
    ///
    /// Such a body is sent without reading it, although a file may have grown and a stream may be longer than announced. The check
    /// comes before there is a connection, so a one-shot stream that passed it can be sent again as the empty body that it is.
    package func checkEmptySource(within timeouts: Timeouts, on clock: Stopwatch) async throws {
        guard body.isEmptySource else { return }
        let limit = [timeouts.idle, timeouts.total].compactMap(\.self).min()
        let message = "The end of the empty content did not come within \(limit ?? .zero)."
        let end = limit.map { clock.elapsed() + $0 }
        try await clock.bounded(by: end, TransportError(.timedOut, message)) { [body] in
            try await body.forEachSentChunk { _ in }
        }
        body.noteEmpty()
    }
}
