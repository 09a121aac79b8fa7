internal import Foundation
internal import Interceptors
internal import InterceptorsSyntax

/// One call of an upload: requests, each through the whole chain, until the server has the content.
///
/// ``UploadPlan`` says which request comes next, and ``UploadReports`` keeps what the server says meanwhile.
struct UploadRun: Sendable {
    let client: Client
    /// The request of the call, with the whole content.
    let request: HTTPRequest
    let resuming: UploadResuming
    /// The number of bytes of the whole content.
    let length: Int64
    /// The version of the content, if a later launch may continue.
    let version: String?
    /// The version of the file when the call began, if the content is a file.
    let file: FileVersion?
    let progress: UploadProgress?
    private let call = CallNumber.next()

    var kind: UploadProtocol { resuming.kind }

    /// The end of a request.
    private typealias Exchange = Result<HTTPResponse, any Error>

    /// The state of a call across requests.
    private struct State {
        var plan: UploadPlan
        var naming: UploadNaming
        /// The last response that names the offset.
        var question: HTTPResponse?
        /// The time since the call began.
        let elapsed: @Sendable () -> Duration
    }

    func run() async throws -> HTTPResponse {
        let unfinished = resuming.launches?.unfinished
        let (isRepeatable, isContinued) = (request.isRepeatable, unfinished != nil)
        let plan = UploadPlan(length: length, resuming: resuming, isRepeatable: isRepeatable, isContinued: isContinued)
        var state = State(plan: plan, naming: UploadNaming(unfinished?.url), elapsed: resuming.time.startMeasuring())
        while true {
            try Task.checkCancellation()
            let step = state.plan.step
            if case .create = step { state.naming = UploadNaming() }
            try await checkFile(before: step, state)
            let exchange = try await send(step, &state)
            guard state.plan.isOngoing else { return try await end(exchange, state) }
            guard let pause = pause(state.plan, exchange) else {
                state.plan.stop()
                return try await end(exchange, state)
            }
            exchange.discard()
            if pause > .zero { try await resuming.time.clock.sleep(for: pause) }
        }
    }

    /// The result of the call after its last request.
    private func end(_ exchange: Exchange, _ state: State) async throws -> HTTPResponse {
        switch state.plan.step {
        case .finish: return try await result(try exchange.get(), isComplete: true)
        case .finishWithOffset:
            exchange.discard()
            if let question = state.question { return try await result(question, isComplete: true) }
            throw UploadFault.stalled.error(of: request, exchange.response)
        case .fail(let fault):
            exchange.discard()
            await remove(after: fault, state)
            throw fault.error(of: request, exchange.response)
        case .giveUp, .create, .askForOffset, .append:
            let response = try exchange.get()
            guard response.status.kind == .successful else { return try await result(response, isComplete: false) }
            response.body.discard()
            throw UploadFault.stalled.error(of: request, response)
        }
    }

    /// Sends the request of a step, and takes over its outcome.
    private func send(_ step: UploadStep, _ state: inout State) async throws -> Exchange {
        let watch = UploadWatch(state.naming, save: save)
        var request = try request(for: step, to: state.naming.url)
        if case .create = step { request.context.callShape = watch.creationShape }
        request.context.callShape.call = call
        watch.observe(&request, from: step.part?.lowerBound ?? 0, kind, progress)
        let (exchange, end) = await outcome(of: request)
        // A cancelled upload keeps its bytes at the server.
        if case .failure(let error) = exchange, error is CancellationError || Task.isCancelled {
            throw CancellationError()
        }
        if case .create(let part) = step, case .answered(let answer) = end, case .success(let response) = exchange,
            answer.isSuccess, answer.namesUpload(kind, isWhole: state.plan.isLast(part))
        {
            watch.take(response.headers[values: .location], from: response.url ?? request.url, request.url)
        }
        let reports = watch.reports
        state.naming = reports.naming
        state.plan.limits.take(reports.limits)
        if reports.naming.url != nil || reports.naming.fault != nil { state.plan.name() }
        if let offset = reports.offset { state.plan.note(interimOffset: offset) }
        let sent = end.sentNothing ? 0 : reports.sent ?? .max
        state.plan.proceed(after: UploadOutcome(end: end, sent: sent), at: state.elapsed())
        if state.plan.isOngoing, state.plan.isNamed, let fault = reports.naming.fault { state.plan.fail(fault) }
        if state.plan.acknowledged > 0 { progress?.report(state.plan.acknowledged) }
        if case .askForOffset = step, case .success(let response) = exchange, response.status.kind == .successful {
            state.question = response
        }
        return exchange
    }

