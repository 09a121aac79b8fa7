extension HTTPRequest {
    /// Reads a file or stream that announces no content to its end, within the time limits. Throws if it has content after all.
    ///
    /// Such a body is sent without reading it, although a file may have grown and a stream may be longer than announced.
    func checkEmptySource(within timeouts: Timeouts, on clock: Stopwatch) async throws {
        guard body.isEmptySource else { return }
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
