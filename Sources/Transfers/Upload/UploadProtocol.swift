internal import Foundation
internal import Interceptors
internal import InterceptorsSyntax

/// A protocol for uploads that continue.
enum UploadProtocol: String, Sendable, Codable {
    /// draft-ietf-httpbis-resumable-upload, interop version 8.
    case draft = "draft-8"
    /// tus 1.0.0 (tus.io).
    case tus = "tus-1.0"

    /// The field of each message that names the version. The draft's is in its Appendix "Draft Version Identification".
    var version: (name: HTTPField.Name, value: String) {
        switch self {
        case .draft: ("Upload-Draft-Interop-Version", "8")
        case .tus: ("Tus-Resumable", "1.0.0")
        }
    }

    /// The media type of a part.
    fileprivate var partType: String {
        self == .draft ? "application/partial-upload" : "application/offset+octet-stream"
    }

    /// Whether `Upload-Metadata` can hold a name.
    static func isMetadataName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ",") }
    }
}

extension HTTPField.Name {
    static let uploadOffset: Self = "Upload-Offset"
    static let uploadLength: Self = "Upload-Length"
    static let uploadComplete: Self = "Upload-Complete"
}

// The requests of an upload.
extension UploadRun {
    /// The request of a step.
    ///
    /// - Parameter url: the URL of the upload.
    /// - Throws: a `TransferError` if the step needs a URL, and the server hasn't named any.
    func request(for step: UploadStep, to url: URL?) throws -> HTTPRequest {
        if case .create(let part) = step { return try makingRequest(part) }
        guard let url else { throw UploadFault.unsupported.error(of: request, nil) }
        guard case .append(let part) = step else { return continuingRequest(.head, to: url) }
        var request = continuingRequest(.patch, to: url)
        request.body = try content(part)
        request.headers[.contentType] = kind.partType
        request.headers[.uploadOffset] = String(part.lowerBound)
        if kind == .draft { request.headers[.uploadComplete] = part.upperBound == length ? "?1" : "?0" }
        return request
    }

    func continuingRequest(_ method: HTTPRequest.Method, to url: URL) -> HTTPRequest {
        var request = request
        request.method = method
        request.body = .empty
        request.continueUpload(kind, from: Origin(self.request.url), to: url, client.redactions)
        return request
    }

    private func makingRequest(_ part: Range<Int64>) throws -> HTTPRequest {
        var request = request
        // The same body as of an upload without a protocol, so that a file stays a file.
        if part != 0..<length { request.body = try content(part) }
        var fields = request.headers
        fields[kind.version.name] = kind.version.value
        switch kind {
        case .draft where part.upperBound == length: fields[.uploadComplete] = "?1"
        case .draft:
            fields[.uploadComplete] = "?0"
            // These describe the content of one request.
            for name: HTTPField.Name in [.contentLength, "Content-Digest", "Content-MD5"] { fields.remove(name) }
        case .tus:
            fields.removeAll { $0.name.isAboutContent && $0.name != .expect }
            if !part.isEmpty { fields[.contentType] = kind.partType }
            let metadata = resuming.metadata.sorted { $0.key < $1.key }.map { name, value in
                value.isEmpty ? name : "\(name) \(Data(value.utf8).base64EncodedString())"
            }
            if !metadata.isEmpty { fields["Upload-Metadata"] = metadata.joined(separator: ",") }
        }
        fields[.uploadLength] = String(length)
        request.headers = fields
        return request
    }

    private func content(_ part: Range<Int64>) throws -> HTTPBody {
        if part.isEmpty { return .empty }
        guard let body = request.body.content(in: part) else { throw TransportError.notSeekable(request) }
        return body
    }
}

extension HTTPRequest {
    /// Makes this the request of a call that continues its upload. Its fields are then about neither the content nor the state of
    /// the target. No cache answers a question for the offset, and a server that refuses a part may have kept some of it.
    ///
    /// - Parameters:
    ///   - origin: the origin of the call's target.
    ///   - upload: the URL of the upload. Another origin gets no credentials.
    ///   - redactions: each decides which fields are credentials.
    mutating func continueUpload(
        _ kind: UploadProtocol,
        from origin: Origin?,
        to upload: URL,
        _ redactions: [Redaction]
    ) {
        url = upload
        let isElsewhere = origin != Origin(upload)
        headers.removeAll { field in
            field.name.isAboutContent || Self.onlyOfCreation.contains(field.name)
                || isElsewhere && redactions.contains { $0.isBoundToOrigin(field.name) }
        }
        headers[kind.version.name] = kind.version.value
        var shape = CallShape()
        (shape.mayStore, shape.mayCompress, shape.mayGetIdempotencyKey, shape.refusalMeansNothingKept) = (
            false, false, false, false
        )
        shape.mayResend = method == .head || method == .delete
        context.callShape = shape
    }

    private static let onlyOfCreation: Set<HTTPField.Name> = [
        .idempotencyKey, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .ifRange, .range, .host,
        "Upload-Metadata", "Upload-Concat", "Want-Repr-Digest",
    ]
}

extension TransportError {
    /// The error of an upload whose content can't be read from an offset. Nothing was sent.
    static func notSeekable(_ request: HTTPRequest) -> TransportError {
        let message = "A \(request.body) can't be read from any offset. Use bytes, a file or HTTPBody.seekable."
        return TransportError(.bodyNotReplayable, message, request: request)
    }
}
