internal import Foundation
internal import Interceptors

/// A part that several responses fill at once.
///
/// The actor orders the writes, the checkpoints and the reports. So each byte is written once, and the progress never goes
/// back.
actor SharedPart {
    /// The server sent more bytes than it announced.
    struct Overrun: Error {}

    /// The result of all workers.
    struct Summary: Sendable {
        /// The last failure of a worker.
        var failure: (any Error)?
        /// The number of further ranges that the server refused for now.
        var refusals = 0
        /// Whether more than one response brought bytes.
        var isComposed = false
        /// Whether all answers were of the same version, and for the requested ranges.
        var isWilling = true
    }

    /// A response that is being read.
    private struct Source {
        let worker: Int
        /// The offset of the next byte to arrive. If it isn't where the worker's range begins, bytes have been dropped.
        var next: Int64
        /// The offset after its last byte.
        let end: Int64
        var isEmpty = true
    }

    private let part: DownloadPart
    private let total: Int64
    private let interval: DownloadResuming.Checkpoint
    private let elapsed: @Sendable () -> Duration
    private let progress: (@Sendable (TransferProgress) -> Void)?
    private var ranges: DownloadRanges
    private var sources: [Source] = []
    private var contributors = 0
    private var safe = (bytes: Int64(0), time: Duration.zero)
    private var written: Int64 = 0
    private var isSynchronizing = false
    private(set) var summary = Summary()

    /// - Parameters:
    ///   - ranges: the missing ranges, with the ranges of the first workers assigned.
    ///   - total: the number of bytes of the whole.
    init(
        _ part: DownloadPart,
        _ ranges: DownloadRanges,
        total: Int64,
        _ resuming: DownloadResuming,
        progress: (@Sendable (TransferProgress) -> Void)?
    ) {
        self.part = part
        self.ranges = ranges
        self.total = total
        self.progress = progress
        interval = resuming.checkpoint
        elapsed = resuming.time.startMeasuring()
    }

    /// Begins the response of a worker.
    ///
    /// - Parameter range: the bytes of the response.
    func begin(_ worker: Int, _ range: Range<Int64>) {
        sources.append(Source(worker: worker, next: range.lowerBound, end: range.upperBound))
    }

    /// Writes bytes of a worker's response. Returns `false` if the rest of the response is of no use.
    func write(_ chunk: Data, by worker: Int) async throws -> Bool {
        try Task.checkCancellation()
        guard let source = sources.firstIndex(where: { $0.worker == worker }) else { return false }
        let end = sources[source].end
        sources[source].next += Int64(chunk.count)
        var chunk = chunk
        while !chunk.isEmpty {
            let start = sources[source].next - Int64(chunk.count)
            if start == end { throw Overrun() }
            guard let range = range(of: worker, from: start, upTo: end) else { break }
            let piece = chunk.prefix(Int(clamping: min(range.upperBound, end) - start))
            try part.write(piece, at: start)
            ranges.advance(worker, by: Int64(piece.count))
            note(Int64(piece.count), from: source)
            chunk = chunk.dropFirst(piece.count)
        }
        progress?(TransferProgress(completed: part.count, total: total))
        try await checkpoint()
        return isOfUse(worker)
    }

    /// The rest of a worker's range if it begins at an offset. An empty range goes on with unassigned bytes.
    private func range(of worker: Int, from start: Int64, upTo end: Int64) -> Range<Int64>? {
        guard let rest = ranges.rest(of: worker), rest.lowerBound == start else { return nil }
        guard rest.isEmpty else { return rest }
        return ranges.extend(worker, upTo: end) ? ranges.rest(of: worker) : nil
    }

    private func note(_ count: Int64, from source: Int) {
        written += count
        guard sources[source].isEmpty else { return }
        sources[source].isEmpty = false
        contributors += 1
        summary.isComposed = contributors > 1
    }

    /// Whether more bytes of a worker's response are of use. At its end they are, because the end of the body shows that the
    /// server has sent no more than it announced.
    private func isOfUse(_ worker: Int) -> Bool {
        guard let source = sources.first(where: { $0.worker == worker }) else { return false }
        return source.next == source.end || range(of: worker, from: source.next, upTo: source.end) != nil
    }

    private func checkpoint() async throws {
        let time = elapsed()
        guard !isSynchronizing, written - safe.bytes >= interval.bytes || time - safe.time >= interval.interval else {
            return
        }
        isSynchronizing = true
        defer { isSynchronizing = false }
        let bytes = written
        try await part.checkpoint()
        safe = (bytes, elapsed())
    }
}

extension SharedPart {
    /// The number of announced bytes of a worker's response that haven't arrived.
    func missing(_ worker: Int) -> Int64 {
        sources.first { $0.worker == worker }.map { $0.end - $0.next } ?? 0
    }

    /// Ends the response of a worker, if any, and takes the rest of its range back. Returns whether any byte has arrived.
    @discardableResult
    func end(_ worker: Int) -> Bool {
        ranges.release(worker)
        guard let index = sources.firstIndex(where: { $0.worker == worker }) else { return false }
        return !sources.remove(at: index).isEmpty
    }

    /// The next range for a worker; `nil` if no range is worth a request, or the server isn't willing.
    func next(for worker: Int) -> Range<Int64>? { summary.isWilling ? ranges.assign(to: worker) : nil }

    /// Keeps a failure of a worker, for the case that bytes are missing at the end.
    func fail(_ error: any Error, isRefusal: Bool) {
        summary.failure = error
        if isRefusal { summary.refusals += 1 }
    }

    /// No worker begins another range.
    func stop() { summary.isWilling = false }
}
