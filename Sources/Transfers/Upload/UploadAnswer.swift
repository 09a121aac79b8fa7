internal import Foundation
internal import Interceptors
internal import InterceptorsSyntax

/// The facts about an upload in a response. A field with an invalid value counts as missing, as the draft says.
struct UploadAnswer: Sendable {
    let status: Int
    var offset: Int64?
    var isComplete: Bool?
    var length: Int64?
    var limits = UploadLimits()
    /// Whether the server says that it speaks the protocol in the version of the request.
    var hasVersion = false

    var isSuccess: Bool { 200..<300 ~= status }
}

extension UploadAnswer {
    /// - Parameters:
    ///   - status: the status of a response or an interim response.
    ///   - fields: its fields.
    ///   - kind: the protocol of the upload.
    init(_ status: HTTPResponse.Status, _ fields: HTTPFields, _ kind: UploadProtocol) {
        self.status = status.code
        offset = fields.uploadCount(.uploadOffset)
        length = fields.uploadCount(.uploadLength)
        hasVersion = fields[kind.version.name] == kind.version.value
        switch kind {
        case .draft:
            isComplete = ["?1": true, "?0": false][fields.uploadItem(.uploadComplete)]
            limits = UploadLimits(draft: fields)
        case .tus: limits.maxSize = fields.uploadCount("Tus-Max-Size")
        }
    }

    /// Whether the `Location` of a successful response to the creating request names the upload. In the response to a whole upload it
    /// may name what the server has made of the content.
    func namesUpload(_ kind: UploadProtocol, isWhole: Bool) -> Bool {
        kind == .tus || isComplete == false || isComplete == nil && !isWhole
    }
}

/// The limits of a server. `nil` for a limit that the server hasn't named.
struct UploadLimits: Sendable, Equatable {
    /// The maximum number of bytes of the whole content.
    var maxSize: Int64?
    /// The maximum number of bytes in one request.
    var maxAppendSize: Int64?
    /// The minimum number of bytes in one request, except in the last.
    var minAppendSize: Int64?

    init() {}

    private static let names = ["max-size", "min-size", "max-append-size", "min-append-size"]

    /// The limits in `Upload-Limit`, a Dictionary (RFC 9651 §3.2). A known name with a value of another type makes the whole field
    /// invalid. A comma in a string counts as the end of a member, because no server puts a known name behind one.
    init(draft fields: HTTPFields) {
        var found: [String: Int64] = [:]
        for member in fields[values: "Upload-Limit"].joined(separator: ",").split(separator: ",") {
            let name = member.prefix { $0 != "=" }.item
            guard Self.names.contains(name) else { continue }
            guard let value = member.drop(while: { $0 != "=" }).dropFirst().itemCount else { return }
            found[name] = value
        }
        maxSize = found["max-size"]
        // Without a byte in a request no upload would end.
        maxAppendSize = found["max-append-size"].flatMap { $0 > 0 ? $0 : nil }
        minAppendSize = found["min-append-size"]
    }

    /// Takes over the limits that a later response names.
    mutating func take(_ other: UploadLimits) {
        maxSize = other.maxSize ?? maxSize
        maxAppendSize = other.maxAppendSize ?? maxAppendSize
        minAppendSize = other.minAppendSize ?? minAppendSize
    }

    /// The part that begins at an offset.
    ///
    /// - Parameters:
    ///   - length: the number of bytes of the whole.
    ///   - most: the caller's own limit for a request, which gives way to the server's least size.
    func part(from offset: Int64, of length: Int64, upTo most: Int64) -> Range<Int64> {
        // Not empty, whatever the caller and the server say: empty requests would never end.
        let most = max(1, min(max(most, minAppendSize ?? 1), maxAppendSize ?? .max))
        return offset..<(length - offset > most ? offset + most : length)
    }
}

extension HTTPFields {
    /// The value of a field that is an Item. Several field lines aren't one Item.
    fileprivate func uploadItem(_ name: HTTPField.Name) -> String {
        let values = self[values: name]
        return values.count == 1 ? values[0].item : ""
    }

    fileprivate func uploadCount(_ name: HTTPField.Name) -> Int64? { uploadItem(name).itemCount }
}

extension StringProtocol {
    /// The value of an Item without its parameters (RFC 9651 §3.3).
    fileprivate var item: String { prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces) }

    /// The number of an Item, at most 15 digits (RFC 9651 §3.3.1); `nil` for a negative one and for any other value.
    fileprivate var itemCount: Int64? {
        let digits = item
        return digits.utf8.count <= 15 && digits.utf8.allSatisfy(ASCII.isDigit) ? Int64(digits) : nil
    }
}

/// A reason why an upload can't go on.
struct UploadFault: Sendable, Hashable {
    private let code: HTTPErrorCode
    private let message: String
    private let end: End

    /// Whether nobody can continue the upload after it, so that the server may remove the upload.
    private enum End {
        case none, always
        /// Only of an upload that this call has made: the URL of an earlier launch may be that of another upload by now.
        case ofOwn
    }

    private init(_ message: String, _ code: HTTPErrorCode = .invalidUploadResponse, end: End = .none) {
        (self.message, self.code, self.end) = (message, code, end)
    }

    /// - Parameter isOwn: whether this call has made the upload.
    func endsUpload(isOwn: Bool) -> Bool { end == .always || end == .ofOwn && isOwn }

    func error(of request: HTTPRequest, _ response: HTTPResponse?) -> TransferError {
        TransferError(code, message, request: request, response: response)
    }
}

extension UploadFault {
    static let offsetBeyondLength = Self("The server says that it has more bytes than the content has.", end: .always)
    static let offsetBeyondSent = Self("The server says that it has bytes that were never sent.", end: .always)
    static let offsetDecreased = Self(
        "The server says that it has fewer bytes than it has acknowledged before.",
        end: .always
    )
    static let offsetMissing = Self("The server's response has no Upload-Offset.")
    static let lengthChanged = Self(
        "The server names another length than that of the content. Begin the upload from the start.",
        end: .ofOwn
    )
    static let locationChanged = Self("The server has named two different URLs for one upload.", end: .always)
    static let locationInvalid = Self("The Location of the upload is missing, or not an http or https URL.")
    static let insecureLocation = Self("The Location of the upload leads from https to http.")
    static let completeTooEarly = Self(
        "The server says that the upload is complete, but it doesn't have the whole content.",
        end: .always
    )
    static let unsupported = Self(
        "The server doesn't speak this protocol of resumable uploads. Pass another `resuming:`.",
        .uploadUnsupported
    )
    static let tooLarge = Self("The content is larger than the server's limit.", .bodyTooLarge, end: .always)
    static let forgotten = Self(
        "The server doesn't know the upload any more. It may have completed it: look before you upload the content again.",
        .uploadForgotten
    )
    static let contentChanged = Self(
        "The file has changed during the upload, so the server may have parts of two versions. Upload it again when it is at rest.",
        .uploadContentChanged,
        end: .always
    )
    static let stalled = Self("The server accepts requests of the upload, but it takes no more bytes.", .uploadStalled)
}
