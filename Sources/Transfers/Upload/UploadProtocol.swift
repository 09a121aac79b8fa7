internal import Foundation
internal import Interceptors
internal import InterceptorsSyntax

/// A protocol for uploads that continue, as it appears in the fields of requests.
enum UploadProtocol: String, Sendable, Codable {
    /// draft-ietf-httpbis-resumable-upload, interop version 8.
    case draft = "draft-8"
    /// tus 1.0.0 (tus.io).
    case tus = "tus-1.0"

    /// The interop version of the draft (its Appendix "Draft Version Identification").
    static let interopVersion = "8"
    static let tusVersion = "1.0.0"

    /// The media type of a part.
    private var partType: String { self == .draft ? "application/partial-upload" : "application/offset+octet-stream" }

    /// Adds the field that each request needs.
    func addVersion(to fields: inout HTTPFields) {
        switch self {
        case .draft: fields[.uploadDraftInteropVersion] = Self.interopVersion
        case .tus: fields[.tusResumable] = Self.tusVersion
        }
    }

    /// Adds the fields of the request that makes an upload.
    ///
    /// - Parameters:
    ///   - part: the range of its content.
    ///   - length: the number of bytes of the whole.
    ///   - isComplete: whether the upload is complete with this request.
    ///   - metadata: the `Upload-Metadata` of tus.
    func addCreation(
        of part: Range<Int64>,
        length: Int64,
        isComplete: Bool,
        metadata: [String: String],
        to fields: inout HTTPFields
    ) {
        addVersion(to: &fields)
        fields[.uploadLength] = String(length)
        switch self {
        case .draft:
            fields[.uploadComplete] = isComplete ? "?1" : "?0"
            if !isComplete {
                // These describe the content of one request.
                fields.remove(.contentLength)
                fields.remove("Content-Digest")
                fields.remove("Content-MD5")
            }
        case .tus:
            fields.removeAll { $0.name.isAboutContent && $0.name != .expect }
            if !part.isEmpty { fields[.contentType] = partType }
            if !metadata.isEmpty { fields["Upload-Metadata"] = Self.text(of: metadata) }
        }
    }

    /// Adds the fields of a request that appends a part.
    ///
    /// - Parameters:
    ///   - offset: the number of bytes before the part.
    ///   - isLast: whether the upload is complete with the part.
    func addPart(at offset: Int64, isLast: Bool, to fields: inout HTTPFields) {
        addVersion(to: &fields)
        fields[.contentType] = partType
        fields[.uploadOffset] = String(offset)
        if self == .draft { fields[.uploadComplete] = isLast ? "?1" : "?0" }
    }

    /// Whether `Upload-Metadata` can hold a name.
    static func isMetadataName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ",") }
    }

    private static func text(of metadata: [String: String]) -> String {
        metadata.sorted { $0.key < $1.key }.map { name, value in
            value.isEmpty ? name : "\(name) \(Data(value.utf8).base64EncodedString())"
        }
        .joined(separator: ",")
    }
}

extension HTTPField.Name {
    static let uploadOffset: Self = "Upload-Offset"
    static let uploadLength: Self = "Upload-Length"
    static let uploadComplete: Self = "Upload-Complete"
    static let uploadLimit: Self = "Upload-Limit"
    static let uploadDraftInteropVersion: Self = "Upload-Draft-Interop-Version"
    static let tusResumable: Self = "Tus-Resumable"
}

extension HTTPFields {
    /// The fields of a call that also go with the requests that continue its upload: those about neither the content nor the state of
    /// the target.
    ///
    /// - Parameters:
    ///   - origin: the origin of the call's target.
    ///   - url: the URL of the upload. Another origin gets no credentials.
    ///   - redactions: each decides which fields are credentials.
    func continuing(from origin: Origin?, to url: URL, _ redactions: [Redaction]) -> HTTPFields {
        var fields = self
        fields.removeAll { $0.name.isAboutContent || Self.onlyOfCreation.contains($0.name) }
        if origin != Origin(url) {
            fields.removeAll { field in redactions.contains { $0.isBoundToOrigin(field.name) } }
        }
        return fields
    }

    private static let onlyOfCreation: Set<HTTPField.Name> = [
        .idempotencyKey, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .ifRange, .range, .host,
        "Upload-Metadata", "Upload-Concat", "Want-Repr-Digest",
    ]
}
