internal import Foundation
internal import HTTPSyntax
internal import Transport

/// One call of a download: attempts, each through the whole chain, until the file is complete.
///
/// ``DownloadDecision`` says what a response is for, ``DownloadPart`` keeps the bytes, and ``DownloadAttempts`` says when to give
/// up.
struct DownloadRun: Sendable {
    let client: Client
    let request: HTTPRequest
    let file: URL
    let resuming: DownloadResuming
    let expected: DownloadDigest?
    let limit: Int64
    let progress: (@Sendable (TransferProgress) -> Void)?

    /// The failures after which the rest may still come.
    private static let temporaryFailures: Set<HTTPErrorCode> = [
        .offline, .cannotFindHost, .cannotConnect, .connectionLost, .timedOut, .truncated,
    ]
    /// The failures after which the bytes would also fail the next call.
    private static let spoilingFailures: Set<HTTPErrorCode> = [.digestMismatch, .invalidRange, .bodyTooLarge]

    private var resumes: Bool { resuming.extent != .never }

    /// What a call remembers from attempt to attempt.
    private struct State {
        var forbidsCodings: Bool
        /// Whether the bytes come from more than one response.
        var isComposed: Bool
        var hasStartedOver = false
    }

    func run() async throws -> HTTPResponse {
        let permissions = try check()
        do {
            let part = try open()
            do {
                let response = try await complete(part)
                try await place(part, permissions)
                return response
            } catch let error as any HTTPError where Self.spoilingFailures.contains(error.code) {
                // If the bytes can't be removed, the next call finds them wrong again.
                try? part.remove()
                throw error
            }
        } catch let failure as SystemCallFailure {
            throw failure.downloadError(of: request)
        }
    }

    /// Checks what can be checked before anything is sent. Returns the permissions of the file to replace.
    private func check() throws -> UInt16? {
        if let expected {
            guard expected.bytes != nil else {
                throw unsent(.invalidRequest, "The expected digest is neither 32 bytes nor 64 hexadecimal digits.")
            }
            do {
                _ = try MessageDigest.of([UInt8]())
            } catch {
                throw unsent(.unsupported, "The expected digest can't be checked here.", underlying: error)
            }
        }
        let ranges: [HTTPField.Name] = [.range, .ifRange]
        if resumes, let name = ranges.first(where: { request.headerFields.contains($0) }) {
            throw unsent(.invalidRequest, "A download that resumes sets \(name) itself. Leave the field out.")
        }
        return try HTTPBody.permissions(ofFileToReplace: file).map { UInt16($0) }
    }

    private func open() throws -> DownloadPart {
        guard resuming.extent == .acrossLaunches else { return try DownloadPart.temporary(for: file) }
        guard let part = try DownloadPart.kept(for: file, source: request.url) else {
            throw DownloadError(
                .downloadInProgress,
                "Another download to \(file.path) is in progress. Wait for it, or download to another file.",
                request: request
            )
        }
        return part
    }

    private func unsent(_ code: HTTPErrorCode, _ message: String, underlying: (any Error)? = nil) -> TransportError {
        TransportError(code, message, request: request, underlying: underlying)
    }

    @concurrent
    private func place(_ part: DownloadPart, _ permissions: UInt16?) async throws {
        try Task.checkCancellation()
        try part.place(at: file, permissions: permissions)
    }
}

extension DownloadRun {
    /// Makes attempts until the part is whole and right. Returns the last response.
    private func complete(_ part: DownloadPart) async throws -> HTTPResponse {
        var attempts = DownloadAttempts(resuming, bytes: part.length)
        var state = State(forbidsCodings: resumes, isComposed: part.length > 0)
        while true {
            do {
                try Task.checkCancellation()
                guard let response = try await attempt(part, &state), part.isWhole else { continue }
                if try await isRight(part, &state) { return response }
            } catch {
                if error is CancellationError || Task.isCancelled { throw CancellationError() }
                guard resumes, error.isOrIsCausedBy(Self.temporaryFailures),
                    let wait = attempts.wait(after: part.length, random: resuming.time.random)
                else { throw error }
                if wait > .zero { try await resuming.time.clock.sleep(for: wait) }
            }
        }
    }

