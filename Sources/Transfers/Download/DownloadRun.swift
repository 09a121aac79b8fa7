internal import Foundation
internal import Interceptors
internal import InterceptorsSyntax

/// One call of a download: attempts, each through the whole chain, until the file is complete.
///
/// ``DownloadDecision`` says what a response is for, ``DownloadPart`` keeps the bytes, ``DownloadAttempts`` says what is progress, and
/// ``TransferPatience`` when to give up.
struct DownloadRun: Sendable {
    let client: Client
    let request: HTTPRequest
    let file: URL
    let resuming: DownloadResuming
    /// The expected digest of the file, in hexadecimal.
    let sha256: String?
    let limit: Int64
    let progress: (@Sendable (TransferProgress) -> Void)?
    private let call = CallNumber.next()

    /// The failures after which the bytes would also fail the next call.
    private static let spoilingFailures: Set<HTTPErrorCode> = [.digestMismatch, .invalidRange, .bodyTooLarge]

    /// The state of a call across attempts.
    struct State {
        /// Whether requests for the whole avoid codings (RFC 9110 §8.4). Those for a part always do: a range of coded content would
        /// count coded bytes.
        var avoidsCodings = true
        /// Whether the bytes come from more than one response.
        var isComposed: Bool
        var hasStartedOver = false
    }

    func run() async throws -> HTTPResponse {
        do {
            let (part, permissions) = try await prepare()
            do {
                let response = try await complete(part)
                try Task.checkCancellation()
                try await part.place(at: file, permissions: permissions)
                return response
            } catch let error as any HTTPError where Self.spoilingFailures.contains(error.code) {
                // If the bytes can't be removed, the next call finds them wrong again.
                try? await part.remove()
                throw error
            }
        } catch let failure as SystemCallFailure {
            throw failure.downloadError(of: request, to: file)
        }
    }

    /// Checks what can be checked before anything is sent, and opens the part. Returns the permissions of the file to replace, too.
    @concurrent
    private func prepare() async throws -> (DownloadPart, UInt16?) {
        if let sha256 {
            guard sha256.utf8.count == 64, sha256.utf8.allSatisfy({ ASCII.hexadecimalValue($0) != nil }) else {
                throw unsent(.invalidRequest, "The expected SHA-256 isn't 64 hexadecimal digits.")
            }
            do {
                _ = try MessageDigest.of([UInt8]())
            } catch {
                throw unsent(.unsupported, "The expected digest can't be checked here.", underlying: error)
            }
        }
        let ranges: [HTTPField.Name] = [.range, .ifRange]
        if let name = ranges.first(where: { request.headers.contains($0) }) {
            let message = "This download asks for missing bytes by \(name) itself. Leave the field out."
            throw unsent(.invalidRequest, message)
        }
        let permissions = try HTTPBody.permissions(ofFileToReplace: file).map { UInt16($0) }
        guard resuming.isAcrossLaunches else {
            return (try DownloadPart.temporary(for: file, permissions: permissions), permissions)
        }
        let protection = resuming.protection
        let part = try DownloadPart.kept(for: file, source: request.url, permissions: permissions, protection)
        return (part, permissions)
    }

    private func unsent(_ code: HTTPErrorCode, _ message: String, underlying: (any Error)? = nil) -> TransportError {
        TransportError(code, message, request: request, underlying: underlying)
    }
}

extension DownloadRun {
    /// Makes attempts until the part is whole and right. Returns the last response.
    private func complete(_ part: DownloadPart) async throws -> HTTPResponse {
        var attempts = DownloadAttempts(resuming, bytes: part.count, of: part.representation)
        var state = State(isComposed: part.count > 0)
        let elapsed = resuming.time.startMeasuring()
        while true {
            var isAnswered = false
            do {
                try Task.checkCancellation()
                let demand = part.demand
                let response = try await answer(to: demand, state)
                isAnswered = true
                guard try await use(response, for: demand, part, &state), part.isWhole else { continue }
                if try await isRight(part, &state) { return response }
            } catch {
                if error is CancellationError || Task.isCancelled { throw CancellationError() }
                guard error.isTemporaryTransferFailure else { throw error }
                let response = error.receivedResponse
                let failure: TransferPatience.Failure = isAnswered || response != nil ? .answered : .unanswered
                attempts.note(failure, after: part.count, of: part.representation, at: elapsed())
                let patience = attempts.patience
                let refusal = error.refusesForNow ? response : nil
                guard !patience.isOver, let wait = patience.wait(refusal, error.temporaryRefusal, resuming.time)
                else { throw error }
                // The next attempt would end before it began.
                if let left = request.context.deadline?.remaining, left <= wait { throw error }
                if wait > .zero { try await resuming.time.clock.sleep(for: wait) }
            }
        }
    }

    /// The response to a request for the part or for the whole. Its status is a success, or a 416 if it is for a part.
    private func answer(to demand: RangeDemand?, _ state: State) async throws -> HTTPResponse {
        var request = request
        request.context.callShape.call = call
        // The part on disk is the only copy, and its validator is the server's.
        request.context.callShape.mayStore = false
        request.context.downloadProgress = nil
        // Without the field, even the caller's, the transport asks for codings that it decodes.
        request.headers[.acceptEncoding] = demand != nil || state.avoidsCodings ? "identity" : nil
        demand?.add(to: &request.headers)
        let response: HTTPResponse
        do {
            response = try await client.send(request)
        } catch let error as any HTTPError where demand != nil && error.receivedResponse?.status == 416 {
            // `validateStatus` makes an error of every status that isn't a success.
            guard let response = error.receivedResponse else { throw error }
            return response
        }
        if demand != nil, response.status == 416 { return response }
        try await StatusError.check(response, to: self.request)
        return response
    }

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
            state.isComposed = true
            try part.cut(to: range.lowerBound)
            return (range.lowerBound, range.upperBound)
        case .replace(let representation):
            state.isComposed = false
            if let length = representation?.total ?? response.body.length, length > limit { throw tooLarge }
            try part.begin(representation)
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

    /// Whether the content has the expected digest, if there is one. Otherwise throws.
    ///
    /// If the bytes come from several responses, empties the part once and returns `false`: the server may have kept its
    /// validator for new content.
    func isRight(_ part: DownloadPart, _ state: inout State) async throws -> Bool {
        guard let sha256 else { return true }
        let digest = try await part.digest()
        if digest == sha256.lowercased() { return true }
        guard state.isComposed, !state.hasStartedOver else {
            let message =
                "The content for \(file.path) has the SHA-256 \(digest), not \(sha256.lowercased()). It was removed."
            throw TransferError(.digestMismatch, message, request: request)
        }
        state.hasStartedOver = true
        try part.clear()
        return false
    }
}

extension Error {
    /// Whether the server has answered that there are too many requests, or that it is overloaded (RFC 6585 §4, RFC 9110
    /// §15.6.4).
    fileprivate var refusesForNow: Bool { [429, 503].contains(receivedResponse?.status.code) }
}