    /// Sends a request. An error with a response counts as that response, because interceptors make errors of statuses.
    private func outcome(of request: HTTPRequest) async -> (Exchange, UploadOutcome.End) {
        do {
            let response = try await client.send(request)
            return (.success(response), .answered(answer(response)))
        } catch {
            if let response = error.receivedResponse, !response.context.isMadeLocally {
                return (.failure(error), .answered(answer(response)))
            }
            let end = UploadOutcome.End.failed(
                isTemporary: error.isTemporaryTransferFailure,
                sentNothing: (error as? any HTTPError)?.sentNothing ?? false
            )
            return (.failure(error), end)
        }
    }

    private func answer(_ response: HTTPResponse) -> UploadAnswer {
        UploadAnswer(response.status, response.headers, kind)
    }
}

extension UploadRun {
    /// Hands the upload to a later launch, as soon as the server has named it.
    @Sendable
    private func save(_ url: URL) {
        guard let version, let launches = resuming.launches else { return }
        let target = UnfinishedUpload.Target(request)
        launches.save(UnfinishedUpload(url: url, length: length, kind: kind, version: version, target: target))
    }

    /// The wait before the next request; `nil` if the server asks for too long a wait, or the next attempt would end before it began.
    private func pause(_ plan: UploadPlan, _ exchange: Exchange) -> Duration? {
        guard plan.waits else { return .zero }
        let refusal: (any TemporaryRefusal)? =
            if case .failure(let error) = exchange { error.temporaryRefusal } else { nil }
        guard let wait = plan.patience.wait(exchange.response, refusal, resuming.time) else { return nil }
        if let left = request.context.deadline?.remaining, left <= wait { return nil }
        return wait
    }

    /// Fails the upload if the file isn't the one that the call began with: its parts would be of two versions.
    private func checkFile(before step: UploadStep, _ state: State) async throws {
        guard step.part != nil, await hasFileChanged() else { return }
        await remove(after: .contentChanged, state)
        throw UploadFault.contentChanged.error(of: request, nil)
    }

    private func hasFileChanged() async -> Bool {
        // A file that is gone fails when it is read.
        guard let file, let now = await request.body.fileVersion() else { return false }
        return file != now
    }

    /// Removes an upload that nobody can continue. The caller gets the fault whether the server removes the upload or not.
    private func remove(after fault: UploadFault, _ state: State) async {
        guard let url = state.naming.url, fault.endsUpload(isOwn: resuming.launches?.unfinished == nil) else { return }
        var request = continuingRequest(.delete, to: url)
        request.context.uploadProgress = nil
        request.context.callShape.call = call
        let response = try? await client.send(request)
        response?.body.discard()
    }

    /// The response of a complete upload, or of the server's refusal.
    private func result(_ response: HTTPResponse, isComplete: Bool) async throws -> HTTPResponse {
        try await StatusError.check(response, to: request)
        guard isComplete else { return response }
        if await hasFileChanged() {
            response.body.discard()
            throw UploadFault.contentChanged.error(of: request, response)
        }
        await progress?.finish()
        return response
    }
}

extension Result where Success == HTTPResponse, Failure == any Error {
    /// The response, also that of an error.
    fileprivate var response: HTTPResponse? {
        switch self {
        case .success(let response): response
        case .failure(let error): error.receivedResponse
        }
    }

    fileprivate func discard() { if case .success(let response) = self { response.body.discard() } }
}

extension HTTPRequest {
    /// Whether the request may be sent again although the server may have acted on it.
    fileprivate var isRepeatable: Bool {
        context.declaredIdempotency ?? (method.isIdempotent || headers.contains(.idempotencyKey))
    }
}
