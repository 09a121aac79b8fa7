extension HTTPRequest {
    /// Reads a file or stream that announces no content to its end, within the time limits. Throws if it has content after all.
    ///
    /// Such a body is sent without reading it, although a file may have grown and a stream may be longer than announced. The check
    /// comes before there is a connection, so a one-shot stream that passed it can be sent again as the empty body that it is.
    package func checkEmptySource(within timeouts: Timeouts, on clock: Stopwatch) async throws {
        guard body.isEmptySource else { return }
        try await readEmptySource(within: timeouts, on: clock)
        body.noteEmpty()
    }

    private func readEmptySource(within timeouts: Timeouts, on clock: Stopwatch) async throws {
        guard let limit = [timeouts.idle, timeouts.total].compactMap({ $0 }).min() else {
            return try await body.forEachSentChunk { _ in }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [body] in try await body.forEachSentChunk { _ in } }
            group.addTask {
                try await clock.sleep(for: limit)
                throw TransportError(.timedOut, "The end of the empty content did not come within \(limit).")
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
