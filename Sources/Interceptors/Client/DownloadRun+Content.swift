internal import Foundation
internal import HTTPSyntax
internal import Transport

extension DownloadRun {
    /// Saves the content of a response, off the caller's actor. Returns `false` if the next attempt has to ask in another way.
    @concurrent
    func use(
        _ response: HTTPResponse,
        for demand: RangeDemand?,
        _ part: DownloadPart,
        _ state: inout State
    ) async throws -> Bool {
        do {
            switch decision(response, to: demand, part, state) {
            case .append(let range):
                state.isComposed = true
                try part.cut(to: range.lowerBound)
                try await save(response, to: part, upTo: range.upperBound)
                return true
            case .replace(let representation):
                state.isComposed = false
                let kept = resumes ? representation : nil
                if let kept, kept.total > limit { throw tooLarge }
                // The announced digest is that of the whole, and the caller may have asked for a part.
                let announced = response.status == 200 ? response.headerFields.announcedDigest : nil
                try part.begin(kept, announced: announced)
                try await save(response, to: part, upTo: kept?.total)
                return true
            case .startOver:
                try part.clear()
            case .askForDecoded:
                // No part of coded content continues the bytes.
                try part.clear()
                state.codings = request.headerFields.contains(.acceptEncoding) ? .accepted : .decoded
            case .refuse(let code, let reason):
                throw DownloadError(code, reason, request: request)
            }
        } catch {
            response.body.discard()
            throw error
        }
        response.body.discard()
        return false
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
            codings: state.codings(of: demand),
            mayBePartial: !resumes
        )
        if case .append = decision, let digest = response.headerFields.announcedDigest, !part.announce(digest) {
            return .startOver(reason: "The server now announces another digest.")
        }
        return decision
    }

    /// Appends the content of a response to the part.
    ///
    /// - Parameter end: the number of bytes that the part must then have, if it is known.
    private func save(_ response: HTTPResponse, to part: DownloadPart, upTo end: Int64?) async throws {
        let total = part.total ?? (resumes ? nil : response.body.length)
        let elapsed = resuming.time.startMeasuring()
        var safe = (length: part.length, time: Duration.zero)
        do {
            try await response.body.forEachChunk { chunk in
                try Task.checkCancellation()
                let length = part.length + Int64(chunk.count)
                try check(length, upTo: end)
                try part.append(chunk)
                progress?(TransferProgress(completed: length, total: total))
                guard
                    length - safe.length >= resuming.checkpoint.bytes
                        || elapsed() - safe.time >= resuming.checkpoint.interval
                else { return }
                try await part.checkpoint()
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
            try? await part.checkpoint()
            throw error
        }
        try await part.checkpoint()
    }

    private func check(_ length: Int64, upTo end: Int64?) throws {
        guard length <= limit else { throw tooLarge }
        guard length <= end ?? .max else {
            throw DownloadError(.invalidRange, "The server sent more bytes than it announced.", request: request)
        }
    }

    private var tooLarge: TransportError {
        TransportError(.bodyTooLarge, "The body is longer than the limit of \(limit) bytes.", request: request)
    }

    /// Whether the whole part has the caller's digest, or else the announced one. `false` if a part of several responses has
    /// not, and was emptied: the server may have changed its content and kept the validator, so the whole is worth another
    /// attempt.
    @concurrent
    func isRight(_ part: DownloadPart, _ state: inout State) async throws -> Bool {
        guard let wanted = expected?.bytes ?? part.announced else { return true }
        let digest: [UInt8]
        do {
            digest = try await part.digest()
        } catch let error as DigestUnavailable {
            // An announced digest is an extra; for an expected one, `check()` has failed before.
            if expected == nil { return true }
            throw error
        }
        if wanted == digest { return true }
        guard state.isComposed, !state.hasStartedOver else {
            throw DownloadError(
                .digestMismatch,
                "The content for \(file.path) has the SHA-256 \(digest.hexadecimal), not \(wanted.hexadecimal). It was removed.",
                request: request
            )
        }
        state.hasStartedOver = true
        try part.clear()
        return false
    }
}
