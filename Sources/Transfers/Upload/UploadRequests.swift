internal import Foundation
internal import Interceptors

/// The requests of an upload, made from the request of the call.
struct UploadRequests: Sendable {
    /// The request of the call, with the whole content.
    let creation: HTTPRequest
    let kind: UploadProtocol
    let metadata: [String: String]
    let length: Int64
    /// Each decides which fields don't go to another origin.
    let redactions: [Redaction]

    /// The request of a step.
    ///
    /// - Parameter url: the URL of the upload.
    /// - Throws: a `TransferError` if the step needs a URL, and the server hasn't named any.
    func request(for step: UploadStep, to url: URL?, _ plan: UploadPlan) throws -> HTTPRequest {
        if case .create(let part) = step { return try makingRequest(part, isComplete: plan.isLast(part)) }
        guard let url else { throw UploadFault.unsupported.error(of: creation, nil) }
        var request = continuingRequest(.head, to: url)
        if case .append(let part) = step {
            request.method = .patch
            request.context.callShape = .continuingUpload(.patch)
            request.body = try content(part)
            kind.addPart(at: part.lowerBound, isLast: plan.isLast(part), to: &request.headerFields)
        }
        return request
    }

    /// The request that removes the upload from the server.
    func removal(of url: URL) -> HTTPRequest {
        var request = continuingRequest(.delete, to: url)
        request.context.uploadProgress = nil
        return request
    }

    private func continuingRequest(_ method: HTTPRequest.Method, to url: URL) -> HTTPRequest {
        var request = creation
        request.method = method
        request.url = url
        request.body = .empty
        request.headerFields = request.headerFields.continuing(from: Origin(creation.url), to: url, redactions)
        request.context.callShape = .continuingUpload(method)
        kind.addVersion(to: &request.headerFields)
        return request
    }

    private func makingRequest(_ part: Range<Int64>, isComplete: Bool) throws -> HTTPRequest {
        var request = creation
        // The same body as of an upload without a protocol, so that a file stays a file.
        if part != 0..<length { request.body = try content(part) }
        kind.addCreation(
            of: part,
            length: length,
            isComplete: isComplete,
            metadata: metadata,
            to: &request.headerFields
        )
        return request
    }

    private func content(_ part: Range<Int64>) throws -> HTTPBody {
        if part.isEmpty { return .empty }
        guard let body = creation.body.content(in: part) else { throw TransportError.notSeekable(creation) }
        return body
    }
}

extension TransportError {
    /// The error of an upload whose content can't be read from an offset. Nothing was sent.
    static func notSeekable(_ request: HTTPRequest) -> TransportError {
        TransportError(
            .bodyNotReplayable,
            "An upload that resumes reads its content from any offset, and a \(request.body) can't be read so. Use bytes, a file or HTTPBody.seekable.",
            request: request
        )
    }
}
