internal import Foundation
internal import Interceptors
internal import InterceptorsSyntax

extension DownloadRun {
    /// Saves the content of a response, off the caller's actor. Returns `false` if the next attempt must send a different request.
    @concurrent
    func use(
        _ response: HTTPResponse,
        for demand: RangeDemand?,
        _ part: DownloadPart,
        _ state: inout State
    ) async throws -> Bool {
        // No `defer`, which crashes the optimizer of Swift 6.3.
        do {
            if let place = try place(of: response, to: demand, part, &state) {
                try await save(response, to: part, from: place.start, upTo: place.end)
                return true
            }
        } catch {
            response.body.discard()
            throw error
        }
        response.body.discard()
        return false
    }

    /// Makes the part ready for the content of a response. Returns the place of the content: its offset, and the offset after its last
    /// byte, if known. Returns `nil` if the next attempt must send a different request.
    private func place(
        of response: HTTPResponse,
        to demand: RangeDemand?,
        _ part: DownloadPart,
        _ state: inout State
    ) throws -> (start: Int64, end: Int64?)? {
        switch DownloadDecision(response, to: demand, avoidsCodings: state.avoidsCodings) {
        case .append(let range):
            if let digest = response.headerFields.announcedDigest, !part.announce(digest) {
                try part.clear()
                return nil
            }
            state.isComposed = true
            try part.cut(to: range.lowerBound)
            return (range.lowerBound, range.upperBound)
        case .replace(let representation):
            state.isComposed = false
            if let length = representation?.total ?? response.body.length, length > limit { throw tooLarge }
            // A 203 is of content that was changed on the way.
            let announced = response.status == 200 ? response.headerFields.announcedDigest : nil
            try part.begin(representation, announced: announced)
            return (0, representation?.total)
        case .startOver:
            try part.clear()
        case .askForDecoded:
            // No part of coded content continues the bytes.
            try part.clear()
            state.avoidsCodings = false
        case .refuse(let code, let reason):
            throw TransferError(code, reason, request: request)
        }
        return nil
    }

    /// Writes the content of a response to the part.
    ///
    /// - Parameters:
    ///   - start: the offset of the content.
    ///   - end: the offset after its last byte, if it is known.
    private func save(_ response: HTTPResponse, to part: DownloadPart, from start: Int64, upTo end: Int64?) async throws
    {
        let total = part.total ?? response.body.length
        let elapsed = resuming.time.startMeasuring()
        var offset = start
        var safe = (offset: start, time: Duration.zero)
        do {
            try await response.body.forEachChunk { chunk in
                try Task.checkCancellation()
                try check(offset + Int64(chunk.count), upTo: end)
                try part.append(chunk)
                offset += Int64(chunk.count)
                progress?(TransferProgress(completed: part.count, total: total))
                guard
                    offset - safe.offset >= resuming.checkpoint.bytes
                        || elapsed() - safe.time >= resuming.checkpoint.interval
                else { return }
                try await part.checkpoint()
                safe = (offset, elapsed())
            }
            if let end, offset < end {
                throw TransportError(.truncated, "The content ended \(end - offset) bytes too soon.", request: request)
            }
        } catch {
            // The error that ended the attempt matters more than a failed checkpoint.
            try? await part.checkpoint()
            throw error
        }
        try await part.checkpoint()
        // The number of bytes in decoded content is known only at its end.
        if total == nil { progress?(TransferProgress(completed: part.count, total: part.count)) }
    }

    private func check(_ length: Int64, upTo end: Int64?) throws {
        guard length <= limit else { throw tooLarge }
        guard length <= end ?? .max else {
            throw TransferError(.invalidRange, "The server sent more bytes than it announced.", request: request)
        }
    }

    private var tooLarge: TransportError {
        TransportError(.bodyTooLarge, "The body is longer than the limit of \(limit) bytes.", request: request)
    }

    /// Whether the content has the expected digest, or else the announced one. Otherwise throws.
    ///
    /// If the bytes come from several responses, empties the part once and returns `false`: the server may have kept its
    /// validator for new content.
    func isRight(_ part: DownloadPart, _ state: inout State) async throws -> Bool {
        guard let wanted = expected ?? part.announced else { return true }
        let digest: DownloadDigest
        do {
            digest = try await part.digest()
        } catch let error as DigestUnavailable {
            // An announced digest is an extra; for an expected one, `check()` has failed before.
            if expected == nil { return true }
            throw error
        }
        if wanted == digest { return true }
        guard state.isComposed, !state.hasStartedOver else {
            throw TransferError(
                .digestMismatch,
                "The content for \(file.path) has the digest \(digest), not \(wanted.hexadecimal). It was removed.",
                request: request
            )
        }
        state.hasStartedOver = true
        try part.clear()
        return false
    }
}