    /// Sends one request and saves its content. Returns `nil` if the next attempt has to ask in another way.
    private func attempt(_ part: DownloadPart, _ state: inout State) async throws -> HTTPResponse? {
        let demand = resumes ? part.demand : nil
        let response = try await answer(to: demand, forbidsCodings: state.forbidsCodings)
        do {
            switch decision(response, to: demand, part, state) {
            case .append(let range):
                state.isComposed = true
                try part.cut(to: range.lowerBound)
                try await save(response, to: part, upTo: range.upperBound)
            case .replace(let representation):
                state.isComposed = false
                let kept = resumes ? representation : nil
                if let kept, kept.total > limit { throw tooLarge }
                try part.begin(kept, announced: response.headerFields.announcedDigest)
                try await save(response, to: part, upTo: kept?.total)
            case .startOver:
                response.body.discard()
                try part.clear()
                return nil
            case .askForDecoded:
                response.body.discard()
                state.forbidsCodings = false
                return nil
            case .refuse(let reason):
                throw DownloadError(.invalidRange, reason, request: request)
            }
        } catch {
            response.body.discard()
            throw error
        }
        return response
    }

    private func decision(
        _ response: HTTPResponse,
        to demand: RangeDemand?,
        _ part: DownloadPart,
        _ state: State
    ) -> DownloadDecision {
        let decision = DownloadDecision(
            response,
            to: demand,
            forbidsCodings: state.forbidsCodings,
            mayBePartial: !resumes
        )
        if case .append = decision, let digest = response.headerFields.announcedDigest, !part.announce(digest) {
            return .startOver(reason: "The server now announces another digest.")
        }
        return decision
    }

    /// The response to a request for the part or for the whole. Its status is a success, or a 416 if it is for a part.
    private func answer(to demand: RangeDemand?, forbidsCodings: Bool) async throws -> HTTPResponse {
        var request = request
        if resumes {
            request.context.isForDownloadedPart = true
            request.context.downloadProgress = nil
            if forbidsCodings { request.headerFields[.acceptEncoding] = "identity" }
            demand?.add(to: &request.headerFields)
        }
        let (method, url) = (request.method, request.url)
        let response: HTTPResponse
        do {
            response = try await client.send(request)
        } catch let error as any HTTPError where demand != nil && error.response?.status == 416 {
            // `validateStatus` makes an error of every status that isn't a success.
            guard let response = error.response else { throw error }
            return response
        }
        if demand != nil, response.status == 416 { return response }
        try await ResponseDecoding(decoder: client.decoder, method: method, url: url)
            .checkStatus(of: response, as: Data.self)
        return response
    }
}

extension DownloadRun {
    /// Appends the content of a response to the part, off the caller's actor.
    ///
    /// - Parameter end: the number of bytes that the part must then have, if it is known.
    @concurrent
    private func save(_ response: HTTPResponse, to part: DownloadPart, upTo end: Int64?) async throws {
        let total = part.total ?? (resumes ? nil : response.body.length)
        let elapsed = resuming.time.startMeasuring()
        var safe = (length: part.length, time: Duration.zero)
        do {
            try await response.body.forEachChunk { chunk in
                try Task.checkCancellation()
                let length = part.length + Int64(chunk.count)
                guard length <= limit else { throw tooLarge }
                guard length <= end ?? .max else {
                    throw DownloadError(
                        .invalidRange,
                        "The server sent more bytes than it announced.",
                        request: request
                    )
                }
                try part.append(chunk)
                progress?(TransferProgress(completed: length, total: total))
                guard
                    length - safe.length >= resuming.checkpoint.bytes
                        || elapsed() - safe.time >= resuming.checkpoint.interval
                else { return }
                try part.checkpoint()
                safe = (length, elapsed())
            }
            if let end, part.length < end {
                throw TransportError(
                    .truncated,
                    "The content ended \(end - part.length) bytes too soon.",
                    request: request
                )
            }
        } catch {
            // That the next call can't keep these bytes matters less than the error that ended this one.
            try? part.checkpoint()
            throw error
        }
        try part.checkpoint()
    }

    private var tooLarge: TransportError {
        TransportError(.bodyTooLarge, "The body is longer than the limit of \(limit) bytes.", request: request)
    }

    /// Whether the whole part has the expected digest and the announced one. `false` if a part of several responses has not, and
    /// was emptied: the server may have changed its content and kept the validator, so the whole is worth another attempt.
    @concurrent
    private func isRight(_ part: DownloadPart, _ state: inout State) async throws -> Bool {
        let wanted = [expected?.bytes, part.announced].compactMap(\.self)
        guard !wanted.isEmpty else { return true }
        let digest: [UInt8]
        do {
            digest = try part.digest()
        } catch let error as DigestUnavailable {
            // An announced digest is an extra; for an expected one, `check()` has failed before.
            if expected == nil { return true }
            throw error
        }
        if wanted.allSatisfy({ $0 == digest }) { return true }
        guard state.isComposed, !state.hasStartedOver else {
            throw DownloadError(
                .digestMismatch,
                "The content for \(file.path) has the SHA-256 \(digest.hexadecimal), not \(wanted[0].hexadecimal). It was removed.",
                request: request
            )
        }
        state.hasStartedOver = true
        try part.clear()
        return false
    }
}
