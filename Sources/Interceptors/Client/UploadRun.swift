internal import Foundation
internal import Transport

/// One call of an upload: requests, each through the whole chain, until the server has the content.
///
/// ``UploadPlan`` says which request comes next, ``UploadRequests`` makes it, and ``UploadReports`` keeps what the server says meanwhile.
struct UploadRun: Sendable {
    let client: Client
    let requests: UploadRequests
    let resuming: UploadResuming
    let kind: UploadProtocol
    let progress: UploadProgress?
    /// Called with the URL of the upload as soon as the server has named it.
    let save: (@Sendable (URL) -> Void)?

    private var request: HTTPRequest { requests.creation }

    /// The end of a request.
    private typealias Exchange = Result<HTTPResponse, any Error>

    func run() async throws -> HTTPResponse {
        let unfinished = resuming.launches?.unfinished
        var plan = UploadPlan(
            kind,
            length: requests.length,
            resuming: resuming,
            isRepeatable: request.method.isIdempotent,
            isContinued: unfinished != nil
        )
        var naming = UploadNaming(unfinished?.url)
        var question: HTTPResponse?
        while true {
            try Task.checkCancellation()
            let step = plan.step
            if case .create = step { naming = UploadNaming() }
            let exchange = try await send(step, &plan, &naming)
            if plan.isOngoing, plan.isNamed, let fault = naming.fault { throw error(.fail(fault), exchange) }
            if case .askForOffset = step, case .success(let response) = exchange { question = response }
            switch plan.step {
            case .create, .askForOffset, .append:
                discard(exchange)
                if plan.waits { try await wait(plan, exchange) }
            case .finish: return try await result(try exchange.get(), isComplete: true)
            case .finishWithOffset:
                discard(exchange)
                if let question { return try await result(question, isComplete: true) }
                throw error(.fail(.stalled), exchange)
            case .giveUp, .fail:
                if case .giveUp = plan.step, case .success(let response) = exchange, response.status.kind != .successful
                {
                    return try await result(response, isComplete: false)
                }
                throw error(plan.step, exchange)
            }
        }
    }

    /// Sends the request of a step, and takes over its outcome.
    private func send(
        _ step: UploadStep,
        _ plan: inout UploadPlan,
        _ naming: inout UploadNaming
    ) async throws -> Exchange {
        let watch = UploadWatch(naming, save: save)
        var request = try requests.request(for: step, to: naming.url, plan)
        watch.observe(&request, from: step.part?.lowerBound ?? 0, kind, progress)
        let (exchange, end) = await outcome(of: request)
        // A cancelled upload keeps its bytes at the server.
        if case .failure(let error) = exchange, error is CancellationError || Task.isCancelled {
            throw CancellationError()
        }
        if case .create(let part) = step, case .answered(let answer) = end, case .success(let response) = exchange,
            answer.isSuccess, answer.namesUpload(kind, isWhole: plan.isLast(part))
        {
            watch.take(response.headerFields[values: .location], from: response.url ?? request.url, request.url)
        }
        let reports = watch.reports
        naming = reports.naming
        plan.limits.take(reports.limits)
        if naming.url != nil || naming.fault != nil { plan.name() }
        if let offset = reports.offset { plan.note(interimOffset: offset) }
        plan.proceed(after: UploadOutcome(end: end, sent: end.sentNothing ? 0 : reports.sent ?? .max))
        if plan.acknowledged > 0 { progress?.report(plan.acknowledged) }
        return exchange
    }

    /// Sends a request. An error with a response counts as that response, because interceptors make errors of statuses.
    private func outcome(of request: HTTPRequest) async -> (Exchange, UploadOutcome.End) {
        do {
            let response = try await client.send(request)
            return (.success(response), .answered(UploadAnswer(response.status, response.headerFields, kind)))
        } catch {
            if let response = (error as? any HTTPError)?.response, !response.context.isMadeLocally {
                return (.failure(error), .answered(UploadAnswer(response.status, response.headerFields, kind)))
            }
            let end = UploadOutcome.End.failed(
                isTemporary: error.isOrIsCausedBy(HTTPErrorCode.temporaryTransferFailures),
                sentNothing: (error as? any HTTPError)?.sentNothing ?? false
            )
            return (.failure(error), end)
        }
    }

    private func discard(_ exchange: Exchange) {
        if case .success(let response) = exchange { response.body.discard() }
    }

    private func wait(_ plan: UploadPlan, _ exchange: Exchange) async throws {
        let wait = TransferBackoff.wait(after: plan.attemptsWithoutProgress, random: resuming.time.random)
        // The next attempt would end before it began.
        if let left = request.context.remainingTime?(), left <= wait { throw error(.giveUp, exchange) }
        if wait > .zero { try await resuming.time.clock.sleep(for: wait) }
    }

    /// The response of a complete upload, or of the server's refusal.
    private func result(_ response: HTTPResponse, isComplete: Bool) async throws -> HTTPResponse {
        try await ResponseDecoding(decoder: client.decoder, method: request.method, url: request.url)
            .checkStatus(of: response, as: Data.self)
        if isComplete { progress?.report(requests.length) }
        return response
    }

    private func error(_ step: UploadStep, _ exchange: Exchange) -> any Error {
        discard(exchange)
        switch (step, exchange) {
        case (.giveUp, .failure(let error)): return error
        case (.fail(let fault), .success(let response)): return fault.error(of: request, response)
        case (.fail(let fault), .failure(let error)):
            return fault.error(of: request, (error as? any HTTPError)?.response)
        case (_, .success(let response)): return UploadFault.stalled.error(of: request, response)
        case (_, .failure(let error)): return error
        }
    }
}
