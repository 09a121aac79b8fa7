internal import Foundation
internal import Interceptors

extension DownloadRun {
    /// The missing ranges, divided for several requests; `nil` if one response is enough or the server doesn't invite more.
    ///
    /// After bytes of several responses had a wrong digest, a single response must bring them.
    func division(of response: HTTPResponse, _ part: DownloadPart, _ state: State) -> DownloadRanges? {
        guard state.ranges > 1, !state.hasStartedOver, DownloadDecision.invitesRanges(response) else { return nil }
        var ranges = DownloadRanges(missing: part.gaps, workers: state.ranges, smallest: resuming.smallestRange)
        for worker in 0..<state.ranges { _ = ranges.assign(to: worker) }
        return ranges.assigned.count > 1 ? ranges : nil
    }

    /// Saves the content of a response together with further ranges.
    ///
    /// Fails if the last worker fails while bytes are missing. If the server stops to be willing, returns without an error, and
    /// the next attempt asks for one range.
    ///
    /// - Parameters:
    ///   - range: the place of the content in the whole.
    ///   - ranges: the ranges of all workers. The first is for this response.
    func save(
        _ response: HTTPResponse,
        _ range: Range<Int64>,
        with ranges: DownloadRanges,
        to part: DownloadPart,
        _ state: inout State
    ) async throws {
        guard let representation = part.representation else { return }
        guard representation.total <= limit else { throw tooLarge }
        let shared = SharedPart(part, ranges, total: representation.total, resuming, progress: progress)
        let workers = RangeWorkers(run: self, part: part, shared: shared, representation: representation, state: state)
        do {
            try await workers.work(response, range, ranges.assigned)
        } catch {
            // The error that ended the attempt matters more than a failed checkpoint.
            try? await part.checkpoint()
            throw error
        }
        try await part.checkpoint()
        try await state.take(shared.summary, isWhole: part.isWhole)
    }
}

extension DownloadRun.State {
    /// Decides how many ranges the next attempt may ask for. Throws the last failure if bytes are missing.
    fileprivate mutating func take(_ summary: SharedPart.Summary, isWhole: Bool) throws {
        isComposed = isComposed || summary.isComposed
        ranges = summary.isWilling ? max(1, ranges - summary.refusals) : 1
        wasRefused = wasRefused || summary.refusals > 0
        guard !isWhole, summary.isWilling, let failure = summary.failure else { return }
        if !failure.isTemporaryFailureOfRange {
            ranges = 1
            isFailureOfFurtherRange = true
        }
        throw failure
    }
}

/// The tasks that download ranges of one representation at once.
///
/// ```text
/// worker 0   first response ──▶ its range ──▶ further ranges
/// worker 1   request ─▶ 206 ──▶ its range ──▶ further ranges
/// worker 2   request ─▶ 429     ends: fewer ranges
/// worker 3   request ─▶ 200     ends all workers but the first, which reads on as far as it can
/// ```
/// A worker whose request or response fails ends alone. A failure to write ends all.
private struct RangeWorkers: Sendable {
    let run: DownloadRun
    let part: DownloadPart
    let shared: SharedPart
    let representation: Representation
    let state: DownloadRun.State

    /// The server answered a request for a range otherwise than by this range of this representation.
    private struct Unwilling: Error {}
    /// The rest of a response is of no use.
    private struct Enough: Error {}

    /// Returns when all workers have ended.
    func work(_ response: HTTPResponse, _ range: Range<Int64>, _ ranges: [DownloadRanges.Assignment]) async throws {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await lead(response, range) }
                group.addTask { try await help(ranges.dropFirst()) }
                while try await group.next() != nil {}
            }
        } catch is Unwilling {}
    }

    private func lead(_ response: HTTPResponse, _ range: Range<Int64>) async throws {
        do {
            try await read(response, range, 0)
        } catch {
            guard try await goesOn(0, after: error) else { return }
        }
        try await fetchAll(0, from: await shared.next(for: 0))
    }

    /// Runs all workers but the first.
    private func help(_ ranges: ArraySlice<DownloadRanges.Assignment>) async throws {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for range in ranges { group.addTask { try await fetchAll(range.worker, from: range.rest) } }
                while try await group.next() != nil {}
            }
        } catch is Unwilling {
            // Every worker has given its range back, and the first response may go on into it.
        }
    }

    private func fetchAll(_ worker: Int, from first: Range<Int64>?) async throws {
        var range = first
        while let next = range {
            do {
                try await fetch(next, worker)
            } catch {
                guard try await goesOn(worker, after: error) else { return }
            }
            range = await shared.next(for: worker)
        }
    }

    private func fetch(_ range: Range<Int64>, _ worker: Int) async throws {
        try Task.checkCancellation()
        let demand = RangeDemand(representation, range)
        let response = try await run.answer(to: demand, state)
        guard case .append(let sent) = run.decision(response, to: demand, part, state) else {
            response.body.discard()
            await shared.stop()
            throw Unwilling()
        }
        try await read(response, sent, worker)
    }

    private func read(_ response: HTTPResponse, _ range: Range<Int64>, _ worker: Int) async throws {
        await shared.begin(worker, range)
        do {
            try await response.body.forEachChunk { chunk in
                guard try await shared.write(chunk, by: worker) else { throw Enough() }
            }
        } catch is Enough {
            await shared.end(worker)
            return
        } catch is SharedPart.Overrun {
            throw run.tooManyBytes
        }
        let missing = await shared.missing(worker)
        if missing > 0 { throw run.truncated(by: missing) }
        await shared.end(worker)
    }

    /// Whether a worker tries another range after a failure. Throws if the failure ends all workers.
    private func goesOn(_ worker: Int, after error: any Error) async throws -> Bool {
        let isEmpty = await !shared.end(worker)
        if Task.isCancelled { throw CancellationError() }
        if error is Unwilling || error is CancellationError || error is SystemCallFailure { throw error }
        // With a response, the error is about its status alone.
        if error is DownloadError, error.receivedResponse == nil { throw error }
        await shared.fail(error, isRefusal: error.refusesForNow)
        guard !isEmpty, error.isTemporaryFailureOfRange else { return false }
        let wait = TransferBackoff.wait(after: 0, random: run.resuming.time.random)
        if wait > .zero { try await run.resuming.time.clock.sleep(for: wait) }
        return true
    }
}
