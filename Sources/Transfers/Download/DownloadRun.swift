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
    let expected: DownloadDigest?
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
        if let expected {
            guard expected.bytes != nil else {
                throw unsent(.invalidRequest, "The expected SHA-256 is neither 32 bytes nor 64 hexadecimal digits.")
            }
            do {
                _ = try MessageDigest.of([UInt8]())
            } catch {
                throw unsent(.unsupported, "The expected digest can't be checked here.", underlying: error)
            }
        }
        let ranges: [HTTPField.Name] = [.range, .ifRange]
        if let name = ranges.first(where: { request.headerFields.contains($0) }) {
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
                guard !patience.isOver,
                    let wait = patience.wait(
                        error.refusesForNow ? response : nil,
                        error.temporaryRefusal,
                        resuming.time
                    )
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
        request.headerFields[.acceptEncoding] = demand != nil || state.avoidsCodings ? "identity" : nil
        demand?.add(to: &request.headerFields)
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
}

extension Error {
    /// Whether the server has answered that there are too many requests, or that it is overloaded (RFC 6585 §4, RFC 9110
    /// §15.6.4).
    fileprivate var refusesForNow: Bool { [429, 503].contains(receivedResponse?.status.code) }
}
